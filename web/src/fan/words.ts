// What the page says: the reader's words, and numbers as they are written there.
export const tag = document.documentElement.lang;
export const locale = tag === "en" ? "en-GB" : tag;

const figures = new Intl.NumberFormat(locale);
const words = JSON.parse(document.getElementById("words")?.textContent || "{}") as Record<string, string>;

export const number = (n: number): string => figures.format(n);
export const has = (key: string): boolean => key in words;

// say fills a text's places, which are named. It may have a form for one thing and one
// for many.
export function say(key: string, places: Record<string, string | number> = {}): string {
  const forms = (words[key] ?? "").split("|"), text = forms[places["n"] === 1 ? 0 : forms.length - 1] ?? "";
  return text.replace(/\{(\w+)\}/g, (all, name: string) => {
    const value = places[name];
    return value === undefined ? all : typeof value === "number" ? number(value) : value;
  });
}
