// Numbers and times as a person reads them.
const whole = new Intl.NumberFormat("en-GB");
const one = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 1 });

const three = new Intl.NumberFormat("en-GB", { maximumSignificantDigits: 3 });

export const num = (n: number | null | undefined): string => n === null || n === undefined ? "unknown" : whole.format(Math.round(n));
export const many = (n: number, one: string): string => num(n) + " " + one + (n === 1 ? "" : "s");
export const rate = (n: number | null | undefined): string => n === null || n === undefined ? "none" : three.format(n) + "/s";
export const clock = (at: Date): string => at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
export const moment = (at: string): string => new Date(at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" });

export function span(seconds: number): string {
  if (seconds < 90) return Math.round(seconds) + " s";
  if (seconds < 5400) return Math.round(seconds / 60) + " min";
  return one.format(seconds / 3600) + " h";
}

export function money(minor: number, currency: string): string {
  const format = new Intl.NumberFormat("en-GB", { style: "currency", currency });
  return format.format(minor / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
}

export const states: Record<string, [says: string, tone: string]> = {
  scheduled: ["Not open yet", "soon"], lobby: ["The lobby is open", "soon"], drawing: ["The lobby is being drawn", "soon"],
  open: ["Letting people in", "open"], exhausted: ["Everything is sold or in carts", "open"],
  paused: ["Paused", "paused"], closed: ["Closed for good", "over"], closed_on_doubt: ["Closed in doubt: nobody is let in", "paused"],
};

export const bounds: Record<string, string> = {
  organiser: "the rate that you set", claims: "what the claimers bear", payments: "what the payment provider takes", inside: "how many may be inside",
  store: "how fast the store writes down who comes in",
};
