// Keeps the shared figures of a page true: one document, the same for everyone.
import { Refused, type Schemas } from "../api/client";
import { by } from "./page";
import { shared } from "./shared";
import { has, locale, number, say } from "./words";

export type Status = Schemas["Status"];

export const early = (d: Status): boolean => ["scheduled", "lobby", "drawing"].includes(d.state);
export const plain = (d: Status): boolean => d.state === "open" || early(d);
export const sale = (d: Status): string => d.state === "closed_on_doubt"
  ? say("doubt.sentence", { why: say("doubt." + (has("doubt." + d.reason) ? d.reason : "unknown")) }) : say("state." + d.state);

// tellSale shows what the sale does, where that is out of the ordinary.
export function tellSale(d: Status): void {
  const el = by("sale");
  el.textContent = plain(d) ? "" : sale(d);
  el.hidden = !el.textContent;
}

// watch shows each document that says something new, and has each told. next is in how
// many milliseconds the next one is wanted.
export function watch(each: (d: Status) => void, next: () => number): void {
  const box = document.querySelector<HTMLElement>(".stock");
  if (!box) return;
  const event = box.dataset["event"]!, asof = by("asof"), time = new Intl.DateTimeFormat(locale, { timeStyle: "medium" });

  const bar = ({ seats }: Status) => {
    const all = seats.sold + seats.pending + seats.free || 1, part = (n: number) => (100 * n / all).toFixed(2) + "%";
    const sold = box.querySelector("rect.sold")!, pending = box.querySelector("rect.pending")!;
    sold.setAttribute("width", part(seats.sold));
    pending.setAttribute("x", part(seats.sold));
    pending.setAttribute("width", part(seats.pending));
  };
  const show = (d: Status) => {
    const flat: Record<string, unknown> = { ...d, ...d.seats };
    for (const el of document.querySelectorAll<HTMLElement>("dd[data-f]")) {
      const n = flat[el.dataset["f"]!];
      el.textContent = typeof n === "number" ? number(n) : say("stock.unknown");
    }
    bar(d);
    each(d);
  };

  // The documents of several replicas come in any order: an earlier one than was shown
  // says nothing new, but that its replica is in doubt.
  let newest: Status | null = null;
  const later = (d: Status) => !newest || d.epoch > newest.epoch || d.epoch === newest.epoch && d.version > newest.version;
  const earlier = (d: Status) => newest && (d.epoch < newest.epoch || d.epoch === newest.epoch && d.version < newest.version && d.state !== "closed_on_doubt");

  // A cache in front goes on for half a minute when nobody answers it. What has not
  // grown newer for longer says nothing of the sale: what is not known is shut.
  let newer = Date.now(), stamp = "";
  const doubt = () => {
    if (!newest || newest.state === "closed" || Date.now() - newer <= 30000) return false;
    show({ ...newest, state: "closed_on_doubt", reason: "" });
    return true;
  };
  // cutOff is this browser, not the sale.
  const cutOff = (fault: unknown) => fault instanceof TypeError || fault instanceof Refused && fault.status === 0;

  let tag: string | null = null, failed = 0, seen = Date.now();
  const poll = async () => {
    try {
      const { body: d, etag } = await shared.ask("get", "/v1/public/events/{event}/status", { path: { event }, headers: tag ? { "If-None-Match": tag } : {} });
      if (d) {
        tag = etag;
        if (d.as_of > stamp) { stamp = d.as_of; newer = Date.now(); }
        if (!earlier(d)) {
          if (later(d)) newest = d;
          if (!doubt()) show(d);
        }
      } else doubt();
      failed = 0;
      seen = Date.now();
      asof.textContent = say("stock.asof", { time: time.format(newer) });
    } catch (fault) {
      if (!cutOff(fault)) doubt();
      if (++failed > 1) asof.textContent = say("stock.silent", { time: time.format(seen) });
    }
  };
  // One request chain: the next is asked for when the last is through. A hidden page
  // asks for nothing.
  let timer = 0, asking = false;
  const loop = async () => {
    clearTimeout(timer);
    if (document.hidden || asking) return;
    asking = true;
    await poll();
    asking = false;
    timer = setTimeout(loop, Math.min(60000, next() * 2 ** Math.min(failed, 4)));
  };
  document.addEventListener("visibilitychange", loop);
  addEventListener("pageshow", (e) => { if (e.persisted) void loop(); });
  void loop();
}
