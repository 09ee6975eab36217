/**
 * What the pieces of a model are spelt with. Each letter has a small number, so that a table tells
 * at one look what a character of a text is: a separator, a letter of a word, or Han. Characters
 * that mean the same to the model, upper and lower case, traditional and simplified, share one.
 */
import { refused } from "./_model_sections.ts";

/** Parts runs, and belongs to none. */
export const SEPARATOR = 0;
/** A letter or digit that no piece is spelt with. */
export const UNKNOWN_LETTER = 1;
const FIRST_KNOWN = 2;
/** A letter takes so many bits beside a node of the trie. */
export const LETTER_BITS = 13;

/** Stands in pieces where a word begins; in texts it is a separator. */
const WORD_START = "▁";
const BASIC_PLANE_SIZE = 0x10000;
const LETTERS_AND_DIGITS = /[\p{L}\p{N}]+/gu;
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;

/** UTF-16 units, both ends included. */
type Ranges = readonly (readonly [first: number, last: number])[];
const HAN_RANGES: Ranges = [[0x3400, 0x4dbf], [0x4e00, 0x9fff], [0xf900, 0xfaff]];
const OTHER_RANGES: Ranges = [[0, 0x33ff], [0x4dc0, 0x4dff], [0xa000, 0xf8ff], [0xfb00, 0xffff]];

/** The numbers of the letters that pieces are spelt with; Han has the highest. */
export interface Alphabet {
  /** By UTF-16 unit; 0 = no piece has it. */
  readonly letters: Uint16Array;
  readonly wordStart: number;
  /** From here on letters are Han; the first stands for all Han that no piece has. */
  readonly firstHan: number;
}

/**
 * Lists the letters of all pieces.
 *
 * @throws {ModelFileError} If there are too many, or one lies beyond the basic plane.
 */
export function readAlphabet(pieces: string): Alphabet {
  const letters = new Uint16Array(BASIC_PLANE_SIZE);
  for (let i = 0; i < pieces.length; i++) letters[pieces.charCodeAt(i)] = 1;
  letters["\n".charCodeAt(0)] = 0;
  if (letters.subarray(0xd800, 0xe000).includes(1)) {
    throw refused("a piece has a character beyond the basic plane");
  }
  const firstHan = numberLetters(letters, OTHER_RANGES, FIRST_KNOWN);
  const end = numberLetters(letters, HAN_RANGES, firstHan + 1);
  if (end > 1 << LETTER_BITS) throw refused("its pieces have too many letters");
  return { letters, firstHan, wordStart: letters[WORD_START.charCodeAt(0)] ?? 0 };
}

/** Numbers those that are not 0 from `number` on, and returns the number after the last. */
function numberLetters(letters: Uint16Array, ranges: Ranges, number: number): number {
  let next = number;
  for (const [first, last] of ranges) {
    for (let unit = first; unit <= last; unit++) if (letters[unit] !== 0) letters[unit] = next++;
  }
  return next;
}

/** Turns characters of texts, after NFKC, into letters. */
export interface LetterTable extends Alphabet {
  /** Returns the letter of a character beyond the basic plane. */
  beyond(point: number): number;
}

/**
 * Makes the table for texts from the alphabet of the pieces, in two steps.
 *
 * @param traditional Characters, each of which is read as the one at its place in `simplified`.
 * @throws {ModelFileError} If these two are not of one length.
 */
export function* createLetterTable(
  alphabet: Alphabet,
  traditional: string,
  simplified: string,
): Generator<void, LetterTable> {
  const letters = lettersOfTexts(alphabet);
  yield;
  const beyondBasicPlane = new Map<number, number>();
  const beyond = (point: number) => beyondBasicPlane.get(point) ?? beyondLetterOf(point);
  for (const [from, letter] of readFolds(traditional, simplified, letters)) {
    if (from < BASIC_PLANE_SIZE) letters[from] = letter;
    else beyondBasicPlane.set(from, letter);
  }
  return { ...alphabet, letters, beyond };
}

function lettersOfTexts({ letters: known, firstHan }: Alphabet): Uint16Array {
  const letters = new Uint16Array(BASIC_PLANE_SIZE);
  for (const { index, 0: run } of basicPlane().matchAll(LETTERS_AND_DIGITS)) {
    letters.fill(UNKNOWN_LETTER, index, index + run.length);
  }
  for (const [first, last] of HAN_RANGES) letters.fill(firstHan, first, last + 1);
  for (let unit = 0; unit < BASIC_PLANE_SIZE; unit++) {
    const letter = known[unit] ?? 0;
    // The start of a word, for one, is no letter in a text.
    if (letter === 0 || letters[unit] === SEPARATOR) continue;
    letters[unit] = letter;
    if (letter < firstHan) letters[upperCaseOf(unit)] = letter;
  }
  return letters;
}

/** Returns a text with each character at the place of its own number. */
function basicPlane(): string {
  const units = new Uint16Array(BASIC_PLANE_SIZE);
  for (let unit = 0; unit < BASIC_PLANE_SIZE; unit++) units[unit] = unit;
  return new TextDecoder("utf-16le", { ignoreBOM: true }).decode(units);
}

/** Returns the letter itself if it has no upper case of its own, as `ß` and `ı`. */
function upperCaseOf(unit: number): number {
  const letter = String.fromCharCode(unit);
  const upper = letter.toUpperCase();
  return upper.length === 1 && upper.toLowerCase() === letter ? upper.charCodeAt(0) : unit;
}

function beyondLetterOf(point: number): number {
  return LETTER_OR_DIGIT.test(String.fromCodePoint(point)) ? UNKNOWN_LETTER : SEPARATOR;
}

/** All are read before any is used: what one is folded to may itself be folded elsewhere. */
function readFolds(
  traditional: string,
  simplified: string,
  letters: Uint16Array,
): (readonly [from: number, letter: number])[] {
  const to = Array.from(simplified, (char) => char.codePointAt(0) ?? 0);
  const folds = Array.from(traditional, (char, i) => {
    const point = to[i] ?? 0;
    const letter = point < BASIC_PLANE_SIZE ? letters[point] : beyondLetterOf(point);
    return [char.codePointAt(0) ?? 0, letter ?? SEPARATOR] as const;
  });
  if (folds.length !== to.length) {
    throw refused("traditional and simplified characters are not of one number");
  }
  return folds;
}
