// The seat picker: a map beside the list. The list is the whole truth of the
// form; a click on the map ticks its box.
"use strict";
(() => {
  const form = document.getElementById("pick"), map = document.getElementById("map"), out = document.getElementById("chosen");
  const quota = Number(form.dataset.quota);
  const boxes = new Map([...form.querySelectorAll("input[name=seat]")].map((b) => [Number(b.dataset.pos), b]));
  let seats = [], bits = null, box = [0, 0, 1, 1];

  const chosen = () => [...boxes.values()].filter((b) => b.checked);
  const count = () => { out.textContent = chosen().length ? chosen().length + " chosen: " + chosen().map((b) => b.value).join(", ") : "None chosen yet"; };
  form.addEventListener("change", (e) => {
    if (e.target.name === "seat" && e.target.checked && chosen().length > quota) e.target.checked = false;
    count(); draw();
  });
  // A sign of life while choosing: without one the place inside goes to others.
  const alive = () => { if (!document.hidden) fetch("/e/" + form.dataset.event + "/alive", { method: "POST" }).catch(() => {}); };
  setInterval(alive, 8000);

  const state = (pos) => (bits ? (bits[pos >> 2] >> ((pos & 3) * 2)) & 3 : 2);
  const scale = () => Math.min(map.width / box[2], map.height / box[3]);
  const at = (s) => [(s.x - box[0]) * scale(), (s.y - box[1]) * scale()];
  const draw = () => {
    if (!seats.length) return;
    const g = map.getContext("2d"), css = getComputedStyle(document.documentElement), r = Math.max(3, 90 * scale());
    g.clearRect(0, 0, map.width, map.height);
    for (const s of seats) {
      const [x, y] = at(s), b = boxes.get(s.pos), st = state(s.pos);
      g.beginPath(); g.arc(x, y, b && b.checked ? r * 1.25 : r, 0, 7);
      if (b && b.checked) { g.fillStyle = css.getPropertyValue("--go"); g.fill(); }
      else if (st === 0) { g.fillStyle = css.getPropertyValue("--free"); g.fill(); }
      else if (st === 1) { g.strokeStyle = css.getPropertyValue("--pending"); g.lineWidth = 2; g.stroke(); }
      else { g.fillStyle = css.getPropertyValue("--line"); g.fill(); }
    }
  };
  map.addEventListener("click", (e) => {
    const rect = map.getBoundingClientRect(), k = map.width / rect.width;
    const px = (e.clientX - rect.left) * k, py = (e.clientY - rect.top) * k;
    let best = null, far = 30 * 30;
    for (const s of seats) { const [x, y] = at(s), d = (x - px) ** 2 + (y - py) ** 2; if (d < far) { far = d; best = s; } }
    const b = best && boxes.get(best.pos);
    if (b && state(best.pos) === 0) { b.click(); }
  });
  const free = async () => {
    const res = await fetch(map.dataset.free); if (!res.ok) return;
    const raw = atob((await res.json()).bitmap);
    bits = Uint8Array.from(raw, (c) => c.charCodeAt(0));
    for (const [pos, b] of boxes) { b.disabled = state(pos) !== 0 && !b.checked; }
    draw();
  };
  (async () => {
    try {
      const m = await (await fetch(map.dataset.map)).json();
      box = m.box; let pos = 0;
      for (const row of m.rows) {
        let x = 0, y = 0;
        if (row.general) { pos += row.general; continue; }
        row.x.forEach((dx, i) => { x += dx; y += row.y[i]; seats.push({ pos: pos++, x, y }); });
      }
      map.hidden = seats.length === 0;
      await free();
      setInterval(() => { if (!document.hidden) free().catch(() => {}); }, 2000);
    } catch { /* the list does without */ }
    count();
  })();
})();
