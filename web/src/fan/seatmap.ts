// A hall as it is sold: each seat with where it is, what it is called and what it
// costs (docs/SEATMAP.md).
import type { Schemas } from "../api/client";
import { shared } from "./shared";
import { locale, say } from "./words";

export type Tier = Schemas["Seatmap"]["tiers"][number];
export type Area = Schemas["SeatmapArea"];

export interface Seat {
  pos: number;
  x: number;
  y: number;
  number: string;
  tier: Tier;
  section: string;
  row: string;
  guid: string;
  wheelchair: boolean;
}

export interface Seatmap {
  seats: Seat[];
  areas: Area[];
  box: [left: number, top: number, wide: number, high: number];
  scale: number;
  step: number; // from a seat to the one beside it, where that is least
  name(s: Seat): string;
  money(amountMinor: number): string;
}

export async function seatmap(event: string, hash: string): Promise<Seatmap> {
  const { body: map } = await shared.ask("get", "/v1/public/events/{event}/seatmap.{hash}.json", { path: { event, hash } });
  const price = new Intl.NumberFormat(locale, { style: "currency", currency: map.currency, currencyDisplay: "code", minimumFractionDigits: map.decimals, maximumFractionDigits: map.decimals });
  const seats = seatsOf(map);
  return {
    seats, areas: map.areas, box: map.box as Seatmap["box"], scale: map.scale, step: stepOf(map.rows),
    money: (amount) => price.format(amount / 10 ** map.decimals).replaceAll("\u00a0", " "),
    name(s) {
      const text = say(s.row ? "seats.name_row_seat" : "seats.name_seat", { section: s.section, row: s.row, seat: s.number });
      return s.wheelchair ? say("hall.wheelchair", { name: text }) : text;
    },
  };
}

function seatsOf(map: Schemas["Seatmap"]): Seat[] {
  const seats: Seat[] = [];
  let pos = 0;
  for (const r of map.rows) {
    if (r.general) { pos += r.general; continue; }
    let x = 0, y = 0;
    for (const [i, number] of (r.numbers ?? []).entries()) {
      x += r.x?.[i] ?? 0; y += r.y?.[i] ?? 0;
      seats.push({
        pos: pos++, x, y, number, tier: map.tiers[Array.isArray(r.tier) ? r.tier[i]! : r.tier]!, section: map.sections[r.section]!, row: r.row ?? "",
        guid: r.guids ? r.guids[i]! : (r.prefix ?? "") + number, wheelchair: !!r.accessible?.includes(i),
      });
    }
  }
  return seats;
}

function stepOf(rows: Schemas["SeatmapRow"][]): number {
  let step = Infinity;
  for (const r of rows) {
    for (let i = 1; i < (r.numbers?.length ?? 0); i++) {
      const x = r.x?.[i] ?? 0, y = r.y?.[i] ?? 0;
      if (x || y) step = Math.min(step, Math.hypot(x, y));
    }
  }
  return step === Infinity ? 260 : step;
}
