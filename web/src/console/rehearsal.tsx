// A rehearsal is played by waitctl, not by the house that sells: its report is opened
// here, from this machine, and goes nowhere.
import { useState } from "preact/hooks";
import { Chart, type Drawing } from "./chart";
import { Figure } from "./parts";
import { many, num, rate, span } from "./words";

interface Sample { t: number; state: string; wave: number; line: number; at_door: number; inside: number; let_in_s: number; rate: number; claims_s: number; free: number; pending: number; sold: number; held_back: number }
interface Report {
  setting: { Sale?: unknown; sale: { Event: string; Title: string; Rate: number }; seats: number; audience: { fans: number } };
  sold: number; claimed_all_s: number; seconds: number; waves: number; let_in: number; found_nothing: number; wait_p50_s: number; wait_p95_s: number; wait_most_s: number; still_in_line: number;
  samples: Sample[]; advice?: { code: string; do: string; because: string }[];
}

export function Rehearsal() {
  const [report, reads] = useState<Report | null>(null);
  const [fault, fails] = useState("");
  const open = async (file: File | undefined) => {
    reads(null); fails("");
    if (!file) return;
    try {
      const read = JSON.parse(await file.text()) as Report;
      if (!Array.isArray(read.samples) || !read.setting?.sale) throw new Error("no samples");
      reads(read);
    } catch { fails(`${file.name} is no report of waitctl rehearse --json, nor of the demo.`); }
  };
  return <>
    <h1 tabIndex={-1}>Rehearsal</h1>
    <p>A sale before the sale: the line's own decisions on a virtual clock, with as many people as you expect, in seconds. It is played on your machine, so that it takes nothing from a sale that is on:</p>
    <pre tabIndex={0}>waitctl rehearse -f event.yaml --fans 100000 --json rehearsal.json</pre>
    <p><label for="report">The report (it is opened here, and sent nowhere)</label><input id="report" type="file" accept=".json,application/json" onChange={(e) => open(e.currentTarget.files?.[0])} /></p>
    {fault && <p class="note" role="alert">{fault}</p>}
    {report && <Played report={report} />}
  </>;
}

function Played({ report: r }: { report: Report }) {
  return <>
    <h2>{r.setting.sale.Title || r.setting.sale.Event}: {num(r.setting.seats)} seats, {num(r.setting.audience.fans)} people, {rate(r.setting.sale.Rate)}</h2>
    <dl class="figures">
      <Figure name="All claimed after" value={r.claimed_all_s ? span(r.claimed_all_s) : "never"} more={`the last seat paid after ${span(r.seconds)}`} />
      <Figure name="Sold" value={num(r.sold)} more={many(r.waves, "wave")} />
      <Figure name="Wait, the middle" value={span(r.wait_p50_s)} more={`19 in 20 within ${span(r.wait_p95_s)}, the longest ${span(r.wait_most_s)}`} />
      <Figure name="Let in" value={num(r.let_in)} more={`${num(r.found_nothing)} found nothing, ${num(r.still_in_line)} still in line`} />
    </dl>
    <h3>What to change</h3>
    {r.advice?.length ? <ul>{r.advice.map((a) => <li key={a.code}><b>{a.do}</b> {a.because}</li>)}</ul> : <p>Nothing.</p>}
    <div class="charts">{drawings(r.samples).map((d) => <Chart key={d.title + r.seconds} drawing={d} />)}</div>
  </>;
}

// drawings are the plots that waitctl draws itself.
function drawings(all: Sample[]): Drawing[] {
  const step = Math.floor(all.length / 900) + 1, some = all.filter((_, i) => i % step === 0);
  const t = some.map((s) => s.t), of = (f: (s: Sample) => number) => some.map(f);
  return [
    { title: "Seats", t, since: true, lines: [
      { name: "free", color: "--free", of: of((s) => s.free) }, { name: "in carts", color: "--pending", dash: [7, 4], of: of((s) => s.pending) }, { name: "sold", color: "--sold", of: of((s) => s.sold) }] },
    { title: "Let in a second, against the rate in force", t, since: true, unit: "/s", lines: [
      { name: "let in", color: "--go", of: of((s) => s.let_in_s) }, { name: "rate", color: "--pending", dash: [7, 4], of: of((s) => s.rate) }, { name: "claims", color: "--soft", dash: [2, 3], of: of((s) => s.claims_s) }] },
    { title: "People in the line", t, since: true, lines: [{ name: "waiting", color: "--ink", of: of((s) => s.line) }] },
    { title: "People at the door and inside", t, since: true, lines: [
      { name: "at the door", color: "--pending", dash: [2, 3], of: of((s) => s.at_door) }, { name: "inside", color: "--sold", of: of((s) => s.inside) }] },
  ];
}
