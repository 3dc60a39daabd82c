// The seat picker: a map beside the list. The list is the whole truth of the
// form; a click on the map ticks its box.
"use strict";
(() => {
  const form = document.getElementById("pick"), out = document.getElementById("chosen"), back = document.getElementById("back");
  const quota = Number(form.dataset.quota), box = form.querySelector("[data-map]");
  const boxes = new Map([...form.querySelectorAll("input[name=seat]")].map((b) => [b.value, b]));
  const general = [...form.querySelectorAll("input[type=number]")];
  let hall = null, names = new Map();

  const chosen = () => [...boxes.values()].filter((b) => b.checked);
  const count = (note = "") => {
    const ticked = chosen().map((b) => b.value);
    let text = ticked.map((g) => names.has(g) ? hall.name(names.get(g)) : g).join("; ");
    let sum = ticked.reduce((sum, g) => sum + (names.has(g) ? names.get(g).tier.amount : NaN), 0);
    for (const q of general) {
      if (!(q.value > 0)) continue;
      text += (text && "; ") + q.value + " × " + q.name.slice(q.name.indexOf(":") + 1);
      sum += q.value * q.dataset.price;
    }
    out.textContent = note + (text ? text + (hall && sum ? " – " + hall.money(sum) : "") : "None chosen yet");
  };
  const draw = () => { if (hall) hall.draw(); };
  form.addEventListener("change", (e) => {
    let note = "";
    if (e.target.name === "seat" && e.target.checked && chosen().length > quota) {
      e.target.checked = false;
      note = quota + " at most. ";
    }
    count(note);
    draw();
  });
  count();

  // A sign of life while choosing: without one the place inside goes to others.
  // The first at once: who closes the page within seconds would otherwise look
  // like a buyer for minutes.
  const alive = async () => {
    if (document.hidden) return;
    const res = await fetch("/e/" + form.dataset.event + "/alive", { method: "POST" }).catch(() => null);
    if (res && res.status === 401) setTimeout(() => window.go("/e/" + form.dataset.event + "/place"), 1500);
  };
  alive();
  setInterval(alive, 8000);

  // What came back since the list was written gets a box of its own.
  const comeBack = (s) => {
    const label = document.createElement("label"), b = document.createElement("input");
    b.type = "checkbox"; b.name = "seat"; b.value = s.guid;
    label.append(b, hall.name(s) + " ");
    back.append(label);
    back.hidden = false;
    boxes.set(s.guid, b);
    const none = document.getElementById("none");
    if (none) none.hidden = true;
  };
  const free = () => {
    let note = "";
    for (const s of hall.seats) {
      const is = hall.state(s) === 0, b = boxes.get(s.guid);
      if (!b && is && back.childElementCount < 100) comeBack(s);
      if (!b) continue;
      if (!is && b.checked) { note += hall.name(s) + " has just gone. "; b.checked = false; }
      b.disabled = !is;
    }
    if (note) { count(note); draw(); }
  };
  if (!box) return;
  box.addEventListener("seat", ({ detail: s }) => {
    const b = boxes.get(s.guid);
    if (b && !b.disabled) b.click();
  });
  window.hall(box, (s) => boxes.get(s.guid)?.checked).then((h) => {
    hall = h;
    names = new Map(h.seats.map((s) => [s.guid, s]));
    count();
    draw();
    free();
    box.addEventListener("free", free);
  }).catch(() => { box.hidden = true; }); // the list does without
})();
