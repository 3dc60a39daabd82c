import { Fault, useAsked } from "./parts";
import { api } from "./session";
import { moment, num } from "./words";

const tones: Record<string, string> = { active: "open", delivered: "open", dead: "paused", waiting: "soon", sending: "soon" };

export function Webhooks() {
  const endpoints = useAsked(async () => (await api.ask("get", "/v1/organiser/endpoints")).body, 5000, []);
  const deliveries = useAsked(async () => (await api.ask("get", "/v1/organiser/deliveries", { query: { limit: 30 } })).body, 5000, []);
  return <>
    <h1 tabIndex={-1}>Webhooks</h1>
    <h2>Endpoints</h2>
    <Fault of={endpoints.fault} />
    {endpoints.is && (endpoints.is.endpoints.length === 0 ? <p>There is no endpoint.</p> : <ul class="items">{endpoints.is.endpoints.map((e) => <li key={e.id}>
      <h3>{e.id}</h3>
      <p><span class={"badge " + (tones[e.state] ?? "over")}>{e.state}{e.reason ? ` (${e.reason})` : ""}</span></p>
      {e.health && <p class="soft">{num(e.health.waiting)} waiting, {num(e.health.sending)} being sent, {num(e.health.dead)} dead; {num(e.health.failures)} failures in a row{e.health.last_success_at ? `; delivered last ${moment(e.health.last_success_at)}` : ""}</p>}
    </li>)}</ul>)}
    <h2 id="deliveries-h">Deliveries</h2>
    <Fault of={deliveries.fault} />
    {deliveries.is && (deliveries.is.deliveries.length === 0 ? <p>Nothing was told yet.</p> : <div class="wide" tabIndex={0} role="group" aria-labelledby="deliveries-h"><table>
      <thead><tr><th scope="col">Notice</th><th scope="col">About</th><th scope="col">To</th><th scope="col">Became true</th><th scope="col">Status</th></tr></thead>
      <tbody>{deliveries.is.deliveries.map((d) => <tr key={d.id}>
        <td><a href={"/webhooks/deliveries/" + d.id}>{d.id}: {d.kind}</a></td><td>{d.subject}</td><td>{d.endpoint}</td><td>{moment(d.at)}</td>
        <td><span class={"badge " + (tones[d.status] ?? "over")}>{d.status}{d.reason ? ` (${d.reason})` : ""}</span></td>
      </tr>)}</tbody></table></div>)}
    <p class="act"><a class="button" href="/webhooks">Test, drain, replay</a></p>
    <p class="soft">That page works without a script. It asks for your name, and for the same key as the password.</p>
  </>;
}
