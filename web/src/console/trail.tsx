// The record of changes: who, when, what it was, what it became.
import { Fault, useAsked } from "./parts";
import { api } from "./session";
import { moment } from "./words";

const shown = (v: unknown): string => v === null ? "none" : short(typeof v === "object" ? JSON.stringify(v) : String(v));
const short = (s: string) => s.length > 60 ? s.slice(0, 12) + "…" : s;

export function Trail({ event, version }: { event: string; version: unknown }) {
  const asked = useAsked(async () => (await api.ask("get", "/v1/organiser/events/{event}/changes", { path: { event }, query: { limit: 20 } })).body, 5000, [event, version]);
  return <section aria-labelledby="trail-h">
    <h2 id="trail-h">Audit trail</h2>
    <p class="soft">Written by the database itself; nobody edits it. The newest 20.</p>
    <Fault of={asked.fault} />
    {asked.is && <div class="wide" tabIndex={0} role="group" aria-labelledby="trail-h"><table>
      <thead><tr><th scope="col">When</th><th scope="col">Who</th><th scope="col">What</th></tr></thead>
      <tbody>{asked.is.changes.map((c) => <tr key={c.id}>
        <td>{moment(c.at)}</td><td>{c.by}</td>
        <td>{c.changed === null ? "created it" : Object.entries(c.changed).filter(([name]) => name !== "seatmap" && name !== "version").map(([name, [was, is]]) => `${name}: ${shown(was)} → ${shown(is)}`).join("; ") || "touched it"}</td>
      </tr>)}</tbody></table></div>}
  </section>;
}
