/**
 * Text to terms: one function for the index, for queries and for snippets, so that they can never
 * disagree. Compatibility forms, case and traditional characters are folded; runs of Han, Kana and
 * Hangul become bigrams; words come whole and in parts (`parseHTTPUrl`, `snake_case`, `v1.2`).
 */
import { pointAt, unitsAt } from "@/lib/code_points.ts";
import { SIMPLIFIED, TRADITIONAL } from "./_traditional.ts";

/** Part of every cache key: change it whenever any text gives other terms than before. */
export const TOKENIZER_VERSION = "1";

/** Longer runs are cut: no person looks for them, and they would only fill the dictionary. */
export const MAX_TERM_CHARS = 64;

export interface Tokenizer {
  /** Hands each term of `text` to `emit`, in order, repeats included. */
  forEachTerm(text: string, emit: (term: string) => void): void;
  /** Returns all terms in order, repeats included. */
  terms(text: string): string[];
  /** Returns the text with compatibility forms and traditional characters folded. */
  simplify(text: string): string;
}

const SEPARATOR = 0;
const LOWER = 1; // and letters without case
const UPPER = 2;
const DIGIT = 3;
const MARK = 4;
const JOINER = 5;
const CJK = 6;

export const CJK_CHAR: RegExp =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]/u;
const PLAIN_WORD = /^[a-z]+$/;
/** As a part it says nothing: `E0308` must not be found by every other `E`. */
const LONE_LETTER = /^[a-z]$/i;
const NON_ASCII = /[^\0-\x7f]/;
const ASTRAL_HAN_FIRST = 0x20000;
const ASTRAL_HAN_LAST = 0x3ffff;

/** Returns the tokenizer; building its tables takes some 20 ms. */
export function createTokenizer(): Tokenizer {
  const classes = classTable();
  const simplified = simplifiedTable();
  const forEachTerm = (text: string, emit: (term: string) => void) =>
    scanRuns(text.normalize("NFKC"), classes, {
      cjk: (run) => emitBigrams(foldTraditional(run, simplified), emit),
      words: (run) => emitCompound(run, classes, emit),
    });
  const terms = (text: string) => {
    const all: string[] = [];
    forEachTerm(text, (term) => all.push(term));
    return all;
  };
  const simplify = (text: string) => foldTraditional(text.normalize("NFKC"), simplified);
  return { forEachTerm, terms, simplify };
}

function classTable(): Uint8Array {
  const classes = new Uint8Array(0x10000);
  for (let code = 0; code < 0x10000; code++) classes[code] = classOf(String.fromCharCode(code));
  for (const joiner of "_-.:/'’") classes[joiner.charCodeAt(0)] = JOINER;
  return classes;
}

function classOf(char: string): number {
  if (CJK_CHAR.test(char)) return CJK;
  if (/\p{Lu}/u.test(char)) return UPPER;
  if (/\p{L}/u.test(char)) return LOWER;
  if (/\p{N}/u.test(char)) return DIGIT;
  return /\p{M}/u.test(char) ? MARK : SEPARATOR;
}

function simplifiedTable(): Uint16Array {
  const table = new Uint16Array(0x10000);
  for (let i = 0; i < TRADITIONAL.length; i++) {
    table[TRADITIONAL.charCodeAt(i)] = SIMPLIFIED.charCodeAt(i);
  }
  return table;
}

interface RunTaker {
  cjk(run: string): void;
  words(run: string): void;
}

/** Hands over each run of CJK characters and each compound of words. */
function scanRuns(text: string, classes: Uint8Array, take: RunTaker): void {
  let at = 0;
  while (at < text.length) {
    const start = at;
    const kind = classAt(text, at, classes);
    if (kind === CJK) {
      while (at < text.length && classAt(text, at, classes) === CJK) at += unitsAt(text, at);
      take.cjk(text.slice(start, at));
    } else if (isWordClass(kind)) {
      at = compoundEnd(text, at, classes);
      take.words(text.slice(start, at));
    } else {
      at += unitsAt(text, at);
    }
  }
}

function classAt(text: string, at: number, classes: Uint8Array): number {
  const unit = text.charCodeAt(at);
  if (unit < 0xd800 || unit > 0xdbff) return classes[unit] ?? SEPARATOR;
  const point = pointAt(text, at);
  return point >= ASTRAL_HAN_FIRST && point <= ASTRAL_HAN_LAST ? CJK : SEPARATOR;
}

function isWordClass(kind: number): boolean {
  return kind >= LOWER && kind <= MARK;
}

/** A compound goes on over one joiner at a time: `a/b.ts`, but not `a--b` or `a://b`. */
function compoundEnd(text: string, start: number, classes: Uint8Array): number {
  let at = start;
  while (at < text.length) {
    const kind = classAt(text, at, classes);
    if (isWordClass(kind)) at++;
    else if (
      kind === JOINER && at + 1 < text.length && isWordClass(classAt(text, at + 1, classes))
    ) at += 2;
    else break;
  }
  return at;
}

function foldTraditional(text: string, simplified: Uint16Array): string {
  for (let i = 0; i < text.length; i++) {
    if (simplified[text.charCodeAt(i)] === 0) continue;
    return Array.from(text, (char) => {
      const folded = char.length === 1 ? simplified[char.charCodeAt(0)] : 0;
      return folded ? String.fromCharCode(folded) : char;
    }).join("");
  }
  return text;
}

/** Two neighbours make a term; a character without neighbours is a term itself. */
function emitBigrams(run: string, emit: (term: string) => void): void {
  let first = unitsAt(run, 0);
  if (first === run.length) return emit(run.toLowerCase());
  let at = 0;
  while (at + first < run.length) {
    const second = unitsAt(run, at + first);
    emit(run.slice(at, at + first + second));
    at += first;
    first = second;
  }
}

/** `src/app/main.ts` gives itself, `src`, `app` and `main.ts`, and this again `main` and `ts`. */
function emitCompound(run: string, classes: Uint8Array, emit: (term: string) => void): void {
  if (!/[/:]/.test(run)) return emitWord(run, classes, emit);
  emit(cut(run.toLowerCase()));
  for (const segment of run.split(/[/:]/)) emitWord(segment, classes, emit);
}

function emitWord(word: string, classes: Uint8Array, emit: (term: string) => void): void {
  // All of one class and without joiners: it has no parts.
  if (PLAIN_WORD.test(word)) return emit(foldPlural(cut(word)));
  const whole = foldWord(word);
  emit(whole);
  const parts = word.split(/[_.\-'’]/).flatMap((piece) => splitHumps(piece, classes));
  if (parts.length > 1) {
    for (const part of parts) if (!LONE_LETTER.test(part)) emit(foldWord(part));
  }
  if (NON_ASCII.test(whole)) {
    const bare = whole.normalize("NFD").replace(/\p{M}+/gu, "");
    if (bare !== whole && bare !== "") emit(bare);
  }
}

/** Splits where a hump begins (`aB`, `ABc`) and where letters and digits meet. */
function splitHumps(word: string, classes: Uint8Array): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let at = 1; at < word.length; at++) {
    const before = classes[word.charCodeAt(at - 1)] ?? SEPARATOR;
    const here = classes[word.charCodeAt(at)] ?? SEPARATOR;
    const after = at + 1 < word.length ? classes[word.charCodeAt(at + 1)] ?? SEPARATOR : SEPARATOR;
    if (!isBorder(before, here, after)) continue;
    parts.push(word.slice(start, at));
    start = at;
  }
  parts.push(word.slice(start));
  return parts;
}

function isBorder(before: number, here: number, after: number): boolean {
  if (before === MARK || here === MARK) return false;
  if ((before === DIGIT) !== (here === DIGIT)) return true;
  if (here !== UPPER) return false;
  return before === LOWER || (before === UPPER && after === LOWER);
}

function foldWord(word: string): string {
  const lower = cut(word.toLowerCase().replaceAll("’", "'"));
  return PLAIN_WORD.test(lower) ? foldPlural(lower) : lower;
}

function cut(term: string): string {
  return term.length > MAX_TERM_CHARS ? term.slice(0, MAX_TERM_CHARS) : term;
}

/**
 * Takes the plural s off a plain English word of four letters or more: `ies` to `y`, `sses` to
 * `ss`, a last `s` unless the word ends in `ss`, `us` or `is` (after Harman's S stemmer, 1991).
 */
export function foldPlural(word: string): string {
  if (word.length < 4 || !word.endsWith("s")) return word;
  if (word.endsWith("ies")) return word.slice(0, -3) + "y";
  if (word.endsWith("sses")) return word.slice(0, -2);
  return /(?:ss|us|is)$/.test(word) ? word : word.slice(0, -1);
}
