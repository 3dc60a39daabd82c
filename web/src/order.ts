// An unpaid order's page looks again by itself: often while the provider's word is
// awaited, seldom before.
import { by, go, read } from "./fan/page";
import { say } from "./fan/words";

const order = by("order");

function lookAgain(): void {
  let wait = document.getElementById("again") ? 1500 : 10000, timer = 0;
  const look = async () => {
    clearTimeout(timer);
    if (!document.hidden) {
      const now = (await read(location.href))?.getElementById("order");
      if (now && now.dataset["status"] !== order.dataset["status"]) { go(location.pathname); return; }
    }
    wait = Math.min(10000, wait * 1.3);
    timer = setTimeout(look, wait * (0.9 + 0.2 * Math.random()));
  };
  timer = setTimeout(look, wait);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) void look(); });
  order.addEventListener("over", () => { wait = 1000; timer = setTimeout(look, 1000); });
}

// Two minutes before the end it is shown, and one before it is said.
function warn(): void {
  const left = Number(order.querySelector<HTMLElement>("[data-left]")!.dataset["left"]);
  setTimeout(() => { by("warn").hidden = false; }, Math.max(0, left - 120) * 1000);
  if (left > 60) setTimeout(() => { by("say").textContent = say("order.minute"); }, (left - 60) * 1000);
}

if (order.dataset["status"] === "pending") {
  lookAgain();
  warn();
}
