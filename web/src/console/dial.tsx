// The rate dial: what a rate would mean is asked before it is set.
import { useEffect, useState } from "preact/hooks";
import { Refused, type Schemas } from "../api/client";
import type { Watched } from "./live";
import { outlook } from "./live";
import { Dialog, Fault } from "./parts";
import { api } from "./session";
import { bounds, clock, num, rate as perSecond, span } from "./words";

const most = 10000;
const at = (x: number) => { const v = 10 ** (x / 250); return v < 10 ? Math.round(v * 10) / 10 : Math.round(v); }; // 0..1000 to 1..10,000
const back = (rate: number) => Math.round(250 * Math.log10(Math.max(1, rate)));

export function Dial({ event, watched }: { event: string; watched: Watched }) {
  const set = watched.live?.rate_set ?? null;
  const [wish, wants] = useState<number | null>(null);
  const [meant, asks] = useState<string | null>(null); // what is to be confirmed
  const [told, tell] = useState("");
  const [fault, fails] = useState<unknown>(null);
  const [busy, works] = useState(false);
  const value = wish ?? set ?? 1;
  useEffect(() => { // what was said of an earlier rate is over
    const soon = told ? setTimeout(() => tell(""), 10_000) : 0;
    return () => clearTimeout(soon);
  }, [told]);
  const look = useOutlook(event, wish, watched);

  // send names the settings that it was made from: whoever changed them meanwhile is
  // not overruled unseen.
  const send = async (confirm?: string) => {
    works(true); fails(null); tell(""); asks(null);
    try {
      const now = await api.ask("get", "/v1/organiser/events/{event}/settings", { path: { event } });
      const was = now.body.rate;
      if (set !== null && was !== set && !confirm) {
        tell(`Somebody set ${perSecond(was)} meanwhile; you saw ${perSecond(set)}. Nothing was set: look again.`);
        return;
      }
      const headers: Record<string, string> = { "If-Match": now.etag ?? "" };
      if (confirm) headers["Confirm"] = confirm;
      const settings: Schemas["Settings"] = { ...now.body, rate: value };
      const done = await api.ask("put", "/v1/organiser/events/{event}/settings", { path: { event }, headers, body: settings });
      tell(`Set to ${perSecond(done.body.rate)}; it is in force within a second.`);
      wants(null);
    } catch (no) {
      if (no instanceof Refused && no.code === "confirm_needed") asks(String(no.more["confirm"]));
      else if (no instanceof Refused && no.code === "settings_changed") tell("Somebody changed the settings at the same moment (412). Nothing was set: look again.");
      else fails(no);
    } finally { works(false); }
  };

  return <section class="panel" aria-labelledby="dial-h">
    <h2 id="dial-h">Rate</h2>
    <p class="dialled"><label for="rate">People let in a second</label>
      <input id="rate" type="number" min="0.1" max={most} step="0.1" value={value} onInput={(e) => { const v = Number(e.currentTarget.value); if (v > 0 && v <= most) wants(v); }} />
      <button class="go" disabled={busy || value === set} onClick={() => send()}>{value === set ? "Set" : `Set ${perSecond(value)}`}</button>
      {wish !== null && wish !== set && <button onClick={() => { wants(null); tell(""); }}>Back to {perSecond(set)}</button>}
    </p>
    <input class="dial" type="range" min="0" max="1000" aria-label="Rate, on a logarithmic scale" aria-valuetext={perSecond(value)} value={back(value)} onInput={(e) => wants(at(Number(e.currentTarget.value)))} />
    <Meaning look={look} watched={watched} />
    <p role="status" class={told ? "note" : "visually-hidden"}>{told}</p>
    <Fault of={fault} />
    {meant && <Dialog title="More than twice as fast" yes={`Yes, ${perSecond(value)}`} onYes={() => send(meant)} onNo={() => asks(null)}>
      <p>From {perSecond(set)} to {perSecond(value)} is more than double. What stands behind the line finds out at once: claimers, and the payment provider.</p>
    </Dialog>}
  </section>;
}

type Look = Awaited<ReturnType<typeof outlook>>;

// useOutlook asks what the wish would mean, once it has stood for a moment.
function useOutlook(event: string, wish: number | null, watched: Watched): Look | null {
  const [look, see] = useState<Look | null>(null);
  const second = watched.past.length;
  useEffect(() => {
    if (wish === null) { see(null); return; }
    const soon = setTimeout(() => outlook(event, wish).then(see, () => see(null)), 150);
    return () => clearTimeout(soon);
  }, [event, wish, Math.floor(second / 2)]);
  return wish === null ? watched.look : look;
}

function Meaning({ look, watched }: { look: Look | null; watched: Watched }) {
  const o = look?.outlook, n = watched.last;
  if (!look || !n) return <p class="meaning soft">What it means cannot be said just now.</p>;
  if (look.rate_asked === null) return <p class="meaning">No rate is set, so nobody is let in.</p>;
  if (!o) return <p class="meaning soft">What {perSecond(look.rate_asked)} means cannot be said just now.</p>;
  const stands = watched.live?.state === "paused" || watched.live?.state === "closed_on_doubt" ? "Once it goes on, at " : "At ";
  const sold = n.seats.free === 0 ? "everything is sold or in carts" : o.sold_out_in_s === null
    ? "those who are here leave seats over" : `sold out at ${clock(new Date(Date.now() + 1000 * o.sold_out_in_s))}`;
  const last = n.waiting ? `the last in line waits about ${span(o.last_wait_s.p50)} (nine times in ten no more than ${span(o.last_wait_s.p90)})` : "nobody waits";
  return <div class="meaning">
    <p><b>{stands}{perSecond(look.rate_asked)}</b>: {sold}, {last}.</p>
    {o.rate < look.rate_asked && <p class="state">{perSecond(o.rate)} would be let in: {bounds[look.limited_by]} allows no more now.</p>}
    <p class="soft">Of {num(o.likely + o.possible + o.unlikely)} who wait, {num(o.likely)} are told that seats are likely, {num(o.possible)} possible, {num(o.unlikely)} that the queue ahead exceeds the tickets.</p>
  </div>;
}
