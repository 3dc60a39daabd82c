// The organiser's console. Where one is stands behind the address's #; the key does not.
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Refused } from "./api/client";
import { Create } from "./console/create";
import { EventPage } from "./console/event";
import { Events } from "./console/events";
import { Money } from "./console/money";
import { Fault } from "./console/parts";
import { Rehearsal } from "./console/rehearsal";
import { api, session } from "./console/session";
import { Webhooks } from "./console/webhooks";

const pages: [at: RegExp, show: (found: RegExpMatchArray) => preact.JSX.Element, title: string][] = [
  [/^#\/e\/([^/]+)$/, (m) => <EventPage key={m[1]} event={decodeURIComponent(m[1]!)} />, "Event"],
  [/^#\/new$/, () => <Create />, "New event"],
  [/^#\/refunds$/, () => <Money />, "Refunds"],
  [/^#\/webhooks$/, () => <Webhooks />, "Webhooks"],
  [/^#\/rehearsal$/, () => <Rehearsal />, "Rehearsal"],
  [/^/, () => <Events />, "Events"],
];

const tabs: [href: string, name: string][] = [["#/", "Events"], ["#/refunds", "Refunds"], ["#/webhooks", "Webhooks"], ["#/rehearsal", "Rehearsal"]];

function Console() {
  const [hash, goes] = useState(location.hash);
  const [known, knows] = useState(session.key !== null);
  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    const follow = () => goes(location.hash);
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  const [, show, title] = pages.find(([at]) => at.test(hash))!;
  useEffect(() => {
    document.title = (known ? title : "Sign in") + " – Waitroom console";
    if (known && hash) main.current?.querySelector("h1")?.focus({ preventScroll: false });
  }, [hash, known]);
  const out = () => { session.forget(); knows(false); };
  return <>
    <header><nav aria-label="Console">
      <b>Waitroom</b>
      {known && tabs.map(([href, name]) => <a key={href} href={href} aria-current={(hash || "#/") === href ? "page" : undefined}>{name}</a>)}
      <a href="/docs">API</a>
      {known && <button class="quiet" onClick={out}>Sign out</button>}
    </nav></header>
    <main id="main" ref={main}>{known ? show(hash.match(pages.find(([at]) => at.test(hash))![0])!) : <SignIn onKey={() => knows(true)} />}</main>
  </>;
}

function SignIn({ onKey }: { onKey: () => void }) {
  const [fault, fails] = useState<unknown>(null);
  const enter = async (e: Event) => {
    e.preventDefault();
    const key = String(new FormData(e.currentTarget as HTMLFormElement).get("key") ?? "").trim();
    session.key = key;
    try {
      await api.ask("get", "/v1/organiser/events");
      session.keep(key);
      onKey();
    } catch (no) {
      if (no instanceof Refused && no.code === "scope_missing") { session.keep(key); onKey(); return; } // it may do something else
      session.forget();
      fails(no);
    }
  };
  return <form class="signin" onSubmit={enter}>
    <h1>Organiser’s console</h1>
    <p><label for="key">Your key</label><input id="key" name="key" type="password" autocomplete="current-password" required placeholder="wrk_…" /></p>
    <p class="soft">As <span class="code">waitctl key create</span> printed it. It stays in this tab, and is gone when you close it.</p>
    <Fault of={fault} />
    <p class="row"><button class="go">Sign in</button></p>
  </form>;
}

render(<Console />, document.getElementById("console")!);
