// A seating plan is read by the server, shown, priced, and only then imported.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Schemas } from "../api/client";
import { Refused } from "../api/client";
import { Fault } from "./parts";
import { api } from "./session";
import { many, num } from "./words";

export type Plan = { name: string; text: string; read: Schemas["PlanRead"] };

// PlanPicker takes a file from this machine and has it read.
export function PlanPicker({ id, onPlan }: { id: string; onPlan: (plan: Plan | null) => void }) {
  const [fault, fails] = useState<unknown>(null);
  const pick = async (file: File | undefined) => {
    fails(null);
    if (!file) return onPlan(null);
    try {
      const text = await file.text();
      const read = (await api.ask("post", "/v1/organiser/plans/check", { body: { name: file.name, text } })).body;
      onPlan({ name: file.name, text, read });
    } catch (no) { fails(no); onPlan(null); }
  };
  return <>
    <p><label for={id}>Seating plan (JSON of seats.pretix.eu, or CSV)</label>
      <input id={id} type="file" accept=".json,.csv,application/json,text/csv" onChange={(e) => pick(e.currentTarget.files?.[0])} /></p>
    <Flaws of={fault} />
  </>;
}

// Flaws names each place of a file that is to be mended.
export function Flaws({ of }: { of: unknown }) {
  if (!(of instanceof Refused) || of.code !== "flawed_file") return <Fault of={of} />;
  const all = (of.more["flaws"] ?? []) as { file: string; line: number | null; field: string; reason: string }[];
  return <div class="note" role="alert"><p>{of.message}. Nothing was changed.</p>
    <ul>{all.map((f) => <li key={f.file + f.line + f.field}><span class="code">{f.file}{f.line ? ":" + f.line : ""}{f.field ? " " + f.field : ""}</span> {f.reason}</li>)}</ul></div>;
}

// Priced shows what the plan says: the hall as it is drawn, each category with a price.
export function Priced({ plan, prices, onPrice }: { plan: Plan; prices: Record<string, string>; onPrice: (category: string, price: string) => void }) {
  const { read } = plan;
  return <div class="priced">
    <figure><Hall read={read} /><figcaption class="soft">{many(read.seats, "seat")} in {many(read.sections, "section")}{read.name ? `: ${read.name}` : ""}</figcaption></figure>
    <fieldset><legend>Prices</legend>
      {read.categories.filter((c) => c.seats > 0).map((c, i) => <p key={c.name}>
        <label for={"price-" + i}><Dot color={c.color} i={i} />{c.name}, {many(c.seats, "seat")}</label>
        <input id={"price-" + i} type="text" inputMode="decimal" placeholder="49.00" value={prices[c.name] ?? ""} onInput={(e) => onPrice(c.name, e.currentTarget.value)} /></p>)}
    </fieldset>
    {read.remarks.length > 0 && <ul class="soft">{read.remarks.map((r) => <li key={r}>{r}</li>)}</ul>}
  </div>;
}

const palette = ["#3366cc", "#c0392b", "#2e7d32", "#8e44ad", "#b45309", "#00838f", "#7f8c8d", "#ad1457"];
const colorOf = (color: string, i: number) => color || palette[i % palette.length]!;

function Dot({ color, i }: { color: string; i: number }) {
  return <svg width="14" height="14" aria-hidden="true"><circle cx="7" cy="7" r="6" fill={colorOf(color, i)} /></svg>;
}

function Hall({ read }: { read: Schemas["PlanRead"] }) {
  const at = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const canvas = at.current!, c = canvas.getContext("2d")!, seats = read.drawn as [number, number, number][];
    const [x0, y0, x1, y1] = seats.reduce(([a, b, d, e], [x, y]) => [Math.min(a, x), Math.min(b, y), Math.max(d, x), Math.max(e, y)], [Infinity, Infinity, -Infinity, -Infinity]);
    const scale = Math.min(1160 / Math.max(1, x1 - x0), 760 / Math.max(1, y1 - y0), 4);
    canvas.width = (x1 - x0) * scale + 40;
    canvas.height = (y1 - y0) * scale + 40;
    const radius = Math.max(1.2, Math.min(9, scale * 9));
    for (const [x, y, i] of seats) {
      c.fillStyle = colorOf(read.categories[i]?.color ?? "", i);
      c.beginPath();
      c.arc((x - x0) * scale + 20, (y - y0) * scale + 20, radius, 0, 7);
      c.fill();
    }
  }, [read]);
  if (!read.drawn.length) return <p class="soft">General admission: nothing is drawn.</p>;
  return <canvas ref={at} role="img" aria-label={`The hall: ${read.categories.map((c) => `${c.name} ${c.seats}`).join(", ")}`} />;
}

// PlanImport gives an event that has no orders its hall.
export function PlanImport({ event }: { event: string }) {
  const [plan, plans] = useState<Plan | null>(null);
  const [prices, price] = useState<Record<string, string>>({});
  const [replace, replaces] = useState(false);
  const [fault, fails] = useState<unknown>(null);
  const [told, tell] = useState("");
  const send = async () => {
    fails(null); tell("");
    try {
      const given = Object.fromEntries(Object.entries(prices).filter(([, p]) => p.trim() !== ""));
      const done = await api.ask("post", "/v1/organiser/events/{event}/plan", { path: { event }, body: { name: plan!.name, text: plan!.text, prices: given, replace } });
      tell(`${num(done.body.seats)} seats are imported, ${num(done.body.held_back)} of them held back.`);
      plans(null);
    } catch (no) { fails(no); }
  };
  return <details class="panel"><summary><h2>Seating plan</h2></summary>
    <p class="soft">While nobody has ordered of it, an event can be given a hall, or another one. Categories that it sells already keep their price if you leave it empty.</p>
    <PlanPicker id="import" onPlan={(p) => { plans(p); tell(""); }} />
    {plan && <><Priced plan={plan} prices={prices} onPrice={(c, p) => price({ ...prices, [c]: p })} />
      <p><label class="check"><input type="checkbox" checked={replace} onChange={(e) => replaces(e.currentTarget.checked)} /> Take the place of the hall that it has</label></p>
      <p class="row"><button class="go" onClick={send}>Import this plan</button></p></>}
    <p role="status" class={told ? "note" : "visually-hidden"}>{told}</p>
    <Flaws of={fault} />
  </details>;
}

