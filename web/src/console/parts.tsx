import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { said } from "./session";

// Fault says what went wrong, to eyes and to screen readers.
export function Fault({ of }: { of: unknown }) {
  return of ? <p class="note" role="alert">{said(of)}</p> : null;
}

// Figure is a number with its name; one that is older than it should be is grey, and
// says so to who does not see grey.
export function Figure({ name, value, more }: { name: string; value: string; more?: string }) {
  return <div><dt>{name}</dt><dd>{value}{more && <small>{more}</small>}</dd></div>;
}

export const staleAfter = 5; // seconds

// Age is how old the numbers are, counted on while nothing comes.
export function Age({ at }: { at: number | null }) {
  const [, again] = useState(0);
  useEffect(() => {
    const every = setInterval(() => again((n) => n + 1), 1000);
    return () => clearInterval(every);
  }, []);
  const age = at === null ? null : Math.max(0, (performance.now() - at) / 1000);
  const old = age === null || age > staleAfter;
  return <p class={old ? "age stale" : "age"}>
    {age === null ? "No numbers yet" : old ? `Stale: these numbers are ${Math.round(age)} s old` : `Numbers ${age < 1.5 ? "of this second" : Math.round(age) + " s old"}`}
  </p>;
}

// Dialog asks whether something is meant.
export function Dialog({ title, yes, no = "Leave it", onYes, onNo, children }: {
  title: string; yes: string; no?: string; onYes: () => void; onNo: () => void; children: ComponentChildren;
}) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => { box.current?.showModal(); }, []);
  return <dialog ref={box} aria-labelledby="dialog-h" onCancel={onNo}>
    <h2 id="dialog-h">{title}</h2>
    {children}
    <p class="row"><button class="go" onClick={onYes}>{yes}</button><button onClick={onNo}>{no}</button></p>
  </dialog>;
}

// useAsked asks once, and again each so many ms while the page is looked at.
export function useAsked<T>(ask: () => Promise<T>, every: number | null, about: unknown[]): { is: T | null; fault: unknown; at: number | null; again: () => void } {
  const [got, set] = useState<{ is: T | null; fault: unknown; at: number | null }>({ is: null, fault: null, at: null });
  const [turn, again] = useState(0);
  useEffect(() => {
    let over = false, timer = 0;
    const go = async () => {
      if (!document.hidden) {
        try {
          const is = await ask();
          if (!over) set({ is, fault: null, at: performance.now() });
        } catch (fault) {
          if (!over) set((old) => ({ ...old, fault }));
        }
      }
      if (!over && every !== null) timer = window.setTimeout(go, every);
    };
    void go();
    return () => { over = true; clearTimeout(timer); };
  }, [...about, turn]);
  return { ...got, again: () => again((n) => n + 1) };
}
