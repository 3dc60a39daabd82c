// At the door: who came first goes in first, and the page goes on asking.
import { by, parsed } from "./page";
import { tell } from "./speech";
import { say } from "./words";

// stands is what the answer's page says: of the lane, and whether there is still a
// place that goes in. One that is over, or was left elsewhere, does not.
function stands(page: string): boolean {
  const there = parsed(page), lane = there.getElementById("late"), view = there.getElementById("place")?.dataset["view"];
  if (lane) by("late").hidden = lane.hidden;
  return view === "called" || view === "waiting";
}

export function door(at: string): void {
  const form = by("turn").querySelector("form")!, button = form.querySelector("button")!;
  form.addEventListener("submit", async (e) => {
    e.preventDefault();
    button.disabled = true;
    for (let tries = 0; ; tries++) {
      const res = await fetch(form.action, { method: "POST", redirect: "manual" }).catch(() => null);
      if (res?.type === "opaqueredirect") { location.assign(at + "/seats"); return; }
      if (res?.status === 403) { form.submit(); return; } // something is asked for first: its page says what
      if (res?.ok && !stands(await res.text())) { location.replace(at + "/place"); return; }
      by("door").textContent = say("place.at_door_auto");
      tell(say("place.at_door_short"));
      await new Promise((r) => setTimeout(r, res?.ok ? 500 + 500 * Math.random() : 2000 + 3000 * Math.random()));
      if (tries > 30 && document.hidden) break; // nobody looks: let others in
    }
    button.disabled = false;
    by("door").textContent = say("place.still_there");
  });
}
