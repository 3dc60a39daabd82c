// What is spoken: politely, and at most once in half a minute. What is newest waits, and
// what is to be said first stands before it.
import { by } from "./page";

let spoken = -Infinity, waiting = "", before = "", timer = 0;

function speak(): void {
  by("say").textContent = before + waiting;
  before = "";
  spoken = performance.now();
  timer = 0;
}

export function tell(text: string, first = ""): void {
  waiting = text;
  before = first || before;
  timer ||= setTimeout(speak, Math.max(0, spoken + 30000 - performance.now()));
}
