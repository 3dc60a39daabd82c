// How long the seats are still held.
"use strict";
(() => {
  const by = document.getElementById("payby"), left = document.getElementById("left");
  if (!by || !left) return;
  const end = new Date(by.dateTime).getTime();
  const tick = () => {
    const s = Math.round((end - Date.now()) / 1000);
    left.textContent = s > 0 ? " (" + Math.floor(s / 60) + ":" + String(s % 60).padStart(2, "0") + ")" : " (over)";
  };
  tick();
  setInterval(tick, 1000);
})();
