// Times in the reader's own clock, and counts of the seconds that are left.
"use strict";
(() => {
  // go leads on by itself, but never over what the reader has just sent.
  let sent = 0;
  document.addEventListener("submit", () => { sent = Date.now(); });
  addEventListener("pageshow", () => { sent = 0; });
  window.go = (to) => {
    if (Date.now() - sent > 15000) location.replace(to);
    else setTimeout(() => window.go(to), 1000);
  };

  const show = (t) => new Intl.DateTimeFormat("en-GB", "day" in t.dataset
    ? { dateStyle: "long", timeStyle: "short" } : { timeStyle: "short" }).format(new Date(t.dateTime));
  for (const t of document.querySelectorAll("time")) t.textContent = show(t);

  // The server says how many seconds there are: this clock may be wrong, but it
  // runs at the right pace.
  const two = (n) => String(n).padStart(2, "0");
  const count = (s) => s >= 86400 ? Math.floor(s / 86400) + " d " + Math.floor(s / 3600) % 24 + " h"
    : (s >= 3600 ? Math.floor(s / 3600) + ":" + two(Math.floor(s / 60) % 60) : Math.floor(s / 60)) + ":" + two(s % 60);
  const began = performance.now(), counts = [...document.querySelectorAll("[data-left]")];
  const tick = () => {
    for (const el of counts) {
      const left = Math.max(0, Math.round(el.dataset.left - (performance.now() - began) / 1000));
      el.textContent = " (" + count(left) + " left)";
      if (left > 0 || el.over) continue;
      el.over = true;
      el.dispatchEvent(new CustomEvent("over", { bubbles: true }));
      if (el.dataset.then) setTimeout(() => window.go(el.dataset.then), 1000);
    }
  };
  if (!counts.length) return;
  tick();
  setInterval(tick, 1000);
})();
