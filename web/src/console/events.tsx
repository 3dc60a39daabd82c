import { Fault, useAsked } from "./parts";
import { api } from "./session";
import { moment } from "./words";

const says: Record<string, [string, string]> = { run: ["Runs", "open"], paused: ["Paused", "paused"], closed: ["Closed", "over"] };

export function Events() {
  const asked = useAsked(async () => (await api.ask("get", "/v1/organiser/events")).body, 5000, []);
  return <>
    <h1 tabIndex={-1}>Events{asked.is ? ` of ${asked.is.organiser}` : ""}</h1>
    <Fault of={asked.fault} />
    {asked.is && (asked.is.events.length === 0 ? <p>There is no event yet.</p> : <ul class="events">
      {asked.is.events.map((e) => <li key={e.id}>
        <h2><a href={"#/e/" + e.id}>{e.title}</a></h2>
        <p class={"badge " + says[e.control]![1]}>{says[e.control]![0]}</p>
        <p class="soft"><span class="code">{e.id}</span>, {new Date(e.opens_at) > new Date() ? "opens" : "opened"} {moment(e.opens_at)}</p>
      </li>)}
    </ul>)}
    <p class="act"><a class="button" href="#/new">New event</a></p>
  </>;
}
