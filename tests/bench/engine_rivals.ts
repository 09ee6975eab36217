/** Others' engines, with our terms so that Chinese works and all compare the same. */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { type AnyOrama, create, insert, search } from "@orama/orama";
import type { ParsedQuery } from "@/lib/index/parse_query.ts";
import { createTokenizer } from "@/lib/index/tokenizer.ts";
import { type Engine, type EngineNote, HITS } from "./engine.ts";

/** Orama's own full-text search; one document a chunk. */
export class StockOrama implements Engine {
  readonly #db: AnyOrama;

  constructor() {
    const tokenizer = createTokenizer();
    this.#db = create({
      schema: { text: "string" },
      components: {
        tokenizer: {
          language: "none",
          normalizationCache: new Map(),
          // Repeats are left out, as its own tokenizer does.
          tokenize: (text) => [...new Set(tokenizer.terms(text))],
        },
      },
    });
  }

  insert({ chunks }: EngineNote): void {
    for (const text of chunks) insert(this.#db, { text });
  }

  finish(): void {}

  settle(): void {}

  search({ terms }: ParsedQuery): number {
    const term = terms.map(({ text }) => text).join(" ");
    const found = search(this.#db, { term, limit: HITS });
    if (found instanceof Promise) throw new Error("Orama answered late");
    return found.hits.length;
  }
}

/** SQLite's full-text search in memory, in one transaction, over terms between blanks. */
export class SqliteFts5 implements Engine {
  readonly #db = new DatabaseSync(":memory:");
  readonly #tokenizer = createTokenizer();
  readonly #unit: "chunk" | "note";
  readonly #insert: StatementSync;
  readonly #select: StatementSync;

  /** @param unit What makes a row. */
  constructor(unit: "chunk" | "note") {
    this.#unit = unit;
    // No content: it keeps the index alone, as ours does.
    this.#db.exec(
      `CREATE VIRTUAL TABLE texts USING fts5(text, content='',
        tokenize="unicode61 remove_diacritics 0 tokenchars '_-.:/'")`,
    );
    this.#insert = this.#db.prepare("INSERT INTO texts(text) VALUES (?)");
    this.#select = this.#db.prepare(
      `SELECT rowid, rank FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ${HITS}`,
    );
    this.#db.exec("BEGIN");
  }

  insert({ chunks }: EngineNote): void {
    const texts = this.#unit === "chunk" ? chunks : [chunks.join("\n")];
    for (const text of texts) this.#insert.run(this.#tokenizer.terms(text).join(" "));
  }

  finish(): void {
    this.#db.exec("COMMIT");
  }

  /** Merges its index into one, which is when it is fastest. */
  settle(): void {
    this.#db.exec("INSERT INTO texts(texts) VALUES ('optimize')");
  }

  search({ terms }: ParsedQuery): number {
    return this.#select.all(terms.map(({ text }) => `"${text}"`).join(" OR ")).length;
  }
}
