/**
 * The dictionary of the index: each term has a number, and the lists that find a term by a part of
 * it are kept beside it, so that neither a prefix nor a single character ever scans all terms.
 */
import { StringTable } from "./_string_table.ts";

/** The shortest beginning of a word that may stand for the word. */
export const MIN_PREFIX_LETTERS = 3;
/** Shorter words are too near to each other to guess between them. */
export const MIN_TYPO_LETTERS = 5;

const PLAIN_WORD = /^\p{Script=Latin}+$/u;

/** Terms and their numbers, 0 and up; a term once known is known for good. */
export class TermDictionary {
  readonly #terms = new StringTable();
  /** Words by their first letters. */
  readonly #byPrefix = new Map<string, number[]>();
  /** Words by their length in letters. */
  readonly #byLength: number[][] = [];
  /** Bigrams by their first and by their last character, a lone character under both. */
  readonly #byFirst = new Map<string, number[]>();
  readonly #byLast = new Map<string, number[]>();

  get size(): number {
    return this.#terms.size;
  }

  numberOf(term: string): number | undefined {
    return this.#terms.find(term);
  }

  termOf(number: number): string {
    return this.#terms.at(number);
  }

  /** Returns the term's number, a new one if it was unknown. */
  intern(term: string): number {
    const known = this.#terms.size;
    const number = this.#terms.intern(term);
    if (number === known) this.#fileAway(term, number);
    return number;
  }

  /** Returns the numbers of all words that go on after `beginning`, of three letters and more. */
  withPrefix(beginning: string): number[] {
    return (this.#byPrefix.get(beginning.slice(0, MIN_PREFIX_LETTERS)) ?? []).filter((number) => {
      const term = this.termOf(number);
      return term.length > beginning.length && term.startsWith(beginning);
    });
  }

  /** Returns the numbers of the words that one slip of the keyboard parts from `word`. */
  nearTo(word: string): number[] {
    const found: number[] = [];
    if (word.length < MIN_TYPO_LETTERS || !PLAIN_WORD.test(word)) return found;
    for (let length = word.length - 1; length <= word.length + 1; length++) {
      for (const number of this.#byLength[length] ?? []) {
        // One slip leaves one of both ends alone, which is quicker to see than the whole word.
        if (this.#sharesAnEnd(number, word) && isOneSlip(word, this.termOf(number))) {
          found.push(number);
        }
      }
    }
    return found;
  }

  /** Returns the bigrams in which a character stands first, and those in which it stands last. */
  around(char: string): { readonly first: readonly number[]; readonly last: readonly number[] } {
    return { first: this.#byFirst.get(char) ?? [], last: this.#byLast.get(char) ?? [] };
  }

  #sharesAnEnd(number: number, word: string): boolean {
    return this.#terms.unitAt(number, 0) === word.charCodeAt(0) ||
      this.#terms.unitAt(number, -1) === word.charCodeAt(word.length - 1);
  }

  #fileAway(term: string, number: number): void {
    if (PLAIN_WORD.test(term)) {
      if (term.length > MIN_PREFIX_LETTERS) {
        addTo(this.#byPrefix, term.slice(0, MIN_PREFIX_LETTERS), number);
      }
      (this.#byLength[term.length] ??= []).push(number);
    } else if (term.length <= 4 && !/^[\x20-\x7e]/.test(term)) {
      const chars = [...term];
      addTo(this.#byFirst, chars[0] ?? "", number);
      addTo(this.#byLast, chars.at(-1) ?? "", number);
    }
  }
}

function addTo(lists: Map<string, number[]>, key: string, number: number): void {
  const list = lists.get(key);
  if (list) list.push(number);
  else lists.set(key, [number]);
}

/** One letter more, less or other, or two neighbours swapped. */
export function isOneSlip(word: string, other: string): boolean {
  if (word === other || Math.abs(word.length - other.length) > 1) return false;
  let start = 0;
  while (start < word.length && word[start] === other[start]) start++;
  let end = word.length;
  let otherEnd = other.length;
  while (end > start && otherEnd > start && word[end - 1] === other[otherEnd - 1]) {
    end--;
    otherEnd--;
  }
  const rest = word.slice(start, end);
  const otherRest = other.slice(start, otherEnd);
  if (rest.length <= 1 && otherRest.length <= 1) return true;
  return rest.length === 2 && rest[0] === otherRest[1] && rest[1] === otherRest[0] &&
    otherRest.length === 2;
}
