// At the door: who came first goes in first, and the page goes on asking.
import { by, parsed } from "./page";
import { tell } from "./speech";
import { say } from "./words";

// stands is what the answer's page says: of the lane, and in how many milliseconds the
// place is to come again. That is soon: whoever is first holds up all behind while away.
// null: it goes in no more, as one that is over, or was left elsewhere.
function stands(page: string): number | null {
  const there = parsed(page), lane = there.getElementById("late"), view = there.getElementById("place")?.dataset["view"];
  if (lane) by("late").hidden = lane.hidden;
  if (view !== "called" && view !== "waiting") return null;
  const again = there.getElementById("door")?.dataset["again"];
  return again ? 1000 * Number(again) : 500 + 500 * Math.random();
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
      const next = res?.ok ? stands(await res.text()) : 2000 + 3000 * Math.random();
      if (next === null) { location.replace(at + "/place"); return; }
      by("door").textContent = say("place.at_door_auto");
      tell(say("place.at_door_short"));
      await new Promise((r) => setTimeout(r, next));
      if (tries > 30 && document.hidden) break; // nobody looks: let others in
    }
    button.disabled = false;
    by("door").textContent = say("place.still_there");
  });
}
