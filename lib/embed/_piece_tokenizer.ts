/** Text to the pieces of a model, by the rules that `static_model.ts` describes. */
import { isPair, pointAt, unitsAt } from "@/lib/code_points.ts";
import { type LetterTable, SEPARATOR } from "./_letters.ts";
import type { Segmenter } from "./_segmenter.ts";

/**
 * Longer texts are read in windows: one step has to be short, and normalising takes time by the
 * square of a row of marks.
 */
const WINDOW_CHARS = 2_048;
const SAFE_CUT = /[\s\p{P}]/u;
/** Longer runs are cut; only compatibility forms can become so many letters. */
const MAX_RUN_LETTERS = 4_096;
/** The only character that becomes two in lower case: an i, and a dot that no piece has. */
const DOTTED_I = 0x130;

export class PieceTokenizer {
  readonly #table: LetterTable;
  readonly #segmenter: Segmenter;
  /** The run that is read, from 1 on: a word gets a letter more in front. */
  readonly #letters = new Uint16Array(1 + MAX_RUN_LETTERS + 1);
  /** The characters of these letters, for the borders that upper case makes. */
  readonly #units = new Uint16Array(1 + MAX_RUN_LETTERS + 1);
  #end = 1;

  constructor(table: LetterTable, segmenter: Segmenter) {
    this.#table = table;
    this.#segmenter = segmenter;
  }

  /** Adds the pieces of a text to `pieces`, in order, repeats included; a step is one window. */
  *read(text: string, pieces: number[]): Generator<void, void> {
    for (let start = 0; start < text.length;) {
      if (start > 0) yield;
      const end = windowEnd(text, start);
      this.#readWindow(text.slice(start, end).normalize("NFKC"), pieces);
      start = end;
    }
  }

  #readWindow(text: string, pieces: number[]): void {
    const { firstHan } = this.#table;
    for (let at = 0; at < text.length;) {
      const letter = this.#letterAt(text, at);
      if (letter === SEPARATOR) {
        at += unitsAt(text, at);
        continue;
      }
      const isHan = letter >= firstHan;
      at = this.#takeRun(text, at, isHan);
      if (isHan) this.#segment(1, this.#end, pieces);
      else this.#readWord(pieces);
    }
  }

  #letterAt(text: string, at: number): number {
    const unit = text.charCodeAt(at);
    const letter = this.#table.letters[unit] ?? SEPARATOR;
    if (letter !== SEPARATOR || !isPair(text, at)) return letter;
    return this.#table.beyond(pointAt(text, at));
  }

  /** Takes letters as long as they are Han, or are not, and returns where the next run may begin. */
  #takeRun(text: string, start: number, isHan: boolean): number {
    const { firstHan } = this.#table;
    this.#end = 1;
    let at = start;
    while (at < text.length && this.#end <= MAX_RUN_LETTERS) {
      const letter = this.#letterAt(text, at);
      if (letter === SEPARATOR || (letter >= firstHan) !== isHan) break;
      const unit = text.charCodeAt(at);
      if (unit === DOTTED_I) this.#push(this.#table.letters["i".charCodeAt(0)] ?? SEPARATOR, unit);
      this.#push(letter, unit);
      at += unitsAt(text, at);
    }
    return at;
  }

  #push(letter: number, unit: number): void {
    this.#letters[this.#end] = letter;
    this.#units[this.#end++] = unit;
  }

  /** A word that is no piece itself is read part by part: `getUserByID` as four words. */
  #readWord(pieces: number[]): void {
    const end = this.#end;
    this.#letters[0] = this.#table.wordStart;
    if (this.#segmenter.isPiece(this.#letters.subarray(0, end))) {
      return this.#segment(0, end, pieces);
    }
    let start = 1;
    for (let at = 2; at <= end; at++) {
      if (at < end && !this.#isBorder(at, end)) continue;
      // In the place of the last letter of the part before, which has been read.
      this.#letters[start - 1] = this.#table.wordStart;
      this.#segment(start - 1, at, pieces);
      start = at;
    }
  }

  /** True between `a` and `B`, and before `Bc` in `ABc`. */
  #isBorder(at: number, end: number): boolean {
    const [before, here] = [this.#unitAt(at - 1), this.#unitAt(at)];
    if (!isUpper(here)) return false;
    if (isLower(before) || isDigit(before)) return true;
    return isUpper(before) && at + 1 < end && isLower(this.#unitAt(at + 1));
  }

  #unitAt(at: number): number {
    return this.#units[at] ?? 0;
  }

  #segment(start: number, end: number, pieces: number[]): void {
    this.#segmenter.segment(this.#letters.subarray(start, end), pieces);
  }
}

/** Cuts where nothing that belongs together is parted, if there is such a place. */
function windowEnd(text: string, start: number): number {
  const end = start + WINDOW_CHARS;
  if (end >= text.length) return text.length;
  for (let at = end; at > start; at--) if (SAFE_CUT.test(text.charAt(at - 1))) return at;
  return isPair(text, end - 1) ? end - 1 : end;
}

const isUpper = (unit: number): boolean => unit >= 65 && unit <= 90;
const isLower = (unit: number): boolean => unit >= 97 && unit <= 122;
const isDigit = (unit: number): boolean => unit >= 48 && unit <= 57;
