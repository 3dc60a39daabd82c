// The waiting page: place, estimate and verdict are worked out here, from the
// shared document alone. Nothing personal is asked for while one waits.
"use strict";
(() => {
  const place = document.getElementById("place");
  if (!place) return;
  const number = Number(place.dataset.number);
  const $ = (id) => document.getElementById(id);
  const auto = $("auto");
  if (auto) auto.hidden = true;
  let least = Infinity, next = 5000, spoken = 0, last = [], called = place.dataset.state !== "waiting";
  window.nextPoll = () => next * (0.85 + 0.3 * Math.random());

  const minutes = (s) => (s < 90 ? Math.max(5, Math.round(s / 5) * 5) + " s" : Math.round(s / 60) + " min");
  const say = (text) => {
    if (Date.now() - spoken < 30000) return;
    spoken = Date.now();
    $("say").textContent = text;
  };
  const words = {
    likely: "There should be tickets for you.",
    possible: "There may be tickets for you, if some in carts come back.",
    unlikely: "The queue ahead already exceeds the remaining tickets. You may stay: tickets do come back.",
  };
  const verdict = (d, ahead) => {
    const demand = d.share * d.tickets * (d.inside + d.at_door + d.turn * ahead);
    if (ahead * d.tickets > d.seats.free + d.seats.pending) return "unlikely";
    if (demand < d.seats.free) return "likely";
    return demand < d.seats.free + d.seats.pending ? "possible" : "unlikely";
  };
  document.addEventListener("status", ({ detail: d }) => {
    if (String(d.epoch) !== place.dataset.epoch) { location.reload(); return; }
    const ahead = Math.min(least, Math.max(0, number - d.front)); // never back
    least = ahead;
    place.querySelector("[data-f=ahead]").textContent = ahead;
    const bar = $("progress");
    if (bar) bar.value = Math.max(bar.value, bar.max - ahead);
    const eta = d.eta_s_per_100; // null: nobody can say
    const p50 = eta ? eta.p50 * ahead / 100 : 0, p90 = eta ? eta.p90 * ahead / 100 : 0;
    $("eta").textContent = eta && ahead > 0 ? "About " + minutes(p50) + " to " + minutes(p90) : "";
    last = [last[1], verdict(d, ahead)];
    if (last[0] === last[1] || !last[0]) $("verdict").textContent = words[last[1]] + " " + ahead + " ahead of you, " + d.seats.free + " free and " + d.seats.pending + " in carts.";
    $("sale").textContent = { open: "", scheduled: "The sale has not begun yet.", paused: "Paused by the organiser. Your place is kept.", closed_on_doubt: "Paused for a moment (" + d.reason + "). Your place is kept.", exhausted: "Everything is sold or in carts at the moment. Tickets do come back; the line goes on then.", closed: "The sale is over." }[d.state] || "";
    next = 1000 * (eta ? Math.min(d.poll.max_s, Math.max(d.poll.min_s, p50 * d.poll.share_of_eta)) : d.poll.max_s / 4);
    if (!called && number < d.front) {
      called = true;
      $("turn").hidden = false;
      $("wait").hidden = true;
      document.title = "It is your turn";
      spoken = 0;
      say("It is your turn. You can go in now.");
      $("turn").querySelector("button").focus();
    } else if (!called) say(ahead + " people ahead of you.");
  });
})();
