// What every page's script needs: the reader's words, times in the reader's own
// clock, and counts of the seconds that are left.
"use strict";
(() => {
  const tag = document.documentElement.lang, locale = tag === "en" ? "en-GB" : tag;
  const number = new Intl.NumberFormat(locale), words = JSON.parse(document.getElementById("words")?.textContent || "{}");
  // A text may have a form for one thing and one for many; its places are named.
  const say = (key, places = {}) => {
    const forms = (words[key] || "").split("|"), text = forms[places.n === 1 ? 0 : forms.length - 1];
    return text.replace(/\{(\w+)\}/g, (all, name) => name in places ? typeof places[name] === "number" ? number.format(places[name]) : places[name] : all);
  };
  window.say = { say, locale, has: (key) => key in words, number: (n) => number.format(n) };

  // go leads on by itself, but never over what the reader has just sent.
  let sent = 0;
  document.addEventListener("submit", () => { sent = Date.now(); });
  addEventListener("pageshow", () => { sent = 0; });
  window.go = (to) => {
    if (Date.now() - sent > 15000) location.replace(to);
    else setTimeout(() => window.go(to), 1000);
  };

  const show = (t) => new Intl.DateTimeFormat(locale, "day" in t.dataset
    ? { dateStyle: "long", timeStyle: "short" } : { timeStyle: "short" }).format(new Date(t.dateTime));
  for (const t of document.querySelectorAll("time")) t.textContent = show(t);

  // Who reads another of our languages sooner than this one sees where it is.
  const links = [...document.querySelectorAll(".tongues a")];
  const reads = (a) => navigator.languages.findIndex((l) => {
    const mine = new Intl.Locale(l).maximize(), its = new Intl.Locale(a.lang).maximize();
    return mine.language === its.language && mine.script === its.script;
  });
  const best = links.filter((a) => reads(a) >= 0).sort((a, b) => reads(a) - reads(b))[0];
  if (best && best.lang !== tag) best.classList.add("yours");

  // The server says how many seconds there are: this clock may be wrong, but it
  // runs at the right pace.
  const two = (n) => String(n).padStart(2, "0");
  const count = (s) => s >= 86400 ? say("time.days", { n: Math.floor(s / 86400), h: Math.floor(s / 3600) % 24 })
    : (s >= 3600 ? Math.floor(s / 3600) + ":" + two(Math.floor(s / 60) % 60) : Math.floor(s / 60)) + ":" + two(s % 60);
  const began = performance.now(), counts = [...document.querySelectorAll("[data-left]")];
  const tick = () => {
    for (const el of counts) {
      const left = Math.max(0, Math.round(el.dataset.left - (performance.now() - began) / 1000));
      el.textContent = say("time.left", { time: count(left) });
      if (left > 0 || el.over) continue;
      el.over = true;
      el.dispatchEvent(new CustomEvent("over", { bubbles: true }));
      if (el.dataset.then) setTimeout(() => window.go(el.dataset.then), 1000);
    }
  };
  if (!counts.length) return;
  tick();
  setInterval(tick, 1000);
})();
