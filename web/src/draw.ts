// Checks the draw in the browser: the seed against what was committed to, and an
// index's number by the swap-or-not shuffle (90 rounds, SHA-256), from the published
// values alone.
import { by } from "./fan/page";
import { say } from "./fan/words";

type Bytes = Uint8Array<ArrayBuffer>;

const sha256 = async (bytes: Bytes): Promise<Bytes> => new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
const hex = (bytes: Bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
const unhex = (s: string): Bytes => Uint8Array.from(s.match(/../g) ?? [], (b) => parseInt(b, 16));
const joined = (...parts: Iterable<number>[]): Bytes => Uint8Array.from(parts.flatMap((p) => [...p]));

async function numberOf(mixed: Bytes, count: number, index: number): Promise<bigint> {
  let at = BigInt(index);
  const n = BigInt(count);
  for (let round = 0; round < 90; round++) {
    const head = joined(mixed, [round]);
    const pivot = new DataView((await sha256(head)).buffer).getBigUint64(0, true) % n;
    const flip = (pivot + n - at) % n, high = at > flip ? at : flip, block = Number(high / 256n);
    const lots = await sha256(joined(head, [block & 255, (block >> 8) & 255, (block >> 16) & 255, (block >>> 24) & 255]));
    if ((lots[Number((high % 256n) / 8n)]! >> Number(high % 8n)) & 1) at = flip;
  }
  return at;
}

async function verdict(form: HTMLElement, index: number): Promise<string> {
  const published = (id: string) => by(id).textContent.trim();
  const seed = unhex(published("seed")), count = Number(form.dataset["count"]);
  if (hex(await sha256(seed)) !== published("commit")) return say("draw.bad_seed");
  if (!Number.isInteger(index) || index < 0) return say("draw.bad_index");
  if (index >= count) return say("draw.late_index", { n: String(index) });
  const mixed = await sha256(joined(seed, new TextEncoder().encode(form.dataset["value"])));
  return say("draw.good", { n: String(index), drawn: String(await numberOf(mixed, count, index)) });
}

by("site").textContent = location.origin; // the page is the same for everyone and knows no host
const form = by("check"), index = by<HTMLInputElement>("index");
if (window.crypto?.subtle) {
  form.addEventListener("submit", async (e) => {
    e.preventDefault();
    by("verdict").textContent = await verdict(form, Number(index.value));
  });
  if (/^#\d+$/.test(location.hash)) index.value = location.hash.slice(1); // which no server sees
  form.hidden = false;
}
