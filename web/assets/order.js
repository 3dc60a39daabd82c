// An unpaid order's page looks again by itself: often while the provider's word
// is awaited, seldom before.
"use strict";
(() => {
  const order = document.getElementById("order"), say = document.getElementById("say");
  if (order.dataset.status !== "pending") return;
  const again = document.getElementById("again");
  let wait = again ? 1500 : 10000, timer = 0;
  const look = async () => {
    clearTimeout(timer);
    if (!document.hidden) {
      const res = await fetch(location.href).catch(() => null);
      if (res && res.ok) {
        const page = new DOMParser().parseFromString(await res.text(), "text/html").getElementById("order");
        if (page && page.dataset.status !== order.dataset.status) { window.go(location.pathname); return; }
      }
    }
    wait = Math.min(10000, wait * 1.3);
    timer = setTimeout(look, wait * (0.9 + 0.2 * Math.random()));
  };
  timer = setTimeout(look, wait);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
  order.addEventListener("over", () => { wait = 1000; timer = setTimeout(look, 1000); });
  // Two minutes before the end it is shown, and one before it is said.
  const left = order.querySelector("[data-left]").dataset.left, warn = document.getElementById("warn");
  setTimeout(() => { warn.hidden = false; }, Math.max(0, left - 120) * 1000);
  if (left > 60) setTimeout(() => { say.textContent = window.say.say("order.minute"); }, (left - 60) * 1000);
})();
