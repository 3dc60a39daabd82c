// A new event: the form writes the same event.yaml that waitctl reads, and shows it.
import { useState } from "preact/hooks";
import { Flaws, PlanPicker, Priced, type Plan } from "./plan";
import { api } from "./session";

const quoted = (s: string) => JSON.stringify(s); // which is YAML too

interface Draft { id: string; title: string; venue: string; currency: string; opens: string; rate: string; limit: string; standing: string; standingPrice: string }

function fileOf(d: Draft, plan: Plan | null, prices: Record<string, string>): string {
  const lines = [`id: ${d.id || '""'}`, `title: ${quoted(d.title)}`];
  if (d.venue) lines.push(`venue: ${quoted(d.venue)}`);
  lines.push(`currency: ${d.currency}`, `opens_at: ${d.opens ? new Date(d.opens).toISOString().replace(".000Z", "Z") : "now"}`);
  if (d.rate) lines.push(`rate: ${d.rate}`);
  if (d.limit) lines.push(`order_limit: ${d.limit}`);
  if (plan) lines.push(`plan: ${quoted(plan.name)}`);
  const priced = plan?.read.categories.filter((c) => c.seats > 0).map((c) => [c.name, prices[c.name] ?? ""]) ?? [];
  if (d.standing) priced.push(["Standing", d.standingPrice]);
  if (priced.length) lines.push("prices:", ...priced.map(([name, p]) => `  ${quoted(name!)}: ${p || '""'}`));
  if (d.standing) lines.push("general_admission:", "  - section: Floor", "    category: Standing", `    count: ${d.standing}`);
  return lines.join("\n") + "\n";
}

export function Create() {
  const [draft, write] = useState<Draft>({ id: "", title: "", venue: "", currency: "EUR", opens: "", rate: "50", limit: "4", standing: "", standingPrice: "" });
  const [plan, plans] = useState<Plan | null>(null);
  const [prices, price] = useState<Record<string, string>>({});
  const [fault, fails] = useState<unknown>(null);
  const file = fileOf(draft, plan, prices);
  const create = async (e: Event) => {
    e.preventDefault();
    fails(null);
    try {
      const done = await api.ask("post", "/v1/organiser/events", { body: { file, plan: plan && { name: plan.name, text: plan.text } } });
      location.hash = "#/e/" + done.body.event;
    } catch (no) { fails(no); }
  };
  const field = (name: keyof Draft, label: string, more: Record<string, unknown> = {}) => <p key={name}><label for={name}>{label}</label>
    <input id={name} type="text" autocomplete="off" value={draft[name]} onInput={(e) => write({ ...draft, [name]: e.currentTarget.value })} {...more} /></p>;
  return <>
    <h1 tabIndex={-1}>New event</h1>
    <form onSubmit={create}>
      <div class="fields">
        {field("title", "Title", { required: true, maxLength: 200 })}
        {field("id", "Id: a-z, 0-9 and -; stands in every address", { required: true, pattern: "[a-z0-9][a-z0-9\\-]*" })}
        {field("venue", "Venue (may be empty)")}
        {field("currency", "Currency (ISO 4217)", { required: true, pattern: "[A-Z]{3}" })}
        {field("opens", "Opens at, on your clock (empty: now)", { type: "datetime-local" })}
        {field("rate", "People let in a second (empty: nobody yet)", { type: "number", min: "0.1", max: "10000", step: "0.1" })}
        {field("limit", "Seats in one order at most", { type: "number", min: "1", max: "100" })}
      </div>
      <PlanPicker id="plan" onPlan={plans} />
      {plan && <Priced plan={plan} prices={prices} onPrice={(c, p) => price({ ...prices, [c]: p })} />}
      <div class="fields">
        {field("standing", "Standing places besides (empty: none)", { type: "number", min: "1", max: "200000" })}
        {draft.standing && field("standingPrice", "Their price", { inputMode: "decimal", placeholder: "19.00" })}
      </div>
      <details><summary>The file that is sent, as waitctl event create reads it</summary><pre tabIndex={0}>{file}</pre></details>
      <p class="row"><button class="go">Create the event</button><a href="#/">Back to the events</a></p>
    </form>
    <Flaws of={fault} />
  </>;
}
