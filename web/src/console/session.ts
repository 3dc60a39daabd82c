// The organiser's key: typed once, kept for this tab alone (sessionStorage), sent in
// a header, and never part of an address.
import { Client, Refused } from "../api/client";

const place = "waitroom.key";

export const session = {
  key: read(),
  keep(key: string) {
    session.key = key;
    try { sessionStorage.setItem(place, key); } catch { /* then it lives as long as the page */ }
  },
  forget() {
    session.key = null;
    try { sessionStorage.removeItem(place); } catch { /* it was not kept */ }
  },
};

function read(): string | null {
  try { return sessionStorage.getItem(place); } catch { return null; }
}

export const api = new Client(() => session.key);

// attempt names one deed, so that pressing twice, or asking again, is one deed.
export const attempt = (): string => "console-" + [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");

// said is a fault in words for a person.
export function said(fault: unknown): string {
  if (!(fault instanceof Refused)) return String(fault);
  const again = fault.retryAfter ? ` Try again in ${fault.retryAfter} s.` : "";
  return fault.message + "." + (fault.detail ? " " + fault.detail : "") + again;
}
