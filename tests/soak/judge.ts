/** Asks for words, as any client does, and knows what has to come back. */
import type { HealthAnswer, SearchAnswer } from "@/lib/contracts.ts";
import type { Ledger } from "./ledger.ts";

const HITS = 10;

/** Sends a request to the program; `path` starts with a slash. */
export type Get = (path: string) => Promise<Response>;

export interface Expected {
  readonly word: string;
  /** Where it has to be found; nowhere if empty. */
  readonly paths: readonly string[];
}

export interface JudgeOptions {
  /** True while something cannot be read. */
  readonly mayBeUnverified: boolean;
  /** True to ask for all at once. */
  readonly isTogether: boolean;
}

/** Judges the answers of a program. */
export class Judge {
  readonly #get: Get;
  readonly #ledger: Ledger;

  constructor(get: Get, ledger: Ledger) {
    this.#get = get;
    this.#ledger = ledger;
  }

  /** Asks for each word; what is wrong goes into the ledger. */
  async check(expected: readonly Expected[], options: JudgeOptions): Promise<void> {
    if (options.isTogether) {
      await Promise.all(expected.map((each) => this.#checkWord(each, options)));
    } else {
      for (const each of expected) await this.#checkWord(each, options);
    }
    await this.#noteMode();
  }

  /** Asks for a word; only that there is an answer counts. */
  async race(word: string): Promise<void> {
    const response = await this.#search(word);
    if (!response.ok) this.#ledger.noteWrong("failed", `a racing search: ${response.status}`);
    await response.body?.cancel();
  }

  async #checkWord({ word, paths }: Expected, { mayBeUnverified }: JudgeOptions): Promise<void> {
    const ledger = this.#ledger;
    ledger.asked++;
    const response = await this.#search(word);
    if (!response.ok) {
      await response.body?.cancel();
      return ledger.noteWrong("failed", `"${word}": ${response.status}`);
    }
    const answer: SearchAnswer = await response.json();
    if (answer.indexing) ledger.noteWrong("indexing", `"${word}"`);
    if (answer.freshness) {
      if (mayBeUnverified) ledger.rightlyUnverified++;
      else ledger.noteWrong("unverified", `"${word}"`);
    }
    const found = answer.results.map(({ path }) => path).sort();
    const wanted = [...paths].sort();
    if (found.join("\n") === wanted.join("\n") && answer.total === wanted.length) return;
    ledger.noteWrong("wrong", `"${word}": ${list(wanted)} expected, ${list(found)} found`);
  }

  #search(word: string): Promise<Response> {
    const params = new URLSearchParams({ q: word, mode: "keyword", limit: String(HITS) });
    return this.#get(`/api/search?${params}`);
  }

  async #noteMode(): Promise<void> {
    const { freshness }: HealthAnswer = await (await this.#get("/healthz")).json();
    const why = freshness.reason === undefined ? "" : ` (${freshness.reason})`;
    this.#ledger.noteMode(freshness.mode + why);
  }
}

function list(paths: readonly string[]): string {
  return paths.length === 0 ? "nothing" : paths.join(", ");
}
