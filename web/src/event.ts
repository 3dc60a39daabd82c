// The event's page, true by the second: what the sale is doing, and the hall as it
// sells.
import { openHall } from "./fan/hall";
import { by } from "./fan/page";
import { early, sale, watch, type Status } from "./fan/status";

const badge = by("sale"), live = document.getElementById("live"), opens = document.getElementById("opens"), join = document.getElementById("join");
const tone = (d: Status) => early(d) ? "soon" : d.state === "open" ? "open" : d.state === "closed" ? "over" : "paused";

// A page that is left open asks less often.
const began = Date.now();
watch((d) => {
  if (opens) opens.hidden = !early(d);
  if (join) join.hidden = d.state === "closed";
  badge.textContent = sale(d);
  badge.className = "badge " + tone(d);
}, () => (Date.now() - began < 600000 ? 2000 : 10000) * (0.9 + 0.2 * Math.random()));

const box = live?.querySelector<HTMLElement>(".hall");
if (box) openHall(box, {}).catch(() => { live!.hidden = true; }); // the figures do without
