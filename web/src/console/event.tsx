import { Charts } from "./charts";
import { Dial } from "./dial";
import { useWatched, type Watched } from "./live";
import { PlanImport } from "./plan";
import { Age, Fault, Figure, staleAfter, useAsked } from "./parts";
import { api } from "./session";
import { Steer } from "./steer";
import { Trail } from "./trail";
import { bounds, num, rate, states } from "./words";

export function EventPage({ event }: { event: string }) {
  const watched = useWatched(event);
  const { live, last, at } = watched;
  const title = useAsked(async () => (await api.ask("get", "/v1/organiser/events")).body.events.find((e) => e.id === event)?.title, null, [event]).is;
  const [says, tone] = states[live?.state ?? ""] ?? ["Not known yet", "soon"];
  const stale = at === null || (performance.now() - at) / 1000 > staleAfter;
  return <>
    <h1 tabIndex={-1}>{title ?? event}</h1>
    <p class="venue code">{event}</p>
    <div class="standing"><p class={"badge " + tone}>{says}{live?.reason ? ` (${live.reason})` : ""}</p><Age at={at} /></div>
    <Fault of={watched.fault} />
    <div class={stale ? "known stale" : "known"}>
      <h2 class="visually-hidden">Now</h2>
      {last ? <Now watched={watched} /> : <p class="soft">Waiting for the first numbers.</p>}
    </div>
    <div class="two"><Dial event={event} watched={watched} /><Steer event={event} live={live} /></div>
    <h2>As this tab has watched it</h2>
    <Charts past={watched.past} />
    <PlanImport event={event} />
    <Trail event={event} version={live?.control ?? ""} />
  </>;
}

function Now({ watched }: { watched: Watched }) {
  const n = watched.last!, claims = watched.claims, all = n.seats.free + n.seats.pending + n.seats.sold;
  const by = watched.look?.limited_by;
  return <dl class="figures">
    <Figure name="Waiting" value={num(n.waiting)} more={`${num(n.coming)} called, ${num(n.at_door)} at the door`} />
    <Figure name="Let in, last minute" value={num(n.let_in_last_minute)} more={`${num(n.let_in)} in all, ${num(n.inside)} inside`} />
    <Figure name="Rate in force" value={rate(n.rate)} more={by && by !== "organiser" ? `bounded by ${bounds[by]}` : `you set ${rate(watched.live?.rate_set)}`} />
    <Figure name="Free seats" value={num(n.seats.free)} more={`of ${num(all)}; ${num(n.seats.held_back)} held back`} />
    <Figure name="In carts" value={num(n.seats.pending)} more="may come back" />
    <Figure name="Sold" value={num(n.seats.sold)} more={`wave ${n.wave}`} />
    <Figure name="Who buy, of those let in" value={Math.round(100 * n.share) + " %"} more={`${n.tickets.toFixed(1)} tickets each`} />
    <Figure name="Claimers" value={claims ? num(claims.claimers) : "unknown"} more={claims ? `${claims.claims_per_s.toFixed(0)}/s, p95 ${claims.p95_ms.toFixed(0)} ms` : ""} />
  </dl>;
}
