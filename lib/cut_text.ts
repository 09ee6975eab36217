/** Cuts texts where a reader would: between characters, and between words. */
import { pointAt, unitsAt } from "@/lib/code_points.ts";

interface Limits {
  /** Code points. */
  readonly maxChars: number;
  /** Bytes of UTF-8. */
  readonly maxBytes?: number;
}

/** So many units at the most are looked at for each character that may be returned. */
const UNITS_A_CHARACTER = 8;

/**
 * Cuts a text to whole characters as people see them: no pair of an emoji's parts is torn, no
 * letter loses its accent. Only a first character over the limit by itself is cut in between.
 */
export function cutText(text: string, limits: Limits): string {
  const head = text.slice(0, limits.maxChars * UNITS_A_CHARACTER);
  const segments = new Intl.Segmenter().segment(head)[Symbol.iterator]().map((it) => it.segment);
  return takeWithin(segments, limits) || takeWithin(pointsOf(head), limits);
}

function takeWithin(parts: Iterable<string>, { maxChars, maxBytes = Infinity }: Limits): string {
  let taken = "";
  let [chars, bytes] = [0, 0];
  for (const part of parts) {
    for (const point of pointsOf(part)) {
      chars++;
      bytes += bytesOf(point);
    }
    if (chars > maxChars || bytes > maxBytes) break;
    taken += part;
  }
  return taken;
}

function* pointsOf(text: string): Generator<string> {
  for (let at = 0; at < text.length;) {
    const end = at + unitsAt(text, at);
    yield text.slice(at, end);
    at = end;
  }
}

function bytesOf(char: string): number {
  const point = pointAt(char, 0);
  if (point < 0x80) return 1;
  if (point < 0x800) return 2;
  return point < 0x10000 ? 3 : 4;
}

// Scripts that write blanks between words; elsewhere a word may be cut after any character.
const LETTER = "\\p{Script=Latin}\\p{Script=Cyrillic}\\p{Script=Greek}\\p{N}_";
const ENDS_IN_WORD = new RegExp(`[${LETTER}]\\p{M}*$`, "u");
const STARTS_WITH_WORD = new RegExp(`^['’-]?[${LETTER}]`, "u");
const LAST_WORD = new RegExp(`[${LETTER}\\p{M}'’-]+$`, "u");
const DANGLING = /[\s,;:，；：、([{（【《“‘"–—-]+$/;

/** Takes back a word that was cut, unless that leaves less than half, and signs left hanging. */
export function withoutHalfWord(cut: string, rest: string): string {
  const isHalf = ENDS_IN_WORD.test(cut) && STARTS_WITH_WORD.test(rest);
  const whole = (isHalf ? cut.replace(LAST_WORD, "") : cut).replace(DANGLING, "");
  return whole.length * 2 >= cut.length ? whole : cut;
}
