// What an event does now, second by second, as far back as this tab has watched.
import { useEffect, useState } from "preact/hooks";
import type { Schemas } from "../api/client";
import { api } from "./session";

export type Live = Schemas["Live"];
export type Numbers = Schemas["Numbers"];
type Claims = Awaited<ReturnType<typeof claims>>;
type Look = Awaited<ReturnType<typeof outlook>>;

const claims = async () => (await api.ask("get", "/v1/organiser/claims")).body;
export const outlook = async (event: string, rate?: number) =>
  (await api.ask("get", "/v1/organiser/events/{event}/outlook", { path: { event }, query: { rate } })).body;

export interface Second {
  t: number; // Unix, s
  n: Numbers | null;
  letIn: number | null; // a second
  set: number | null;
  claims: Claims | null;
  told: [likely: number, possible: number, unlikely: number] | null; // of 100
}

export interface Watched {
  live: Live | null; // as it was last known
  last: Numbers | null; // and its numbers, which may be older
  at: number | null; // when those were true, by performance.now()
  claims: Claims | null;
  look: Look | null; // at the rate that is set
  past: Second[];
  fault: unknown;
}

const kept = 15 * 60; // seconds
const nothing: Watched = { live: null, last: null, at: null, claims: null, look: null, past: [], fault: null };

export function useWatched(event: string): Watched {
  const [watched, set] = useState<Watched>(nothing);
  useEffect(() => {
    let over = false, timer = 0, is = nothing;
    set(nothing);
    const second = async () => {
      if (!document.hidden) {
        const began = performance.now();
        const [live, claimed, look] = await Promise.allSettled([
          api.ask("get", "/v1/organiser/events/{event}/live", { path: { event } }), claims(), outlook(event),
        ]);
        if (over) return;
        is = next(is, began, live.status === "fulfilled" ? live.value.body : null, claimed.status === "fulfilled" ? claimed.value : null,
          look.status === "fulfilled" ? look.value : null, live.status === "rejected" ? live.reason : null);
        set(is);
      }
      if (!over) timer = window.setTimeout(second, 1000);
    };
    void second();
    return () => { over = true; clearTimeout(timer); };
  }, [event]);
  return watched;
}

// next is what is known after one more second. Numbers that did not come stay as they
// were, and grow old.
function next(is: Watched, began: number, live: Live | null, claimed: Claims | null, look: Look | null, fault: unknown): Watched {
  const n = live?.numbers ?? null, before = is.past.at(-1);
  const t = live ? Date.parse(live.as_of) / 1000 : (before ? before.t + 1 : Date.now() / 1000);
  const letIn = n && before?.n && t > before.t ? Math.max(0, (n.let_in - before.n.let_in) / (t - before.t)) : null;
  const o = look?.outlook, waiting = o ? o.likely + o.possible + o.unlikely : 0;
  const second: Second = {
    t, n, letIn, set: live?.rate_set ?? null, claims: claimed,
    told: o && waiting ? [100 * o.likely / waiting, 100 * o.possible / waiting, 100 * o.unlikely / waiting] : null,
  };
  return {
    live: live ?? is.live, last: n ?? is.last, at: n ? began - 1000 * (live?.age_s ?? 0) : is.at, claims: claimed ?? is.claims, look: look ?? is.look,
    past: !before || t > before.t ? [...is.past.slice(-kept), second] : is.past, fault,
  };
}
