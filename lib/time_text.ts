/** How notes write times. */

/** Returns a time (milliseconds since 1970) as `YYYY-MM-DDTHH:MM:SS.sssZ`. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** Returns the day of a time on this machine's calendar, as `YYYY-MM-DD`. */
export function formatDay(ms: number): string {
  const date = new Date(ms);
  const year = String(date.getFullYear()).padStart(4, "0");
  return `${year}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
}

/** Tells whether a day that is written as `YYYY-MM-DD` is on the calendar. */
export function isRealDay(day: string): boolean {
  const ms = Date.parse(`${day}T00:00:00Z`);
  // A thirtieth of February may be taken for a day of March.
  return Number.isFinite(ms) && isoTime(ms).startsWith(day);
}

/** Returns the whole days from one day to another; a month alone counts from its first. */
export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);
}

/** Returns a day as `YYYY-MM-DD`, from numbers as people write them: `2026-5-4`. */
export function dayOf(year: string, month: string, date: string): string {
  return `${year}-${month.padStart(2, "0")}-${date.padStart(2, "0")}`;
}

const DAY_MS = 24 * 60 * 60_000;

const twoDigits = (value: number): string => String(value).padStart(2, "0");
