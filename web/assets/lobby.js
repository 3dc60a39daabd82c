// The lobby's page: it only waits for the draw, and then shows the number.
"use strict";
(() => {
  const lobby = document.getElementById("lobby");
  if (!lobby) return;
  const { say } = window, began = performance.now(); // this clock may be wrong
  window.nextPoll = () => Math.min(60000, Math.max(5000, (lobby.dataset.wait * 1000 - (performance.now() - began)) / 3)) * (0.85 + 0.3 * Math.random());
  document.addEventListener("status", ({ detail: d }) => {
    if (String(d.epoch) !== lobby.dataset.epoch || d.state === "closed" || (d.draw && d.draw.seed)) { window.go(location.href); return; }
    const sale = document.getElementById("sale");
    sale.textContent = say.plain(d) ? "" : say.sale(d);
    sale.hidden = !sale.textContent;
    if (d.draw && d.draw.count !== null) document.getElementById("closed").hidden = false;
  });
})();
