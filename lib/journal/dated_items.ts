/** Entries that begin with a day: decisions, pitfalls, history, and in which order they stand. */
import { dayOf, isRealDay } from "@/lib/time_text.ts";
import type { Entry } from "./entries.ts";

export interface Dated {
  /** `YYYY-MM-DD`; `""` = undated. */
  readonly day: string;
  /** What it says, without the day. */
  readonly text: string;
}

const DAY =
  /^[*_[(（【]*(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})日?[*_\])）】]*\s*[：:|｜,，—–-]?\s*/u;

/** Splits a text into its day and the rest. */
export function readDated(text: string): Dated {
  const found = DAY.exec(text);
  if (!found) return { day: "", text };
  const [whole, year = "", month = "", date = ""] = found;
  const day = dayOf(year, month, date);
  return isRealDay(day) ? { day, text: text.slice(whole.length).trim() } : { day: "", text };
}

/**
 * Tells in which order days stand, by those that have one.
 *
 * @returns `undefined` if it cannot be told, as they are all the same or mixed up.
 */
export function orderOf(days: readonly string[]): "newest-first" | "oldest-first" | undefined {
  const known = days.filter((day) => day !== "");
  const pairs = known.slice(1).map((day, index) => [known[index] ?? day, day] as const);
  const [falls, rises] = [
    pairs.filter(([before, after]) => before > after).length,
    pairs.filter(([before, after]) => before < after).length,
  ];
  if (falls > 0 && rises === 0) return "newest-first";
  return rises > 0 && falls === 0 ? "oldest-first" : undefined;
}

/** Returns the newest first, by day and, within one, by their place; undated ones come last. */
export function newestFirst<T extends { readonly day: string }>(
  items: readonly T[],
  order: "newest-first" | "oldest-first",
): T[] {
  const inOrder = order === "newest-first" ? [...items] : [...items].reverse();
  // A sort keeps the order of what is equal.
  return inOrder.sort((a, b) => a.day === b.day ? 0 : a.day < b.day ? 1 : -1);
}

/** Tells whether one of some entries says the same on the same day: then it is not said twice. */
export function isSaid(entries: readonly Entry[], { day, text }: Dated): boolean {
  return entries.some((entry) => {
    const dated = readDated(entry.text);
    return dated.day === day && fold(dated.text) === fold(text);
  });
}

function fold(text: string): string {
  return text.normalize("NFKC").replace(/\s+/g, " ").trim();
}
