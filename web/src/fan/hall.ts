// The picture of a hall: it is moved, enlarged and asked by finger, mouse and keyboard.
import { Free, is } from "./free";
import { paint, type View } from "./paint";
import { seatmap, type Seat, type Seatmap } from "./seatmap";
import { say } from "./words";

export interface Hall extends Seatmap {
  state(s: Seat): number;
  draw(): void;
  show(some: Seat[]): void;
  nearest(s: Seat, n: number): Seat[];
  enlarge(times: number, px?: number, py?: number): void;
}

// What a page does with its hall. Without mine nothing is chosen in it.
export interface Uses {
  mine?: (s: Seat) => boolean;
  chose?: (s: Seat) => void;
  free?: () => void; // what is free has changed
}

type Box = HTMLElement & { hall?: Hall }; // for who measures it
type Canvas = HTMLCanvasElement & { drawn?: number }; // when it was first

const steps: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export async function openHall(box: Box, uses: Uses): Promise<Hall> {
  const canvas = box.querySelector<Canvas>("canvas")!, scroll = box.querySelector<HTMLElement>(".scroll")!, tip = box.querySelector(".tip")!;
  const { event, plan } = box.dataset as { event: string; plan: string };
  const map = await seatmap(event, plan), { seats, step, name, money } = map, [left, top, wide, high] = map.box, free = new Free(event, plan);
  // The canvas is as large as the window on the hall, however large the hall is in it.
  // room is what is scrolled.
  const room = document.createElement("div");
  room.className = "room";
  canvas.before(room);
  room.append(canvas);
  const state = (s: Seat) => free.at(s.pos), mine = (s: Seat) => !!uses.mine?.(s);
  const view: View = { canvas, scroll, k: 1, state, mine, cursor: null };
  let zoom = 1, base = 0, most = 8;

  const draw = () => paint(map, view);
  let asked = 0;
  const soon = () => { asked ||= requestAnimationFrame(() => { asked = 0; draw(); }); };
  const fit = () => {
    base = scroll.offsetWidth - 2;
    view.k = base * zoom / wide;
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
  const buttons = [...box.querySelectorAll<HTMLButtonElement>("[data-zoom]")], times = (b: HTMLButtonElement) => Number(b.dataset["zoom"]);
  const enlarge = (by: number, px = scroll.clientWidth / 2, py = scroll.clientHeight / 2) => {
    const was = zoom, x = scroll.scrollLeft + px, y = scroll.scrollTop + py;
    zoom = Math.min(most, Math.max(1, zoom * by));
    fit();
    scroll.scrollTo(x * zoom / was - px, y * zoom / was - py);
    draw();
    for (const b of buttons) b.disabled = times(b) > 1 ? zoom >= most : zoom <= 1;
  };
  for (const b of buttons) b.addEventListener("click", () => enlarge(times(b)));
  scroll.addEventListener("scroll", soon, { passive: true });
  // show brings seats into the middle, as large as they fit.
  const show = (some: Seat[]) => {
    if (!some.length) return;
    let x0 = Infinity, y0 = Infinity, x1 = -Infinity, y1 = -Infinity;
    for (const { x, y } of some) {
      x0 = Math.min(x0, x); x1 = Math.max(x1, x);
      y0 = Math.min(y0, y); y1 = Math.max(y1, y);
    }
    enlarge(Math.min(wide / (x1 - x0 + 4 * step), high / (y1 - y0 + 4 * step), most) / zoom);
    scroll.scrollTo(((x0 + x1) / 2 - left) * view.k - scroll.clientWidth / 2, ((y0 + y1) / 2 - top) * view.k - scroll.clientHeight / 2);
    draw();
  };

  const under = (e: MouseEvent) => {
    const rect = canvas.getBoundingClientRect(), px = e.clientX - rect.left + scroll.scrollLeft, py = e.clientY - rect.top + scroll.scrollTop;
    let best: Seat | null = null, far = Math.max(12, step * view.k) ** 2;
    for (const s of seats) {
      const d = ((s.x - left) * view.k - px) ** 2 + ((s.y - top) * view.k - py) ** 2;
      if (d < far) { far = d; best = s; }
    }
    return best;
  };
  const said = [say("hall.free"), say("hall.cart"), say("hall.gone"), say("hall.kept")];
  const tell = (s: Seat | null) => {
    tip.textContent = s ? say("hall.seat", { name: name(s), price: money(s.tier.amount), state: mine(s) ? say("hall.mine") : said[state(s)]! }) : "";
  };
  canvas.addEventListener("pointermove", (e) => { if (e.pointerType === "mouse") tell(under(e)); });
  canvas.addEventListener("click", (e) => {
    const rect = canvas.getBoundingClientRect(), s = under(e), apart = step * view.k;
    // Seats too close for a finger: the first tap comes nearer.
    if (apart < ((e as PointerEvent).pointerType === "mouse" ? 5 : 18) && zoom < most) enlarge(Math.max(4, 24 / apart), e.clientX - rect.left, e.clientY - rect.top);
    else if (s) { view.cursor = s; uses.chose?.(s); tell(s); }
  });

  // By keyboard: from seat to seat, as they lie.
  const next = (from: Seat, [dx, dy]: [number, number]) => {
    let best = from, least = Infinity;
    for (const s of seats) {
      const x = s.x - from.x, y = s.y - from.y, along = x * dx + y * dy, across = Math.abs(x * dy) + Math.abs(y * dx);
      if (along < step * 0.3 || across > along * 2) continue;
      if (along + 3 * across < least) { least = along + 3 * across; best = s; }
    }
    return best;
  };
  const follow = (s: Seat) => { // nothing is chosen that cannot be seen
    const x = (s.x - left) * view.k, y = (s.y - top) * view.k, edge = 24;
    if (x < scroll.scrollLeft + edge || x > scroll.scrollLeft + scroll.clientWidth - edge) scroll.scrollLeft = x - scroll.clientWidth / 2;
    if (y < scroll.scrollTop + edge || y > scroll.scrollTop + scroll.clientHeight - edge) scroll.scrollTop = y - scroll.clientHeight / 2;
  };
  const key = (e: KeyboardEvent) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const to = steps[e.key], nearer = ({ "+": 2, "=": 2, "-": 0.5 } as Record<string, number>)[e.key];
    if (to) view.cursor = view.cursor ? next(view.cursor, to) : seats.find((s) => state(s) === is.free) ?? seats[0] ?? null;
    else if (nearer) enlarge(nearer);
    else if ((e.key === " " || e.key === "Enter") && view.cursor) uses.chose?.(view.cursor);
    else return;
    e.preventDefault();
    if (view.cursor) follow(view.cursor);
    tell(view.cursor);
    draw();
  };
  if (uses.mine) {
    scroll.addEventListener("keydown", key);
    scroll.addEventListener("focus", soon);
    scroll.addEventListener("blur", soon);
  }

  // nearest are free seats close to one: at its price first.
  const nearest = (s: Seat, n: number) => seats.filter((o) => o !== s && state(o) === is.free && !mine(o))
    .map((o): [number, Seat] => [Math.hypot(o.x - s.x, o.y - s.y) + (o.tier === s.tier ? 0 : 10 * step), o]).sort((a, b) => a[0] - b[0]).slice(0, n).map(([, o]) => o);
  const look = async () => {
    if (!await free.look()) return;
    draw();
    canvas.drawn ||= performance.now();
    uses.free?.();
  };
  const hall = box.hall = { ...map, state, draw, show, nearest, enlarge };
  fit();
  await look();
  // Where it is out of sight nobody is asked.
  const loop = () => setTimeout(async () => {
    if (!document.hidden && (uses.mine || box.getBoundingClientRect().top < innerHeight)) await look().catch(() => { /* the next may arrive */ });
    loop();
  }, 2000 * (0.9 + 0.2 * Math.random()));
  loop();
  new ResizeObserver(fit).observe(scroll);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  return hall;
}
