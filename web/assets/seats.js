// The seat picker: a map beside the list. What is chosen is ticked in the list;
// of a large hall the list has only the sections that were opened, and what is
// chosen beside them stands by itself.
"use strict";
(() => {
  const form = document.getElementById("pick"), out = document.getElementById("chosen"), back = document.getElementById("back");
  const { say } = window.say, at = form.dataset.at, quota = Number(form.dataset.quota), box = form.querySelector("[data-map]");
  const general = [...form.querySelectorAll("input[type=number]")];
  const boxes = () => form.querySelectorAll("input[name=seat]");
  const chosen = new Set([...boxes()].filter((b) => b.checked).map((b) => b.value));
  let hall = null, names = new Map();
  const nameOf = (guid) => names.has(guid) ? hall.name(names.get(guid)) : guid;

  const count = (note = "") => {
    let text = [...chosen].map(nameOf).join("; ");
    let sum = [...chosen].reduce((sum, g) => sum + (names.has(g) ? names.get(g).tier.amount : NaN), 0);
    for (const q of general) {
      if (!(q.value > 0)) continue;
      text += (text && "; ") + q.value + " × " + q.name.slice(q.name.indexOf(":") + 1);
      sum += q.value * q.dataset.price;
    }
    out.textContent = (note && note + " ") + (text ? text + (hall && sum ? " – " + hall.money(sum) : "") : say("seats.none_chosen"));
  };

  // A box for a seat that the list does not have.
  const offer = (place, s, note = "") => {
    const label = document.createElement("label"), b = document.createElement("input");
    b.type = "checkbox"; b.name = "seat"; b.value = s.guid;
    label.append(b, hall.name(s) + note);
    place.append(label);
    place.hidden = false;
    return b;
  };
  const group = (id, legend) => {
    let g = document.getElementById(id);
    if (g) return g;
    g = document.createElement("fieldset");
    g.id = id; g.className = "seats near"; g.hidden = true;
    g.append(document.createElement("legend"));
    g.firstChild.textContent = say(legend);
    form.querySelector(".sticky").before(g);
    return g;
  };
  // choose says whether it could.
  const choose = (guid, on) => {
    if (on && !chosen.has(guid) && chosen.size >= quota) {
      for (const b of boxes()) if (b.value === guid) b.checked = false;
      count(say("seats.at_most", { n: quota }));
      return;
    }
    if (on) chosen.add(guid); else chosen.delete(guid);
    let some = false;
    for (const b of boxes()) if (b.value === guid) { b.checked = on; some = true; }
    if (on && !some && names.has(guid)) offer(group("picked", "hall.mine"), names.get(guid)).checked = true;
    count();
    if (hall) hall.draw();
  };
  form.addEventListener("change", (e) => { if (e.target.name === "seat") choose(e.target.value, e.target.checked); else count(); });
  count();

  // A section of a large hall is fetched when it is opened; the map goes there.
  form.addEventListener("toggle", async ({ target: d }) => {
    if (d.nodeName !== "DETAILS" || !d.open) return;
    if (hall && d.parentElement === form) hall.show(hall.seats.filter((s) => s.section === d.querySelector("b").textContent));
    if (!d.dataset.more) return;
    const more = d.dataset.more;
    delete d.dataset.more;
    const res = await fetch(at + "/seats?section=" + encodeURIComponent(more)).catch(() => null);
    const page = res && res.ok && !res.redirected && new DOMParser().parseFromString(await res.text(), "text/html");
    const rows = page && page.querySelectorAll("#pick > details[open] > details");
    if (!rows || !rows.length) { d.dataset.more = more; return; } // the link in it leads there
    d.querySelector("p").replaceWith(...rows);
    for (const b of d.querySelectorAll("input[name=seat]")) b.checked = chosen.has(b.value);
    if (hall) free();
  }, true);

  // A sign of life while choosing: without one the place inside goes to others.
  // The first at once: who closes the page within seconds would otherwise look
  // like a buyer for minutes.
  const alive = async () => {
    if (document.hidden) return;
    const res = await fetch(at + "/alive", { method: "POST" }).catch(() => null);
    if (res && res.status === 401) setTimeout(() => window.go(at + "/place"), 1500);
  };
  alive();
  setInterval(alive, 8000);

  // What came back since the list was written gets a box of its own; what is
  // chosen and goes is told, and what is free beside it is offered.
  const whole = !form.querySelector("[data-more]");
  const free = () => {
    const listed = new Set([...boxes()].map((b) => b.value));
    let note = "";
    for (const guid of [...chosen]) {
      const s = names.get(guid);
      if (!s || hall.state(s) === 0) continue;
      note += (note && " ") + say("seats.has_gone", { name: hall.name(s) });
      chosen.delete(guid);
      for (const o of hall.nearest(s, 3)) if (!document.querySelector(`#near input[value="${CSS.escape(o.guid)}"]`)) offer(group("near", "seats.near"), o, " " + hall.money(o.tier.amount));
    }
    if (whole) {
      for (const s of hall.seats) {
        if (hall.state(s) !== 0 || listed.has(s.guid) || back.childElementCount > 100) continue;
        offer(back, s);
        const none = document.getElementById("none");
        if (none) none.hidden = true;
      }
    }
    for (const b of boxes()) {
      const s = names.get(b.value);
      b.disabled = !!s && hall.state(s) !== 0;
      b.checked = chosen.has(b.value);
    }
    if (note) { count(note); hall.draw(); }
  };
  if (!box) return;
  box.addEventListener("seat", ({ detail: s }) => {
    if (chosen.has(s.guid)) choose(s.guid, false);
    else if (hall.state(s) === 0) choose(s.guid, true);
  });
  window.hall(box, (s) => chosen.has(s.guid)).then((h) => {
    hall = h;
    names = new Map(h.seats.map((s) => [s.guid, s]));
    count();
    hall.draw();
    free();
    box.addEventListener("free", free);
  }).catch(() => { box.hidden = true; }); // the list does without
})();
