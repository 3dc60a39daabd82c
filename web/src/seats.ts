// The seat picker: a map beside the list. What is chosen is ticked in the list; of a
// large hall the list has only the sections that were opened, and what is chosen beside
// them stands by itself.
import { can, is } from "./fan/free";
import { openHall, type Hall } from "./fan/hall";
import { by, go, read } from "./fan/page";
import type { Seat } from "./fan/seatmap";
import { say } from "./fan/words";

const form = by<HTMLFormElement>("pick"), out = by("chosen"), back = by("back");
const at = form.dataset["at"]!, quota = Number(form.dataset["quota"]), box = form.querySelector<HTMLElement>(".hall");
const general = [...form.querySelectorAll<HTMLInputElement>("input[type=number]")];
const boxes = () => [...form.querySelectorAll<HTMLInputElement>("input[name=seat]")];
const chosen = new Set(boxes().filter((b) => b.checked).map((b) => b.value));
let hall: Hall | null = null, names = new Map<string, Seat>();

function count(note = ""): void {
  const picked = [...chosen], parts = picked.map((guid) => { const s = names.get(guid); return hall && s ? hall.name(s) : guid; });
  let sum = picked.reduce((sum, guid) => sum + (names.get(guid)?.tier.amount ?? NaN), 0);
  for (const q of general) {
    if (!(Number(q.value) > 0)) continue;
    parts.push(q.value + " × " + q.name.slice(q.name.indexOf(":") + 1));
    sum += Number(q.value) * Number(q.dataset["price"]);
  }
  const tiers = general.filter((q) => Number(q.value) > 0).length;
  if (tiers && picked.length || tiers > 1) { // the claim is refused: no sum of what cannot be had at once
    out.textContent = (note && note + " ") + say(picked.length ? "seats.one_of_two" : "seats.one_tier");
    return;
  }
  const text = parts.join("; ");
  out.textContent = (note && note + " ") + (text ? text + (hall && sum ? " – " + hall.money(sum) : "") : say("seats.none_chosen"));
}

// offer is a box for a seat that the list does not have.
function offer(place: HTMLElement, guid: string, text: string): HTMLInputElement {
  const label = document.createElement("label"), b = document.createElement("input");
  b.type = "checkbox"; b.name = "seat"; b.value = guid;
  label.append(b, text);
  place.append(label);
  place.hidden = false;
  return b;
}

function group(id: string, legend: string): HTMLElement {
  const there = document.getElementById(id);
  if (there) return there;
  const g = document.createElement("fieldset"), says = document.createElement("legend");
  g.id = id; g.className = "seats near"; g.hidden = true;
  says.textContent = legend;
  g.append(says);
  form.querySelector(".sticky")!.before(g);
  return g;
}

function choose(guid: string, on: boolean): void {
  const same = boxes().filter((b) => b.value === guid);
  if (on && !chosen.has(guid) && chosen.size >= quota) {
    for (const b of same) b.checked = false;
    count(say("seats.at_most", { n: quota }));
    return;
  }
  if (on) chosen.add(guid); else chosen.delete(guid);
  for (const b of same) b.checked = on;
  const s = names.get(guid);
  if (on && !same.length && s && hall) offer(group("picked", say("hall.mine")), guid, hall.name(s)).checked = true;
  count();
  hall?.draw();
}
form.addEventListener("change", ({ target }) => {
  const b = target as HTMLInputElement;
  if (b.name === "seat") choose(b.value, b.checked); else count();
});
count();

// A section of a large hall is fetched when it is opened; the map goes there.
form.addEventListener("toggle", async ({ target }) => {
  if (!(target instanceof HTMLDetailsElement) || !target.open) return;
  if (hall && target.parentElement === form) hall.show(hall.seats.filter((s) => s.section === target.querySelector("b")!.textContent));
  const more = target.dataset["more"];
  if (!more) return;
  delete target.dataset["more"];
  const page = await read(at + "/seats?section=" + encodeURIComponent(more));
  const rows = page?.querySelectorAll("#pick > details[open] > details");
  if (!rows?.length) { target.dataset["more"] = more; return; } // the link in it leads there
  target.querySelector("p")!.replaceWith(...rows);
  for (const b of target.querySelectorAll<HTMLInputElement>("input[name=seat]")) b.checked = chosen.has(b.value);
  if (hall) free(hall);
}, true);

// A sign of life while choosing: without one the place inside goes to others. The first
// at once: who closes the page within seconds would otherwise look like a buyer for
// minutes.
async function alive(): Promise<void> {
  if (document.hidden) return;
  const res = await fetch(at + "/alive", { method: "POST" }).catch(() => null);
  if (res?.status === 401) setTimeout(() => go(at + "/place"), 1500);
}
void alive();
setInterval(alive, 8000);

// What came back since the list was written gets a box of its own; what is chosen and
// goes is told, and what is free beside it is offered.
const whole = !form.querySelector("[data-more]");
function free(hall: Hall): void {
  const listed = new Set(boxes().map((b) => b.value)), gone: string[] = [];
  for (const guid of [...chosen]) {
    const s = names.get(guid);
    if (!s || can(hall.state(s))) continue;
    gone.push(say("seats.has_gone", { name: hall.name(s) }));
    chosen.delete(guid);
    for (const o of hall.nearest(s, 3)) {
      if (!document.querySelector(`#near input[value="${CSS.escape(o.guid)}"]`)) offer(group("near", say("seats.near")), o.guid, hall.name(o) + " " + hall.money(o.tier.amount));
    }
  }
  if (whole) {
    for (const s of hall.seats) {
      if (hall.state(s) !== is.free || listed.has(s.guid) || back.childElementCount > 100) continue;
      offer(back, s.guid, hall.name(s));
      const none = document.getElementById("none");
      if (none) none.hidden = true;
    }
  }
  for (const b of boxes()) {
    const s = names.get(b.value);
    b.disabled = !!s && !can(hall.state(s));
    b.checked = chosen.has(b.value);
  }
  if (gone.length) { count(gone.join(" ")); hall.draw(); }
}

if (box) {
  openHall(box, {
    mine: (s) => chosen.has(s.guid),
    chose(s) {
      if (chosen.has(s.guid)) choose(s.guid, false);
      else if (hall && can(hall.state(s))) choose(s.guid, true);
    },
    free() { if (hall) free(hall); },
  }).then((h) => {
    hall = h;
    names = new Map(h.seats.map((s) => [s.guid, s]));
    count();
    h.draw();
    free(h);
  }).catch(() => { box.hidden = true; }); // the list does without
}
