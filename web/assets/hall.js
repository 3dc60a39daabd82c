// Draws a hall and what is free of it. What is free is a disc in its price's
// colour, what is in a cart a ring, what is gone a dot and what is chosen a
// square with a tick, so that no colour is needed to tell them apart.
"use strict";
window.hall = async (box, picks) => {
  const canvas = box.querySelector("canvas"), scroll = box.querySelector(".scroll"), tip = box.querySelector(".tip");
  const map = await (await fetch(box.dataset.map)).json();
  const seats = [], [left, top, wide, high] = map.box;
  let pos = 0, step = Infinity;
  for (const r of map.rows) {
    let x = 0, y = 0;
    for (let i = 0, n = r.general || r.numbers.length; i < n; i++, pos++) {
      if (r.general) continue;
      x += r.x[i]; y += r.y[i];
      if (i && r.x[i] | r.y[i]) step = Math.min(step, Math.hypot(r.x[i], r.y[i]));
      const number = r.numbers[i], tier = map.tiers[Array.isArray(r.tier) ? r.tier[i] : r.tier];
      seats.push({ pos, x, y, number, tier, section: map.sections[r.section], row: r.row || "", guid: r.guids ? r.guids[i] : (r.prefix || "") + number, wheelchair: !!r.accessible && r.accessible.includes(i) });
    }
  }
  if (step === Infinity) step = 260;
  const money = (amount) => map.currency + " " + (amount / 10 ** map.decimals).toFixed(map.decimals);
  const name = (s) => s.section + (s.row && ", row " + s.row) + ", " + s.number + (s.wheelchair ? ", wheelchair place" : "");
  let bits = null, zoom = 1, k = 1, cap = 15; // k: canvas pixels for each unit of the map
  const state = (s) => bits ? bits[s.pos >> 2] >> (s.pos & 3) * 2 & 3 : 2;
  const at = (s) => [(s.x - left) * k, (s.y - top) * k];

  const colour = (name) => getComputedStyle(box).getPropertyValue(name);
  // on is what can be read on a colour.
  const on = (paint) => {
    if (!paint) return colour("--ink");
    const g = canvas.getContext("2d");
    g.fillStyle = paint; // it reads back as #rrggbb
    const [r, gr, b] = [1, 3, 5].map((i) => parseInt(g.fillStyle.slice(i, i + 2), 16));
    return 0.3 * r + 0.6 * gr + 0.1 * b > 140 ? "#000" : "#fff";
  };
  const areas = (g) => {
    for (const a of map.areas || []) {
      g.save();
      g.translate((a.at[0] - left) * k, (a.at[1] - top) * k);
      g.rotate((a.turn || 0) * Math.PI / 180);
      g.beginPath();
      const [w, h] = a.size || [0, 0];
      if (a.shape === "rectangle") g.rect(0, 0, w * k, h * k);
      else if (a.shape === "polygon") for (let i = 0; i < (a.points || []).length; i += 2) g.lineTo(a.points[i] * k, a.points[i + 1] * k);
      else if (a.shape !== "text") g.ellipse(0, 0, w * k, (h || w) * k, 0, 0, 7);
      if (a.color) { g.fillStyle = a.color; g.fill(); }
      if (a.border) { g.strokeStyle = a.border; g.stroke(); }
      if (a.text) {
        g.font = Math.max(11, (a.text.size || 16 * map.scale) * k) + "px system-ui";
        g.textAlign = "center"; g.textBaseline = "middle";
        g.fillStyle = a.text.color || on(a.color);
        g.fillText(a.text.text, a.text.at[0] * k, a.text.at[1] * k);
      }
      g.restore();
    }
  };
  const draw = () => {
    const g = canvas.getContext("2d"), r = Math.min(cap, Math.max(1.2, step * k * 0.42)), free = new Map();
    const carts = new Path2D(), gone = new Path2D(), mine = new Path2D(), ticks = new Path2D();
    const disc = (path, x, y, r) => { path.moveTo(x + r, y); path.arc(x, y, r, 0, 7); };
    for (const s of seats) {
      const [x, y] = at(s), st = state(s);
      if (picks && picks(s)) {
        mine.rect(x - r * 1.1, y - r * 1.1, r * 2.2, r * 2.2);
        ticks.moveTo(x - r * 0.6, y); ticks.lineTo(x - r * 0.1, y + r * 0.5); ticks.lineTo(x + r * 0.7, y - r * 0.5);
      } else if (st === 0) {
        if (!free.has(s.tier)) free.set(s.tier, new Path2D());
        disc(free.get(s.tier), x, y, r);
      } else if (st === 1) disc(carts, x, y, r * 0.8);
      else disc(gone, x, y, r * 0.35);
    }
    g.clearRect(0, 0, canvas.width, canvas.height);
    areas(g);
    for (const [tier, path] of free) { g.fillStyle = tier.color || colour("--free"); g.fill(path); }
    g.lineWidth = Math.max(1, r * 0.35); g.strokeStyle = colour("--pending"); g.stroke(carts);
    g.fillStyle = colour("--soft"); g.fill(gone);
    g.fillStyle = colour("--go"); g.fill(mine);
    g.strokeStyle = colour("--on-go"); g.stroke(ticks);
  };
  const fit = () => {
    const css = scroll.clientWidth * zoom, dots = Math.min(devicePixelRatio || 1, 4000 / css);
    scroll.style.height = zoom > 1 ? scroll.clientWidth * high / wide + "px" : ""; // larger, the hall scrolls within
    canvas.style.width = 100 * zoom + "%";
    canvas.width = css * dots;
    canvas.height = css * high / wide * dots;
    k = canvas.width / wide;
    cap = 15 * dots;
    draw();
  };
  // enlarge keeps the point under the finger, or the middle, where it is.
  const enlarge = (times, px = scroll.clientWidth / 2, py = scroll.clientHeight / 2) => {
    const was = zoom;
    zoom = Math.min(8, Math.max(1, zoom * times));
    const x = scroll.scrollLeft + px, y = scroll.scrollTop + py;
    fit();
    scroll.scrollTo(x * zoom / was - px, y * zoom / was - py);
    for (const b of box.querySelectorAll("[data-zoom]")) b.disabled = b.dataset.zoom > 1 ? zoom >= 8 : zoom <= 1;
  };
  for (const b of box.querySelectorAll("[data-zoom]")) b.addEventListener("click", () => enlarge(b.dataset.zoom));

  const near = (e) => {
    const rect = canvas.getBoundingClientRect(), dots = canvas.width / rect.width;
    let best = null, far = (Math.max(12, step * k / dots) * dots) ** 2;
    for (const s of seats) {
      const [x, y] = at(s), d = (x - (e.clientX - rect.left) * dots) ** 2 + (y - (e.clientY - rect.top) * dots) ** 2;
      if (d < far) { far = d; best = s; }
    }
    return best;
  };
  const said = ["free", "in somebody’s cart", "gone"];
  canvas.addEventListener("pointermove", (e) => {
    const s = near(e);
    tip.textContent = s ? name(s) + ", " + money(s.tier.amount) + ": " + said[Math.min(2, state(s))] : "";
  });
  canvas.addEventListener("click", (e) => {
    const rect = scroll.getBoundingClientRect();
    // Seats too close for a finger: the first tap comes nearer.
    if (e.pointerType !== "mouse" && step * k * rect.width * zoom / canvas.width < 18) enlarge(4, e.clientX - rect.left, e.clientY - rect.top);
    else if (near(e)) box.dispatchEvent(new CustomEvent("seat", { detail: near(e) }));
  });

  // Once the whole is here only what has changed is asked for, by the cursor of
  // what we hold. Another replica may hold something else under that cursor: then
  // the whole is asked for again. What is older than ours says nothing new.
  const plan = box.dataset.map.match(/seatmap\.(\w+)\.json/)[1];
  let held = { cursor: "", state: "", version: 0 }, tag = "";
  const look = async () => {
    const res = await fetch(box.dataset.free + (held.cursor && "?since=" + held.cursor), tag ? { headers: { "If-None-Match": tag } } : {});
    if (res.status !== 200) return;
    const d = await res.json();
    tag = res.headers.get("ETag") || "";
    if (d.plan !== plan || d.version < held.version) return;
    if (d.changes && d.since !== held.state) { held.cursor = tag = ""; return; }
    if (d.cursor !== held.cursor) tag = ""; // another address has another
    held = d;
    if (!d.changes) bits = Uint8Array.from(atob(d.bitmap), (c) => c.charCodeAt(0));
    else {
      const now = [d.changes.free, d.changes.pending, d.changes.gone];
      if (!now.some((some) => some.length)) return;
      now.forEach((some, is) => some.forEach((pos) => { bits[pos >> 2] = bits[pos >> 2] & ~(3 << (pos & 3) * 2) | is << (pos & 3) * 2; }));
    }
    draw();
    canvas.drawn = true;
    box.dispatchEvent(new CustomEvent("free"));
  };
  const hall = { seats, state, name, money, draw };
  fit();
  await look();
  // Where it is out of sight nobody is asked.
  const loop = () => setTimeout(async () => {
    if (!document.hidden && (picks || box.getBoundingClientRect().top < innerHeight)) await look().catch(() => { /* the next may arrive */ });
    loop();
  }, 2000 * (0.9 + 0.2 * Math.random()));
  loop();
  new ResizeObserver(fit).observe(scroll);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  return hall;
};
