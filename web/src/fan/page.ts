// What every page does: times in the reader's own clock, the seconds that are left,
// and where the page is in a language that the reader knows better.
import { locale, say, tag } from "./words";

// by finds an element that the page always has.
export const by = <E extends HTMLElement = HTMLElement>(id: string): E => document.getElementById(id) as E;

// go leads on by itself, but never over what the reader has just sent.
let sent = 0;
document.addEventListener("submit", () => { sent = Date.now(); });
addEventListener("pageshow", () => { sent = 0; });
export function go(to: string): void {
  if (Date.now() - sent > 15000) location.replace(to);
  else setTimeout(() => go(to), 1000);
}

// read is another page of ours, as the server gives it now; null: it did not come.
export async function read(address: string): Promise<Document | null> {
  const res = await fetch(address).catch(() => null);
  return res && res.ok ? parsed(await res.text()) : null;
}
export const parsed = (text: string): Document => new DOMParser().parseFromString(text, "text/html");

const whole = new Intl.DateTimeFormat(locale, { dateStyle: "long", timeStyle: "short" });
const short = new Intl.DateTimeFormat(locale, { timeStyle: "short" });
const show = (t: HTMLTimeElement) => { t.textContent = ("day" in t.dataset ? whole : short).format(new Date(t.dateTime)); };
for (const t of document.querySelectorAll("time")) show(t);

// Who reads another of our languages sooner than this one sees where it is.
const rank = (a: HTMLAnchorElement) => navigator.languages.findIndex((l) => {
  const mine = new Intl.Locale(l).maximize(), its = new Intl.Locale(a.lang).maximize();
  return mine.language === its.language && mine.script === its.script;
});
const best = [...document.querySelectorAll<HTMLAnchorElement>(".tongues a")].filter((a) => rank(a) >= 0).sort((a, b) => rank(a) - rank(b))[0];
if (best && best.lang !== tag) best.classList.add("yours");

const two = (n: number) => String(n).padStart(2, "0");
const count = (s: number) => s >= 86400 ? say("time.days", { n: Math.floor(s / 86400), h: Math.floor(s / 3600) % 24 })
  : (s >= 3600 ? Math.floor(s / 3600) + ":" + two(Math.floor(s / 60) % 60) : Math.floor(s / 60)) + ":" + two(s % 60);

// The server says how many seconds there are: this clock may be wrong, but it runs at
// the right pace.
const began = performance.now(), over = new Set<HTMLElement>();
const counts = [...document.querySelectorAll<HTMLElement>("[data-left]")];
function tick(): void {
  for (const el of counts) {
    const left = Math.max(0, Math.round(Number(el.dataset["left"]) - (performance.now() - began) / 1000));
    el.textContent = say("time.left", { time: count(left) });
    if (left > 0 || over.has(el)) continue;
    over.add(el);
    el.dispatchEvent(new CustomEvent("over", { bubbles: true }));
    const then = el.dataset["then"];
    if (then) setTimeout(() => go(then), 1000);
  }
}

// ends has a text's time and count be of a moment of the server's clock, so many seconds
// from now.
export function ends(text: HTMLElement, at: Date, seconds: number): void {
  const t = text.querySelector("time")!, el = text.querySelector<HTMLElement>("[data-left]")!;
  t.dateTime = at.toISOString();
  show(t);
  over.delete(el);
  el.dataset["left"] = String(seconds + (performance.now() - began) / 1000);
  tick();
}

if (counts.length) {
  tick();
  setInterval(tick, 1000);
}
