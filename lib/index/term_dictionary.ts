/**
 * The dictionary of the index: each term has a number, and the lists that find a term by a part of
 * it are kept beside it, so that neither a prefix nor a single character ever scans all terms.
 */
import { PostingPool } from "./_posting_pool.ts";
import { type Frozen, frozenTogether, type SnapshotReader } from "./_snapshot_stream.ts";
import { StringTable } from "./_string_table.ts";
import { TermLists } from "./_term_lists.ts";

/** The shortest beginning of a word that may stand for the word. */
export const MIN_PREFIX_LETTERS = 3;
/** Shorter words are too near to each other to guess between them. */
export const MIN_TYPO_LETTERS = 5;

const PLAIN_WORD = /^\p{Script=Latin}+$/u;

/** Terms and their numbers, 0 and up; a term once known is known for good. */
export class TermDictionary {
  #terms = new StringTable();
  /** Words by their first letters. */
  #byPrefix = new TermLists();
  /** Words by their length in letters. */
  #byLength = new PostingPool();
  /** Bigrams by their first and by their last character, a lone character under both. */
  #byFirst = new TermLists();
  #byLast = new TermLists();

  /** Makes a dictionary of what `freeze()` saved. */
  static async restore(reader: SnapshotReader): Promise<TermDictionary> {
    const dictionary = new TermDictionary();
    dictionary.#terms = await StringTable.restore(reader);
    dictionary.#byPrefix = await TermLists.restore(reader);
    dictionary.#byLength = await PostingPool.restore(reader);
    dictionary.#byFirst = await TermLists.restore(reader);
    dictionary.#byLast = await TermLists.restore(reader);
    return dictionary;
  }

  /** Takes down which terms are known now. */
  freeze(): Frozen {
    const parts = [this.#terms, this.#byPrefix, this.#byLength, this.#byFirst, this.#byLast];
    return frozenTogether(parts.map((part) => part.freeze()));
  }

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
    return this.#byPrefix.at(beginning.slice(0, MIN_PREFIX_LETTERS)).filter((number) => {
      const term = this.termOf(number);
      return term.length > beginning.length && term.startsWith(beginning);
    });
  }

  /** Returns the numbers of the words that one slip of the keyboard parts from `word`. */
  nearTo(word: string): number[] {
    if (word.length < MIN_TYPO_LETTERS || !PLAIN_WORD.test(word)) return [];
    return [word.length - 1, word.length, word.length + 1].flatMap((length) =>
      this.#byLength.numbersOf(length).filter((number) =>
        // One slip leaves one of both ends alone, which is quicker to see than the whole word.
        this.#sharesAnEnd(number, word) && isOneSlip(word, this.termOf(number))
      )
    );
  }

  /** Returns the bigrams in which a character stands first, and those in which it stands last. */
  around(char: string): { readonly first: readonly number[]; readonly last: readonly number[] } {
    return { first: this.#byFirst.at(char), last: this.#byLast.at(char) };
  }

  #sharesAnEnd(number: number, word: string): boolean {
    return this.#terms.unitAt(number, 0) === word.charCodeAt(0) ||
      this.#terms.unitAt(number, -1) === word.charCodeAt(word.length - 1);
  }

  #fileAway(term: string, number: number): void {
    if (PLAIN_WORD.test(term)) {
      if (term.length > MIN_PREFIX_LETTERS) {
        this.#byPrefix.add(term.slice(0, MIN_PREFIX_LETTERS), number);
      }
      this.#byLength.append(term.length, number);
    } else if (term.length <= 4 && !/^[\x20-\x7e]/.test(term)) {
      const chars = [...term];
      this.#byFirst.add(chars[0] ?? "", number);
      this.#byLast.add(chars.at(-1) ?? "", number);
    }
  }
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
