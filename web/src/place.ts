// The waiting page: place, estimate and verdict are worked out here, from the shared
// document alone. Nothing personal is asked for while one waits.
import { door } from "./fan/door";
import { by, ends, go } from "./fan/page";
import { chime } from "./fan/sound";
import { tell } from "./fan/speech";
import { early, tellSale, watch, type Status } from "./fan/status";
import { say } from "./fan/words";

const place = by("place"), bar = by<HTMLProgressElement>("progress"), at = place.dataset as Record<string, string>;
const number = Number(at["number"]);
// On standby one asks three times less often: still before one is called.
const standby = "standby" in at, slower = 3;
let least = Infinity, next = 5000, verdicts: (string | undefined)[] = [], shown = "", called = at["view"] !== "waiting";

const roughly = (s: number) => s < 90 ? say("time.seconds", { n: Math.max(5, Math.floor(s / 5 + 0.5) * 5) })
  : s < 5400 ? say("time.minutes", { n: Math.floor(s / 60 + 0.5) }) : say("time.hours", { n: (s / 3600).toFixed(1) });

function verdict(d: Status, ahead: number): string {
  if (d.standby_ahead !== null && ahead >= d.standby_ahead) return "unlikely";
  return d.share * d.tickets * (d.inside + d.at_door + d.coming + d.turn * ahead) < d.seats.free ? "likely" : "possible";
}

// It changes when two documents agree. Who was behind the stock and is not any more is
// told; judge gives what is said of that first.
function judge(d: Status, ahead: number): string {
  verdicts = [verdicts[1], verdict(d, ahead)];
  const [before, now = ""] = verdicts, again = by("again");
  if (before !== now && before) return "";
  const news = now !== shown;
  if (news) again.hidden = !(standby && shown === "unlikely");
  shown = now;
  by("verdict").textContent = say("verdict." + shown) + " " + say("verdict.numbers", { ahead, free: d.seats.free, pending: d.seats.pending });
  by("reach").textContent = d.standby_ahead ? say("place.reach", { n: d.standby_ahead }) : "";
  by("reach").hidden = !d.standby_ahead;
  by("standby").hidden = shown !== "unlikely";
  return news && !again.hidden ? say("place.back_again") + " " : "";
}

// Until the opening nobody is let in: that part of the wait is the same for all.
const opens = (d: Status) => Math.max(0, (Date.parse(d.opens_at) - Date.parse(d.as_of)) / 1000);
// How many of those ahead come is a draw, and the share who do is learnt from a sample:
// a late guess grows neither with their number nor with its root alone. What a cap on
// people inside makes of the pace is in the document's wait.
const spread = (d: Status, n: number) => Math.sqrt(n + n * n / (d.turn_seen + 20));
function eta(d: Status, ahead: number): string {
  if (!d.eta_s_per_100 || ahead === 0) return "";
  const { p50, p90 } = d.eta_s_per_100, half = opens(d) + (p50 - opens(d)) * ahead / 100;
  const from = roughly(half), to = roughly(half + (p90 - p50) * spread(d, ahead) / spread(d, 100));
  return from === to ? say("time.about", { from }) : say("time.range", { from, to });
}

// While nobody is let in one asks as if they were, to be there when it goes on.
function poll(d: Status, ahead: number): number {
  const wait = d.rate > 0 ? opens(d) + ahead * d.turn / d.rate : Infinity;
  return 1000 * Math.min(d.poll.max_s, Math.max(d.poll.min_s, wait * d.poll.share_of_eta));
}

function ahead(n: number): void {
  const [before = "", count = "", after = ""] = say("place.ahead", { n }).split(/<\/?b>/), b = document.createElement("b");
  b.textContent = count;
  by("people").replaceChildren(before, b, after);
}

function wait(d: Status, n: number): void {
  by("eta").textContent = eta(d, n);
  ahead(n);
  by("wave").hidden = !(d.wave > 1 && d.state === "open");
  bar.value = Math.max(bar.value, bar.max - n);
  const first = judge(d, n);
  document.title = (by("again").hidden ? say("place.ahead_title", { n }) : say("place.back_again")) + " – " + at["sale"];
  next = n ? poll(d, n) : 1000; // whoever is first is called in a moment
  if (standby && shown === "unlikely" && n) next = Math.min(1000 * d.poll.max_s, slower * next);
  tell(say("place.ahead_said", { n, eta: by("eta").textContent }), first);
}

// Whoever is called has at least the call window, less the time since which it was not
// so yet. After that only the server knows.
let waited = performance.now();
function comeBy(d: Status): void {
  const left = d.call_window_s - (performance.now() - waited) / 1000, come = by("come");
  come.hidden = left < 5;
  if (!come.hidden) ends(come, new Date(Date.parse(d.as_of) + 1000 * left), left);
}
document.getElementById("come")?.addEventListener("over", () => { by("come").hidden = true; });

function turn(d: Status): void {
  called = true;
  const here = document.activeElement, head = by("head");
  head.textContent = say("place.turn");
  document.title = say("place.turn") + " – " + at["sale"];
  by("turn").hidden = false;
  comeBy(d);
  for (const id of ["wait", "live", "check"]) by(id).hidden = true;
  if (here === document.body || by("wait").contains(here)) head.focus();
  tell(say("place.turn_said"));
  chime();
}

watch((d) => {
  if (String(d.epoch) !== at["epoch"] || d.state === "closed") { go(location.href); return; }
  tellSale(d);
  const until = document.getElementById("opens");
  if (until) until.hidden = !early(d);
  least = Math.min(least, Math.max(0, number - d.front)); // never back
  if (called) return;
  if (number < d.front) turn(d);
  else {
    waited = performance.now();
    wait(d, least);
  }
}, () => next * (0.85 + 0.3 * Math.random()));

// Who gives the place up in one tab has none in the others either. They are told by the
// browser alone, and look once that is done.
const tabs = new BroadcastChannel("place." + at["event"]);
tabs.addEventListener("message", () => setTimeout(() => go(location.href), 2000));
document.getElementById("leave")?.addEventListener("submit", () => tabs.postMessage("left"));

door(at["at"]!);
