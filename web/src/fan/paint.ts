// Paints a hall. What is free is a disc in its price's colour, what is kept for codes a
// diamond in it, what is in a cart a ring, what is gone a dot and what is chosen a square
// with a tick, so that no colour is needed to tell them apart.
import { is } from "./free";
import type { Area, Seat, Seatmap, Tier } from "./seatmap";

export interface View {
  canvas: HTMLCanvasElement;
  scroll: HTMLElement; // the window on the hall; the canvas is as large as it
  k: number; // pixels for each unit of the map
  state(s: Seat): number;
  mine(s: Seat): boolean;
  cursor: Seat | null; // where the keyboard is
}

export function paint(map: Seatmap, v: View): void {
  const { canvas, scroll, k } = v, [left, top] = map.box, r = Math.min(15, Math.max(0.7, map.step * k * 0.42));
  const g = canvas.getContext("2d")!, colour = (name: string) => getComputedStyle(canvas).getPropertyValue(name);
  const free = new Map<Tier, Path2D>(), carts = new Path2D(), gone = new Path2D(), mine = new Path2D(), ticks = new Path2D();
  // Where a disc would be a few dots a square is the same, and ten times quicker.
  const disc = r < 2.2 ? (path: Path2D, x: number, y: number, r: number) => path.rect(x - r, y - r, 2 * r, 2 * r)
    : (path: Path2D, x: number, y: number, r: number) => { path.moveTo(x + r, y); path.arc(x, y, r, 0, 7); };
  const x0 = scroll.scrollLeft - 20, y0 = scroll.scrollTop - 20, x1 = x0 + canvas.clientWidth + 40, y1 = y0 + canvas.clientHeight + 40;
  for (const s of map.seats) {
    const x = (s.x - left) * k, y = (s.y - top) * k, now = v.state(s);
    if (x < x0 || x > x1 || y < y0 || y > y1) continue; // what lies outside is not drawn
    if (v.mine(s)) {
      mine.rect(x - r * 1.1, y - r * 1.1, r * 2.2, r * 2.2);
      ticks.moveTo(x - r * 0.6, y); ticks.lineTo(x - r * 0.1, y + r * 0.5); ticks.lineTo(x + r * 0.7, y - r * 0.5);
    } else if (now === is.free || now === is.kept) {
      let path = free.get(s.tier);
      if (!path) free.set(s.tier, path = new Path2D());
      if (now === is.free) disc(path, x, y, r);
      else { path.moveTo(x - r, y); path.lineTo(x, y - r); path.lineTo(x + r, y); path.lineTo(x, y + r); path.closePath(); }
    } else if (now === is.pending) disc(carts, x, y, r * 0.8);
    else disc(gone, x, y, r * 0.35);
  }
  const dots = canvas.width / canvas.clientWidth;
  g.setTransform(1, 0, 0, 1, 0, 0);
  g.clearRect(0, 0, canvas.width, canvas.height);
  g.setTransform(dots, 0, 0, dots, -scroll.scrollLeft * dots, -scroll.scrollTop * dots);
  for (const a of map.areas) area(g, a, map, k, colour("--ink"));
  for (const [tier, path] of free) { g.fillStyle = tier.color || colour("--free"); g.fill(path); }
  g.lineWidth = Math.max(0.5, r * 0.35); g.strokeStyle = colour("--pending"); g.stroke(carts);
  g.fillStyle = colour("--soft"); g.fill(gone);
  g.fillStyle = colour("--go"); g.fill(mine);
  g.lineWidth = Math.max(1, r * 0.3); g.strokeStyle = colour("--on-go"); g.stroke(ticks);
  if (!v.cursor || document.activeElement !== scroll) return;
  const x = (v.cursor.x - left) * k, y = (v.cursor.y - top) * k, around = Math.max(r * 1.5, 6);
  g.lineWidth = 3; g.strokeStyle = colour("--ink"); g.strokeRect(x - around, y - around, 2 * around, 2 * around);
}

function area(g: CanvasRenderingContext2D, a: Area, map: Seatmap, k: number, ink: string): void {
  const [x = 0, y = 0] = a.at, [w = 0, h = 0] = a.size ?? [], points = a.points ?? [];
  g.save();
  g.translate((x - map.box[0]) * k, (y - map.box[1]) * k);
  g.rotate((a.turn ?? 0) * Math.PI / 180);
  g.beginPath();
  if (a.shape === "rectangle") g.rect(0, 0, w * k, h * k);
  else if (a.shape === "polygon") for (let i = 0; i < points.length; i += 2) g.lineTo(points[i]! * k, points[i + 1]! * k);
  else if (a.shape !== "text") g.ellipse(0, 0, w * k, (h || w) * k, 0, 0, 7);
  if (a.color) { g.fillStyle = a.color; g.fill(); }
  if (a.border) { g.strokeStyle = a.border; g.stroke(); }
  if (a.text) {
    g.font = Math.max(11, (a.text.size || 16 * map.scale) * k) + "px system-ui";
    g.textAlign = "center"; g.textBaseline = "middle";
    g.fillStyle = a.text.color || on(g, a.color, ink);
    g.fillText(a.text.text, (a.text.at[0] ?? 0) * k, (a.text.at[1] ?? 0) * k);
  }
  g.restore();
}

// on is what can be read on a colour.
function on(g: CanvasRenderingContext2D, colour: string | undefined, ink: string): string {
  if (!colour) return ink;
  g.fillStyle = colour; // it reads back as #rrggbb
  const part = (i: number) => parseInt((g.fillStyle as string).slice(i, i + 2), 16);
  return 0.3 * part(1) + 0.6 * part(3) + 0.1 * part(5) > 140 ? "#000" : "#fff";
}
