// Checks the draw in the browser: the seed against what was committed to, and
// an index's number by the swap-or-not shuffle (90 rounds, SHA-256), from the
// published values alone.
"use strict";
(() => {
  const form = document.getElementById("check");
  const site = document.getElementById("site"); // the page is the same for everyone and knows no host
  if (site) site.textContent = location.origin;
  const { say } = window.say;
  if (!form || !window.crypto || !crypto.subtle) return;
  const $ = (id) => document.getElementById(id), text = (id) => $(id).textContent.trim();
  const sha256 = async (bytes) => new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const hex = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
  const unhex = (s) => Uint8Array.from(s.match(/../g), (b) => parseInt(b, 16));
  const joined = (...parts) => Uint8Array.from(parts.flatMap((p) => [...p]));

  const number = async (mixed, count, index) => {
    let at = BigInt(index);
    const n = BigInt(count);
    for (let round = 0; round < 90; round++) {
      const head = joined(mixed, [round]);
      const pivot = new DataView((await sha256(head)).buffer).getBigUint64(0, true) % n;
      const flip = (pivot + n - at) % n, high = at > flip ? at : flip, block = Number(high / 256n);
      const lots = await sha256(joined(head, [block & 255, (block >> 8) & 255, (block >> 16) & 255, (block >>> 24) & 255]));
      if ((lots[Number((high % 256n) / 8n)] >> Number(high % 8n)) & 1) at = flip;
    }
    return at;
  };
  form.addEventListener("submit", async (e) => {
    e.preventDefault();
    const seed = unhex(text("seed")), count = Number(form.dataset.count), index = Number($("index").value);
    const says = $("verdict");
    if (hex(await sha256(seed)) !== text("commit")) { says.textContent = say("draw.bad_seed"); return; }
    if (!Number.isInteger(index) || index < 0) { says.textContent = say("draw.bad_index"); return; }
    if (index >= count) { says.textContent = say("draw.late_index", { n: String(index) }); return; }
    const mixed = await sha256(joined(seed, new TextEncoder().encode(form.dataset.value)));
    says.textContent = say("draw.good", { n: String(index), drawn: String(await number(mixed, count, index)) });
  });
  if (/^#\d+$/.test(location.hash)) $("index").value = location.hash.slice(1); // which no server sees
  form.hidden = false;
})();
