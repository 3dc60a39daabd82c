// A chart over time, drawn by uPlot. Its lines differ in dashes as well as colour,
// and what they say last stands beside their names as text.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";

export interface Line {
  name: string;
  color: string; // a custom property of the style sheet
  dash?: number[];
  step?: boolean;
  of: (number | null)[];
}

export interface Drawing {
  title: string;
  t: number[]; // seconds: Unix, or since the opening
  lines: Line[];
  since?: boolean; // t is since the opening
  marks?: { t: number; says: string }[];
  unit?: string;
}

const property = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function Chart({ drawing }: { drawing: Drawing }) {
  const at = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const now = useRef(drawing);
  now.current = drawing;
  const data = (d: Drawing) => [d.t, ...d.lines.map((l) => l.of)] as uPlot.AlignedData;
  useEffect(() => {
    const place = at.current!;
    const make = () => {
      plot.current?.destroy();
      plot.current = new uPlot(options(now, place.clientWidth), data(now.current), place);
    };
    make();
    const wide = new ResizeObserver(() => plot.current?.setSize({ width: place.clientWidth, height }));
    wide.observe(place);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", make);
    return () => { wide.disconnect(); dark.removeEventListener("change", make); plot.current?.destroy(); };
  }, []);
  useEffect(() => { plot.current?.setData(data(drawing)); }, [drawing]);
  const last = (l: Line) => { const v = l.of.at(-1); return v === null || v === undefined ? "–" : short(v) + (drawing.unit ?? ""); };
  return <figure class="chart">
    <figcaption><b>{drawing.title}</b></figcaption>
    <div ref={at} role="img" aria-label={drawing.title + ": " + drawing.lines.map((l) => `${l.name} ${last(l)}`).join(", ")} />
    <ul class="keys" aria-hidden="true">{drawing.lines.map((l) => <li key={l.name}>
      <svg width="26" height="8"><line x1="0" y1="4" x2="26" y2="4" stroke={`var(${l.color})`} stroke-width="2.5" stroke-dasharray={l.dash?.join(" ")} /></svg>
      {l.name} <b>{last(l)}</b></li>)}</ul>
  </figure>;
}

const height = 180;

const short = (v: number) => Math.abs(v) >= 10000 ? (v / 1000).toFixed(0) + "k" : Math.abs(v) < 10 && v % 1 !== 0 ? v.toFixed(1) : v.toFixed(0);

function options(now: { current: Drawing }, width: number): uPlot.Options {
  const d = now.current, soft = property("--soft"), grid = { stroke: property("--line"), width: 1 }, font = "12px system-ui, sans-serif";
  const axis = { stroke: soft, grid, ticks: { show: false }, font };
  return {
    width, height, legend: { show: false }, cursor: { drag: { x: false, y: false }, points: { show: false } },
    scales: { x: { time: !d.since, range: (_, from, to) => [Math.min(from ?? 0, (to ?? 0) - 60), to ?? 0] }, y: { range: (_, __, max) => [0, max > 0 ? max * 1.08 : 1] } },
    axes: [
      { ...axis, space: 70, size: 26, values: (_, all) => all.map((t) => d.since ? sinceOpening(t) : new Date(t * 1000).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" })) },
      { ...axis, size: 46, values: (_, all) => all.map((v) => short(v) + (d.unit ?? "")) },
    ],
    series: [{}, ...d.lines.map((l) => ({
      label: l.name, stroke: property(l.color), width: 2, points: { show: false }, ...(l.dash ? { dash: l.dash } : {}),
      ...(l.step ? { paths: uPlot.paths.stepped!({ align: 1 }) } : {}),
    }))],
    hooks: { draw: [(u) => mark(u, now.current.marks ?? [], soft)] },
  };
}

const sinceOpening = (t: number) => (t < 0 ? "−" : "") + Math.floor(Math.abs(t) / 60) + ":" + String(Math.floor(Math.abs(t) % 60)).padStart(2, "0");

// mark draws what happened at a moment: a new wave.
function mark(u: uPlot, marks: { t: number; says: string }[], color: string) {
  const c = u.ctx;
  c.save();
  c.strokeStyle = c.fillStyle = color;
  c.font = 11 * devicePixelRatio + "px system-ui";
  c.setLineDash([3, 4]);
  for (const m of marks) {
    const x = u.valToPos(m.t, "x", true);
    if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) continue;
    c.beginPath();
    c.moveTo(x, u.bbox.top);
    c.lineTo(x, u.bbox.top + u.bbox.height);
    c.stroke();
    c.fillText(m.says, x + 4, u.bbox.top + 12 * devicePixelRatio);
  }
  c.restore();
}
