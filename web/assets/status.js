// Keeps the shared figures of a page true: one document, the same for everyone.
"use strict";
(() => {
  const box = document.querySelector("[data-status]");
  if (!box) return;
  const { say, number, has, locale } = window.say, asof = document.getElementById("asof");
  const time = new Intl.DateTimeFormat(locale, { timeStyle: "medium" });
  const early = (d) => ["scheduled", "lobby", "drawing"].includes(d.state);
  const doubted = (d) => say("doubt.sentence", { why: say("doubt." + (has("doubt." + d.reason) ? d.reason : "unknown")) });
  Object.assign(window.say, { early, plain: (d) => d.state === "open" || early(d), sale: (d) => d.state === "closed_on_doubt" ? doubted(d) : say("state." + d.state) });

  const bar = (d) => {
    const all = d.seats.sold + d.seats.pending + d.seats.free || 1, part = (n) => (100 * n / all).toFixed(2) + "%";
    const sold = box.querySelector("rect.sold"), pending = box.querySelector("rect.pending");
    sold.setAttribute("width", part(d.seats.sold));
    pending.setAttribute("x", part(d.seats.sold));
    pending.setAttribute("width", part(d.seats.pending));
  };
  const draw = (d) => {
    const flat = { ...d, ...d.seats };
    for (const el of document.querySelectorAll("dd[data-f]")) el.textContent = flat[el.dataset.f] === null ? say("stock.unknown") : number(flat[el.dataset.f]);
    bar(d);
    document.dispatchEvent(new CustomEvent("status", { detail: d }));
  };

  // The documents of several replicas come in any order: an earlier one than was
  // shown says nothing new, but that its replica is in doubt.
  let newest = { epoch: 0, version: 0 };
  const earlier = (d) => d.epoch < newest.epoch || d.epoch === newest.epoch && d.version < newest.version && d.state !== "closed_on_doubt";

  // A cache in front goes on for half a minute when nobody answers it. What has
  // not grown newer for longer says nothing of the sale: what is not known is shut.
  let newer = Date.now(), stamp = "";
  const doubt = () => {
    const old = newest.seats && newest.state !== "closed" && Date.now() - newer > 30000;
    if (old) draw({ ...newest, state: "closed_on_doubt", reason: "" });
    return old;
  };

  let tag = "", failed = 0, seen = Date.now();
  const poll = async () => {
    try {
      const res = await fetch(box.dataset.status, tag ? { headers: { "If-None-Match": tag } } : {});
      if (res.status === 200) {
        tag = res.headers.get("ETag") || "";
        const d = await res.json();
        if (d.as_of > stamp) { stamp = d.as_of; newer = Date.now(); }
        if (!earlier(d)) {
          if (d.epoch > newest.epoch || d.version > newest.version) newest = d;
          if (!doubt()) draw(d);
        }
      } else if (res.status === 304) doubt();
      else throw new Error(res.status);
      failed = 0;
      seen = Date.now();
      asof.textContent = say("stock.asof", { time: time.format(newer) });
    } catch (e) {
      if (!(e instanceof TypeError)) doubt(); // which it is when it is this browser that is cut off
      if (++failed > 1) asof.textContent = say("stock.silent", { time: time.format(seen) });
    }
  };
  // One request chain: the next is asked for when the last is through. A hidden
  // page asks for nothing.
  let timer = 0, asking = false;
  const loop = async () => {
    clearTimeout(timer);
    if (document.hidden || asking) return;
    asking = true;
    await poll();
    asking = false;
    timer = setTimeout(loop, Math.min(60000, (window.nextPoll ? window.nextPoll() : 2000) * 2 ** Math.min(failed, 4)));
  };
  document.addEventListener("visibilitychange", loop);
  addEventListener("pageshow", (e) => { if (e.persisted) loop(); });
  addEventListener("DOMContentLoaded", loop); // the page's own script listens by then
})();
