/** Words that only one text ever holds, so that a search for one says which text the index has. */

/** Without vowels and s: no part of speech, no plural, and no common word. */
const LETTERS = "bcdfghjlmnpqrvwx";
const DIGITS = 5;
/** A slip of the keyboard changes one letter, so that no slip makes another of these words. */
const REPEATS = 3;
const WORD = new RegExp(`\\b[${LETTERS}]{${DIGITS * REPEATS}}\\b`, "g");

/** Hands out words that were never used before; all are of one length, one byte a letter. */
export class FreshWords {
  #count = 0;

  next(): string {
    return toWord(this.#count++);
  }

  /** How many there are by now; `wordAt()` knows them by number. */
  get count(): number {
    return this.#count;
  }
}

/** Returns the word that was handed out as so manieth, from 0. */
export function wordAt(number: number): string {
  return toWord(number);
}

/** Returns the words of a text that `FreshWords` made. */
export function wordsIn(text: string): string[] {
  return text.match(WORD) ?? [];
}

function toWord(number: number): string {
  let word = "";
  let rest = number;
  for (let digit = 0; digit < DIGITS; digit++) {
    word = LETTERS.charAt(rest % LETTERS.length).repeat(REPEATS) + word;
    rest = Math.floor(rest / LETTERS.length);
  }
  return word;
}
