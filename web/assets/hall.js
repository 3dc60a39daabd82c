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
  const { say, locale } = window.say;
  const price = new Intl.NumberFormat(locale, { style: "currency", currency: map.currency, currencyDisplay: "code", minimumFractionDigits: map.decimals, maximumFractionDigits: map.decimals });
  const money = (amount) => price.format(amount / 10 ** map.decimals).replaceAll("\u00a0", " ");
  const name = (s) => {
    const text = say(s.row ? "seats.name_row_seat" : "seats.name_seat", { section: s.section, row: s.row, seat: s.number });
    return s.wheelchair ? say("hall.wheelchair", { name: text }) : text;
  };
  // The canvas is as large as the window on the hall, however large the hall is in
  // it: what lies outside is not drawn. room is what is scrolled.
  const room = document.createElement("div");
  room.className = "room";
  canvas.before(room);
  room.append(canvas);
  let bits = null, zoom = 1, base = 0, k = 1, most = 8, cursor = null; // k: pixels for each unit of the map
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
    const g = canvas.getContext("2d"), r = Math.min(15, Math.max(0.7, step * k * 0.42)), free = new Map();
    const carts = new Path2D(), gone = new Path2D(), mine = new Path2D(), ticks = new Path2D();
    // Where a disc would be a few dots a square is the same, and ten times quicker.
    const disc = r < 2.2 ? (path, x, y, r) => path.rect(x - r, y - r, 2 * r, 2 * r) : (path, x, y, r) => { path.moveTo(x + r, y); path.arc(x, y, r, 0, 7); };
    const x0 = scroll.scrollLeft - 20, y0 = scroll.scrollTop - 20, x1 = x0 + canvas.clientWidth + 40, y1 = y0 + canvas.clientHeight + 40;
    for (const s of seats) {
      const x = (s.x - left) * k, y = (s.y - top) * k, st = state(s);
      if (x < x0 || x > x1 || y < y0 || y > y1) continue;
      if (picks && picks(s)) {
        mine.rect(x - r * 1.1, y - r * 1.1, r * 2.2, r * 2.2);
        ticks.moveTo(x - r * 0.6, y); ticks.lineTo(x - r * 0.1, y + r * 0.5); ticks.lineTo(x + r * 0.7, y - r * 0.5);
      } else if (st === 0) {
        let path = free.get(s.tier);
        if (!path) free.set(s.tier, path = new Path2D());
        disc(path, x, y, r);
      } else if (st === 1) disc(carts, x, y, r * 0.8);
      else disc(gone, x, y, r * 0.35);
    }
    const dots = canvas.width / canvas.clientWidth;
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.clearRect(0, 0, canvas.width, canvas.height);
    g.setTransform(dots, 0, 0, dots, -scroll.scrollLeft * dots, -scroll.scrollTop * dots);
    areas(g);
    for (const [tier, path] of free) { g.fillStyle = tier.color || colour("--free"); g.fill(path); }
    g.lineWidth = Math.max(0.5, r * 0.35); g.strokeStyle = colour("--pending"); g.stroke(carts);
    g.fillStyle = colour("--soft"); g.fill(gone);
    g.fillStyle = colour("--go"); g.fill(mine);
    g.lineWidth = Math.max(1, r * 0.3); g.strokeStyle = colour("--on-go"); g.stroke(ticks);
    if (!cursor || document.activeElement !== scroll) return; // where the keyboard is
    const [x, y] = at(cursor), around = Math.max(r * 1.5, 6);
    g.lineWidth = 3; g.strokeStyle = colour("--ink"); g.strokeRect(x - around, y - around, 2 * around, 2 * around);
  };
  let asked = 0;
  const soon = () => { asked ||= requestAnimationFrame(() => { asked = 0; draw(); }); };
  const fit = () => {
    base = scroll.offsetWidth - 2;
    k = base * zoom / wide;
    most = Math.max(4, 30 * wide / (step * base)); // there a finger can tell seats apart
    scroll.style.height = base * high / wide + 2 + "px";
    room.style.width = base * zoom + "px";
    room.style.height = base * zoom * high / wide + "px";
    const dots = Math.min(devicePixelRatio || 1, 2);
    canvas.style.width = scroll.clientWidth + "px";
    canvas.style.height = scroll.clientHeight + "px";
    canvas.width = scroll.clientWidth * dots;
    canvas.height = scroll.clientHeight * dots;
    draw();
  };
  // enlarge keeps the point under the finger, or the middle, where it is.
  const enlarge = (times, px = scroll.clientWidth / 2, py = scroll.clientHeight / 2) => {
    const was = zoom, x = scroll.scrollLeft + px, y = scroll.scrollTop + py;
    zoom = Math.min(most, Math.max(1, zoom * times));
    fit();
    scroll.scrollTo(x * zoom / was - px, y * zoom / was - py);
    draw();
    for (const b of box.querySelectorAll("[data-zoom]")) b.disabled = b.dataset.zoom > 1 ? zoom >= most : zoom <= 1;
  };
  for (const b of box.querySelectorAll("[data-zoom]")) b.addEventListener("click", () => enlarge(b.dataset.zoom));
  scroll.addEventListener("scroll", soon, { passive: true });
  // show brings seats into the middle, as large as they fit.
  const show = (some) => {
    if (!some.length) return;
    const xs = some.map((s) => s.x), ys = some.map((s) => s.y), low = (n) => n.reduce((a, b) => Math.min(a, b)), up = (n) => n.reduce((a, b) => Math.max(a, b));
    const w = up(xs) - low(xs) + 4 * step, h = up(ys) - low(ys) + 4 * step;
    enlarge(Math.min(wide / w, high / h, most) / zoom);
    scroll.scrollTo(((low(xs) + up(xs)) / 2 - left) * k - scroll.clientWidth / 2, ((low(ys) + up(ys)) / 2 - top) * k - scroll.clientHeight / 2);
    draw();
  };

  const near = (e) => {
    const rect = canvas.getBoundingClientRect(), px = e.clientX - rect.left + scroll.scrollLeft, py = e.clientY - rect.top + scroll.scrollTop;
    let best = null, far = Math.max(12, step * k) ** 2;
    for (const s of seats) {
      const d = ((s.x - left) * k - px) ** 2 + ((s.y - top) * k - py) ** 2;
      if (d < far) { far = d; best = s; }
    }
    return best;
  };
  const said = [say("hall.free"), say("hall.cart"), say("hall.gone")];
  const tell = (s) => { tip.textContent = s ? say("hall.seat", { name: name(s), price: money(s.tier.amount), state: picks && picks(s) ? say("hall.mine") : said[Math.min(2, state(s))] }) : ""; };
  const choose = (s) => { box.dispatchEvent(new CustomEvent("seat", { detail: s })); };
  canvas.addEventListener("pointermove", (e) => { if (e.pointerType === "mouse") tell(near(e)); });
  canvas.addEventListener("click", (e) => {
    const rect = canvas.getBoundingClientRect(), s = near(e);
    // Seats too close for a finger: the first tap comes nearer.
    if (step * k < (e.pointerType === "mouse" ? 5 : 18) && zoom < most) enlarge(Math.max(4, 24 / (step * k)), e.clientX - rect.left, e.clientY - rect.top);
    else if (s) { cursor = s; choose(s); tell(s); }
  });
  // By keyboard: from seat to seat, as they lie.
  const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const next = (from, [dx, dy]) => {
    let best = from, least = Infinity;
    for (const s of seats) {
      const x = s.x - from.x, y = s.y - from.y, along = x * dx + y * dy, across = Math.abs(x * dy) + Math.abs(y * dx);
      if (along < step * 0.3 || across > along * 2) continue;
      if (along + 3 * across < least) { least = along + 3 * across; best = s; }
    }
    return best;
  };
  const follow = (s) => { // nothing is chosen that cannot be seen
    const [x, y] = at(s), edge = 24;
    if (x < scroll.scrollLeft + edge || x > scroll.scrollLeft + scroll.clientWidth - edge) scroll.scrollLeft = x - scroll.clientWidth / 2;
    if (y < scroll.scrollTop + edge || y > scroll.scrollTop + scroll.clientHeight - edge) scroll.scrollTop = y - scroll.clientHeight / 2;
  };
  if (picks) {
    scroll.addEventListener("keydown", (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      const to = steps[e.key], times = { "+": 2, "=": 2, "-": 0.5 }[e.key];
      if (to) cursor = cursor ? next(cursor, to) : seats.find((s) => state(s) === 0) || seats[0];
      else if (times) enlarge(times);
      else if ((e.key === " " || e.key === "Enter") && cursor) choose(cursor);
      else return;
      e.preventDefault();
      if (cursor) follow(cursor);
      tell(cursor);
      draw();
    });
    scroll.addEventListener("focus", soon);
    scroll.addEventListener("blur", soon);
  }

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
    canvas.drawn ||= performance.now();
    box.dispatchEvent(new CustomEvent("free"));
  };
  // nearest are free seats close to one: at its price first.
  const nearest = (s, n) => seats.filter((o) => o !== s && state(o) === 0 && !(picks && picks(o)))
    .map((o) => [Math.hypot(o.x - s.x, o.y - s.y) + (o.tier === s.tier ? 0 : 10 * step), o]).sort((a, b) => a[0] - b[0]).slice(0, n).map(([, o]) => o);
  const hall = { seats, state, name, money, draw, show, nearest, enlarge };
  box.hall = hall;
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
