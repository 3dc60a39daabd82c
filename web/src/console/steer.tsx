// Pause, resume, stop, close. A stop asks nothing: it can be undone, and a second
// counts. Closing cannot be undone, and asks.
import { useEffect, useState } from "preact/hooks";
import type { Live } from "./live";
import { Dialog, Fault } from "./parts";
import { api, attempt } from "./session";

type Deed = "pause" | "resume" | "stop" | "close";
const does: Record<Deed, string> = { pause: "Paused", resume: "Resumed", stop: "Stopped", close: "Closed for good" };

type Asked = { path: { event: string }; headers: Record<string, string> };
const asks = {
  pause: (a: Asked) => api.ask("post", "/v1/organiser/events/{event}/pause", a),
  resume: (a: Asked) => api.ask("post", "/v1/organiser/events/{event}/resume", a),
  stop: (a: Asked) => api.ask("post", "/v1/organiser/events/{event}/stop", a),
  close: (a: Asked) => api.ask("post", "/v1/organiser/events/{event}/close", a),
};

export function Steer({ event, live }: { event: string; live: Live | null }) {
  const [told, tell] = useState("");
  const [fault, fails] = useState<unknown>(null);
  const [closing, closes] = useState(false);
  const act = async (deed: Deed) => {
    fails(null); tell(""); closes(false);
    try {
      const done = await asks[deed]({ path: { event }, headers: { "Idempotency-Key": attempt() } });
      tell(done.body.change === "unchanged" ? `It was so already: ${does[deed].toLowerCase()}.`
        : done.body.change === "pending" ? "Stopped. It is not written down yet, and will be." : does[deed] + ".");
    } catch (no) { fails(no); }
  };
  useEffect(() => {
    const soon = told ? setTimeout(() => tell(""), 10_000) : 0;
    return () => clearTimeout(soon);
  }, [told]);
  const control = live?.control;
  return <section class="panel" aria-labelledby="steer-h">
    <h2 id="steer-h">Steering</h2>
    <p class="row">
      {control === "paused" ? <button class="go" onClick={() => act("resume")}>Resume</button>
        : <button onClick={() => act("pause")} disabled={control === "closed"}>Pause</button>}
      <button class="stop" onClick={() => act("stop")} disabled={control === "closed"}>Emergency stop</button>
      <button class="quiet" onClick={() => closes(true)} disabled={control === "closed"}>Close the sale…</button>
    </p>
    <p class="soft">Who is inside may still buy. A stop acts before it is written down, and asks nothing; resume undoes it.</p>
    <p role="status" class={told ? "note" : "visually-hidden"}>{told}</p>
    <Fault of={fault} />
    {closing && <Dialog title="Close for good?" yes="Close the sale" onYes={() => act("close")} onNo={() => closes(false)}>
      <p>Nobody is let in or may claim from then on. What is in carts may still be paid. This cannot be undone.</p>
    </Dialog>}
  </section>;
}
