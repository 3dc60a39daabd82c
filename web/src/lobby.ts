// The lobby's page: it only waits for the draw, and then shows the number.
import { by, go } from "./fan/page";
import { tellSale, watch } from "./fan/status";

const lobby = by("lobby"), began = performance.now(); // this clock may be wrong
const left = () => Number(lobby.dataset["wait"]) * 1000 - (performance.now() - began);

watch((d) => {
  if (String(d.epoch) !== lobby.dataset["epoch"] || d.state === "closed" || d.draw?.seed) { go(location.href); return; }
  tellSale(d);
  if (d.draw && d.draw.count !== null) by("closed").hidden = false;
}, () => Math.min(60000, Math.max(5000, left() / 3)) * (0.85 + 0.3 * Math.random()));
