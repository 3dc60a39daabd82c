// The event's page, true by the second: what the sale is doing, and the hall as
// it sells.
"use strict";
(() => {
  const sale = document.getElementById("sale"), live = document.getElementById("live"), opens = document.getElementById("opens"), join = document.getElementById("join");
  const tone = (d) => window.say.early(d) ? "soon" : { open: "open", closed: "over" }[d.state] || "paused";
  document.addEventListener("status", ({ detail: d }) => {
    if (opens) opens.hidden = !window.say.early(d);
    if (join) join.hidden = d.state === "closed";
    sale.textContent = window.say.sale(d);
    sale.className = "badge " + tone(d);
  });
  // A page that is left open asks less often.
  const began = Date.now();
  window.nextPoll = () => (Date.now() - began < 600000 ? 2000 : 10000) * (0.9 + 0.2 * Math.random());
  const box = live && live.querySelector("[data-map]");
  if (box) window.hall(box).catch(() => { live.hidden = true; }); // the figures do without
})();
