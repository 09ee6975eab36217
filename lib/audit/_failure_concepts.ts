/** Which concepts of failures texts name, and how much two that share some have in common by that. */
import { FIELD_TERMS } from "./_field_terms.ts";
import { rarity } from "./_rarity.ts";
import { SOFTWARE_TERMS } from "./_software_terms.ts";

const MIN_SHARED_TEXTS = 2;

/** The concepts of some texts; made by `readConcepts()`. */
export interface Concepts {
  /** Returns what all concepts weigh that two texts share; the rarer, the more. */
  shared(first: number, second: number): number;
}

/** Finds the concepts of texts, in steps. */
export function* readConcepts(texts: readonly string[]): Generator<void, Concepts> {
  const matcher = new TermMatcher();
  const conceptsOf: ReadonlySet<number>[] = [];
  const frequency = new Map<number, number>();
  for (const text of texts) {
    const found = matcher.find(text);
    conceptsOf.push(found);
    for (const concept of found) frequency.set(concept, (frequency.get(concept) ?? 0) + 1);
    yield;
  }
  const weights = new Map(
    [...frequency].map(([concept, count]) => [
      concept,
      count < MIN_SHARED_TEXTS ? 0 : rarity(count, texts.length),
    ]),
  );
  return {
    shared(first, second) {
      let sum = 0;
      const others = conceptsOf[second];
      for (const concept of conceptsOf[first] ?? []) {
        if (others?.has(concept)) sum += weights.get(concept) ?? 0;
      }
      return sum;
    },
  };
}

/** English terms are whole words, Chinese ones stand anywhere. */
class TermMatcher {
  /** By its first word: terms of English, with the concepts that they name. */
  readonly #english = new Map<string, [term: string, concept: number][]>();
  /** By its first two characters. */
  readonly #chinese = new Map<string, [term: string, concept: number][]>();

  constructor() {
    [...SOFTWARE_TERMS, ...FIELD_TERMS].forEach((line, concept) => {
      for (const term of line.split("|")) this.#add(term, concept);
    });
  }

  find(text: string): ReadonlySet<number> {
    const plain = text.normalize("NFKC").toLowerCase();
    const found = new Set<number>();
    const words = ` ${spaced(plain)} `;
    for (const word of new Set(words.split(" "))) {
      for (const [term, concept] of this.#english.get(word) ?? []) {
        if (words.includes(` ${term} `)) found.add(concept);
      }
    }
    const run = plain.replace(/\s+/g, "");
    for (let at = 0; at < run.length - 1; at++) {
      for (const [term, concept] of this.#chinese.get(run.slice(at, at + 2)) ?? []) {
        if (run.startsWith(term, at)) found.add(concept);
      }
    }
    return found;
  }

  #add(term: string, concept: number): void {
    const isChinese = /\p{Script=Han}/u.test(term);
    const plain = isChinese ? term.replace(/\s+/g, "") : spaced(term);
    const key = isChinese ? plain.slice(0, 2) : plain.split(" ")[0] ?? "";
    const table = isChinese ? this.#chinese : this.#english;
    const list = table.get(key);
    if (list) list.push([plain, concept]);
    else table.set(key, [[plain, concept]]);
  }
}

function spaced(text: string): string {
  return text.replace(/[^\p{L}\p{N}]+/gu, " ").trim();
}
