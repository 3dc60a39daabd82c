// The waiting page: place, estimate and verdict are worked out here, from the
// shared document alone. Nothing personal is asked for while one waits.
"use strict";
(() => {
  const place = document.getElementById("place");
  if (!place) return;
  const $ = (id) => document.getElementById(id);
  const words = window.say, { say } = words, number = Number(place.dataset.number), bar = $("progress");
  // On standby one asks three times less often: still before one is called.
  const standby = "standby" in place.dataset, slower = 3;
  let least = Infinity, next = 5000, verdicts = [], shown = "", called = place.dataset.view !== "waiting";
  window.nextPoll = () => next * (0.85 + 0.3 * Math.random());

  // Spoken politely, and at most once in half a minute; what is newest waits.
  let spoken = -Infinity, waiting = "", first = "", timer = 0;
  const speak = () => { $("say").textContent = first + waiting; first = ""; spoken = performance.now(); timer = 0; };
  const tell = (text) => {
    waiting = text;
    if (!timer) timer = setTimeout(speak, Math.max(0, spoken + 30000 - performance.now()));
  };

  const roughly = (s) => s < 90 ? say("time.seconds", { n: Math.max(5, Math.floor(s / 5 + 0.5) * 5) })
    : s < 5400 ? say("time.minutes", { n: Math.floor(s / 60 + 0.5) }) : say("time.hours", { n: (s / 3600).toFixed(1) });
  const verdict = (d, ahead) => {
    if (d.standby_ahead !== null && ahead >= d.standby_ahead) return "unlikely";
    return d.share * d.tickets * (d.inside + d.at_door + d.coming + d.turn * ahead) < d.seats.free ? "likely" : "possible";
  };
  // It changes when two documents agree. Who was behind the stock and is not any
  // more is told.
  const judge = (d, ahead) => {
    verdicts = [verdicts[1], verdict(d, ahead)];
    if (verdicts[0] !== verdicts[1] && verdicts[0]) return;
    if (verdicts[1] !== shown) $("again").hidden = !(standby && shown === "unlikely");
    if (verdicts[1] !== shown && !$("again").hidden) first = say("place.back_again") + " ";
    shown = verdicts[1];
    $("verdict").textContent = say("verdict." + shown) + " " + say("verdict.numbers", { ahead, free: d.seats.free, pending: d.seats.pending });
    $("reach").textContent = d.standby_ahead ? say("place.reach", { n: d.standby_ahead }) : "";
    $("reach").hidden = !d.standby_ahead;
    $("standby").hidden = shown !== "unlikely";
  };
  // Until the opening nobody is let in: that part of the wait is the same for all.
  const opens = (d) => Math.max(0, (Date.parse(d.opens_at) - Date.parse(d.as_of)) / 1000);
  // How many of those ahead come is a draw, and the share who do is learnt from a
  // sample: a late guess grows neither with their number nor with its root alone.
  // What a cap on people inside makes of the pace is in the document's wait.
  const spread = (d, n) => Math.sqrt(n + n * n / (d.turn_seen + 20));
  const eta = (d, ahead) => {
    if (!d.eta_s_per_100) return null;
    const { p50, p90 } = d.eta_s_per_100, half = opens(d) + (p50 - opens(d)) * ahead / 100;
    return [half, half + (p90 - p50) * spread(d, ahead) / spread(d, 100)];
  };
  // While nobody is let in one asks as if they were, to be there when it goes on.
  const poll = (d, ahead) => {
    const wait = d.rate > 0 ? opens(d) + ahead * d.turn / d.rate : Infinity;
    return 1000 * Math.min(d.poll.max_s, Math.max(d.poll.min_s, wait * d.poll.share_of_eta));
  };
  const wait = (d, ahead) => {
    const span = eta(d, ahead);
    const [from, to] = span ? span.map(roughly) : [];
    $("eta").textContent = !span || ahead === 0 ? "" : from === to ? say("time.about", { from }) : say("time.range", { from, to });
    const [before, count, after] = say("place.ahead", { n: ahead }).split(/<\/?b>/);
    const b = document.createElement("b");
    b.textContent = count;
    $("people").replaceChildren(before, b, after);
    $("wave").hidden = !(d.wave > 1 && d.state === "open");
    bar.value = Math.max(bar.value, bar.max - ahead);
    judge(d, ahead);
    document.title = ($("again").hidden ? say("place.ahead_title", { n: ahead }) : say("place.back_again")) + " – " + place.dataset.sale;
    next = ahead ? poll(d, ahead) : 1000; // whoever is first is called in a moment
    if (standby && shown === "unlikely" && ahead) next = Math.min(1000 * d.poll.max_s, slower * next);
    tell(say("place.ahead_said", { n: ahead, eta: $("eta").textContent }));
  };
  // Two soft tones. A browser lets a page sound only after it was asked to, by the
  // reader's own hand: that is the box.
  let sounds = null;
  $("sound")?.addEventListener("change", (e) => {
    sounds ||= new AudioContext();
    if (e.target.checked) sounds.resume().then(chime);
  });
  const chime = () => [660, 880].forEach((hertz, i) => {
    const tone = sounds.createOscillator(), loud = sounds.createGain(), at = sounds.currentTime + i * 0.25;
    tone.frequency.value = hertz;
    loud.gain.setValueAtTime(0.15, at);
    loud.gain.exponentialRampToValueAtTime(0.001, at + 0.6);
    tone.connect(loud).connect(sounds.destination);
    tone.start(at);
    tone.stop(at + 0.6);
  });
  const turn = () => {
    called = true;
    const here = document.activeElement;
    $("head").textContent = say("place.turn");
    document.title = say("place.turn") + " – " + place.dataset.sale;
    $("turn").hidden = false;
    for (const id of ["wait", "live", "check"]) $(id).hidden = true;
    if (here === document.body || $("wait").contains(here)) $("head").focus();
    tell(say("place.turn_said"));
    if ($("sound").checked) chime();
  };
  document.addEventListener("status", ({ detail: d }) => {
    if (String(d.epoch) !== place.dataset.epoch || d.state === "closed") { window.go(location.href); return; }
    $("sale").textContent = words.plain(d) ? "" : words.sale(d);
    $("sale").hidden = !$("sale").textContent;
    if ($("opens")) $("opens").hidden = !words.early(d);
    least = Math.min(least, Math.max(0, number - d.front)); // never back
    if (called) return;
    if (number < d.front) turn(); else wait(d, least);
  });

  // Who gives the place up in one tab has none in the others either. They are told
  // by the browser alone, and look once that is done.
  const tabs = new BroadcastChannel("place." + place.dataset.event);
  tabs.addEventListener("message", () => setTimeout(() => window.go(location.href), 2000));
  const leave = $("leave");
  if (leave) leave.addEventListener("submit", () => tabs.postMessage("left"));

  // What the answer's page says: of the lane, and whether there is still a place
  // that goes in. One that is over, or was left elsewhere, does not.
  const stands = (page) => {
    const there = new DOMParser().parseFromString(page, "text/html"), lane = there.getElementById("late");
    if (lane) $("late").hidden = lane.hidden;
    const still = there.getElementById("place");
    return still && (still.dataset.view === "called" || still.dataset.view === "waiting");
  };

  // At the door: who came first goes in first, and the page goes on asking.
  const form = $("turn").querySelector("form"), button = form.querySelector("button");
  form.addEventListener("submit", async (e) => {
    e.preventDefault();
    button.disabled = true;
    for (let tries = 0; ; tries++) {
      const res = await fetch(form.action, { method: "POST", redirect: "manual" }).catch(() => null);
      if (res && res.type === "opaqueredirect") { location.assign(place.dataset.at + "/seats"); return; }
      if (res && res.status === 403) { form.submit(); return; } // something is asked for first: its page says what
      if (res && res.ok && !stands(await res.text())) { location.replace(place.dataset.at + "/place"); return; }
      $("door").textContent = say("place.at_door_auto");
      tell(say("place.at_door_short"));
      await new Promise((r) => setTimeout(r, res && res.ok ? 500 + 500 * Math.random() : 2000 + 3000 * Math.random()));
      if (tries > 30 && document.hidden) break; // nobody looks: let others in
    }
    button.disabled = false;
    $("door").textContent = say("place.still_there");
  });
})();
