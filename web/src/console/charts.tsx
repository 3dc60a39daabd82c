import type { Second } from "./live";
import { Chart, type Drawing } from "./chart";

// smooth is the mean of the last five seconds: people come in whole.
const smooth = (all: (number | null)[]) => all.map((v, i) => {
  if (v === null) return null;
  const some = all.slice(Math.max(0, i - 4), i + 1).filter((x): x is number => x !== null);
  return some.reduce((a, b) => a + b, 0) / some.length;
});

export function Charts({ past }: { past: Second[] }) {
  const t = past.map((s) => s.t), of = (f: (s: Second) => number | null | undefined) => past.map((s) => f(s) ?? null);
  const marks = past.flatMap((s, i) => {
    const before = past[i - 1]?.n, wave = s.n?.wave;
    return before && wave && wave > before.wave ? [{ t: s.t, says: "wave " + wave }] : [];
  });
  const drawings: Drawing[] = [
    { title: "People in the line", t, marks, lines: [
      { name: "waiting", color: "--ink", of: of((s) => s.n?.waiting) },
      { name: "called, coming", color: "--go", dash: [7, 4], of: of((s) => s.n?.coming) },
      { name: "at the door", color: "--pending", dash: [2, 3], of: of((s) => s.n?.at_door) },
    ] },
    { title: "Let in a second, against the rate", t, marks, unit: "/s", lines: [
      { name: "let in", color: "--go", of: smooth(of((s) => s.letIn)) },
      { name: "in force", color: "--pending", dash: [7, 4], step: true, of: of((s) => s.n?.rate) },
      { name: "set by you", color: "--soft", dash: [2, 3], step: true, of: of((s) => s.set) },
    ] },
    { title: "Claims a second, of all events", t, marks, unit: "/s", lines: [
      { name: "granted", color: "--sold", of: of((s) => s.claims?.claims_per_s) },
      { name: "answered", color: "--soft", dash: [7, 4], of: of((s) => s.claims?.answers_per_s) },
      { name: "not served", color: "--pending", dash: [2, 3], of: of((s) => s.claims?.errors_per_s) },
    ] },
    { title: "Seats", t, marks, lines: [
      { name: "free", color: "--free", of: of((s) => s.n?.seats.free) },
      { name: "in carts", color: "--pending", dash: [7, 4], of: of((s) => s.n?.seats.pending) },
      { name: "sold", color: "--sold", of: of((s) => s.n?.seats.sold) },
      { name: "held back", color: "--soft", dash: [2, 3], of: of((s) => s.n?.seats.held_back) },
    ] },
    { title: "What those who wait are told", t, marks, unit: " %", lines: [
      { name: "likely", color: "--free", of: of((s) => s.told?.[0]) },
      { name: "possible", color: "--pending", dash: [7, 4], of: of((s) => s.told?.[1]) },
      { name: "the queue exceeds the tickets", color: "--soft", dash: [2, 3], of: of((s) => s.told?.[2]) },
    ] },
    { title: "People inside, and waves of seats that came back", t, marks, lines: [
      { name: "inside", color: "--sold", of: of((s) => s.n?.inside) },
      { name: "wave", color: "--soft", dash: [7, 4], step: true, of: of((s) => s.n?.wave) },
    ] },
  ];
  return <div class="charts">{drawings.map((d) => <Chart key={d.title} drawing={d} />)}</div>;
}
