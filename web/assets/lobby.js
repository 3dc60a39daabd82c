// The lobby's page: it only waits for the draw, and then shows the number.
"use strict";
(() => {
  const lobby = document.getElementById("lobby");
  if (!lobby) return;
  const closes = Date.parse(lobby.dataset.closes);
  window.nextPoll = () => Math.min(60000, Math.max(5000, (closes - Date.now()) / 3)) * (0.85 + 0.3 * Math.random());
  document.addEventListener("status", ({ detail: d }) => {
    if (String(d.epoch) !== lobby.dataset.epoch || d.state === "closed" || (d.draw && d.draw.seed)) { window.go(location.href); return; }
    const sale = document.getElementById("sale");
    sale.textContent = window.say.plain(d) ? "" : window.say.sale(d);
    sale.hidden = !sale.textContent;
    if (d.draw && d.draw.count !== null) document.getElementById("closed").hidden = false;
  });
})();
