// Refunds: how they go, what waits for a yes, what waits for a person. Deciding is
// done on the human list, which works without a script and asks for a name.
import { Fault, Figure, useAsked } from "./parts";
import { api } from "./session";
import { moment, money, num, span } from "./words";

export function Money() {
  const forecast = useAsked(async () => (await api.ask("get", "/v1/organiser/refunds/forecast")).body, 5000, []);
  const approvals = useAsked(async () => (await api.ask("get", "/v1/organiser/refunds/approvals")).body, 5000, []);
  const human = useAsked(async () => (await api.ask("get", "/v1/organiser/human")).body, 5000, []);
  const f = forecast.is;
  const open = approvals.is?.approvals.filter((a) => a.decision === null) ?? [];
  return <>
    <h1 tabIndex={-1}>Refunds</h1>
    <Fault of={forecast.fault} />
    {f && <dl class="figures">
      <Figure name="Waiting" value={num(f.waiting)} more={`${num(f.due)} of them for their turn at the outlet`} />
      <Figure name="Clears in" value={f.clears_in_s === null ? "never, at this rate" : span(f.clears_in_s)} more={`promised within ${span(f.promise_s)}`} />
      <Figure name="The oldest waits for" value={span(f.oldest_s)} />
      <Figure name="Closed a second" value={f.closures_per_s.toFixed(1)} more={`${f.inflow_per_s.toFixed(1)} come in, over ${span(f.window_s)}`} />
    </dl>}
    {f && !f.accepting && <p class="note" role="status">Refunds are behind: new requests are turned away for now. What is owed is taken all the same.</p>}
    <h2>Wait for a yes</h2>
    <Fault of={approvals.fault} />
    {approvals.is && (open.length === 0 ? <p>Nothing waits for a yes.</p> : <ul class="items">{open.map((a) => <li key={a.id}>
      <h3>{money(a.amount_minor, a.currency)}, order {a.order.slice(0, 8)}…</h3>
      <p class="soft">{a.event}, asked by {a.asked_by}, {moment(a.asked_at)}</p></li>)}</ul>)}
    <h2>Wait for a person</h2>
    <Fault of={human.fault} />
    {human.is && (human.is.items.length === 0 ? <p>Nothing waits for a person.</p> : <ul class="items">{human.is.items.map((i) => <li key={i.id}>
      <h3><a href={"/human/" + i.id}>{i.id}: {i.kind.replaceAll("_", " ")}</a></h3>
      <p>{i.currency ? money(i.amount_minor, i.currency) + ". " : ""}{i.detail}</p>
      <p class="soft">{i.owner ? i.owner + " has it." : "Nobody has it."} Opened {moment(i.opened_at)}.</p></li>)}</ul>)}
    <p class="act"><a class="button" href="/human">Decide on the human list</a></p>
    <p class="soft">It asks for your name, and for the same key as the password: both stand in the history.</p>
  </>;
}
