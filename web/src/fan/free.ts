// What is free of a hall, as it changes.
import { shared } from "./shared";

// What a seat is, by its two bits.
export const is = { free: 0, pending: 1, gone: 2, kept: 3 } as const;

// can is whether a seat may be chosen: what is kept is to be had by a presale's code.
export const can = (now: number): boolean => now === is.free || now === is.kept;

export class Free {
  private bits: Uint8Array | null = null;
  private held = { cursor: "", state: "", version: 0 };
  private tag: string | null = null;

  constructor(private readonly event: string, private readonly plan: string) {}

  // at is what the seat at a pos is: gone, while nobody has said.
  at(pos: number): number {
    return this.bits ? this.bits[pos >> 2]! >> (pos & 3) * 2 & 3 : is.gone;
  }

  // look says whether there was anything new. Once the whole is here only what has
  // changed is asked for, by the cursor of what we hold. Another replica may hold
  // something else under that cursor: then the whole is asked for again. What is older
  // than ours says nothing new.
  async look(): Promise<boolean> {
    const { body: d, etag } = await shared.ask("get", "/v1/public/events/{event}/availability", {
      path: { event: this.event }, query: { since: this.held.cursor }, headers: this.tag ? { "If-None-Match": this.tag } : {},
    });
    if (!d) return false;
    this.tag = etag;
    if (d.plan !== this.plan || d.version < this.held.version) return false;
    if ("changes" in d && d.since !== this.held.state) { this.held.cursor = ""; this.tag = null; return false; }
    if (d.cursor !== this.held.cursor) this.tag = null; // another address has another
    this.held = d;
    if (!("changes" in d)) {
      this.bits = Uint8Array.from(atob(d.bitmap), (c) => c.charCodeAt(0));
      return true;
    }
    const { free, pending, gone, kept = [] } = d.changes;
    [free, pending, gone, kept].forEach((some, now) => some.forEach((pos) => this.set(pos, now)));
    return free.length + pending.length + gone.length + kept.length > 0;
  }

  private set(pos: number, now: number): void {
    const shift = (pos & 3) * 2, byte = pos >> 2;
    this.bits![byte] = this.bits![byte]! & ~(3 << shift) | now << shift;
  }
}
