/** Others' engines, with our terms so that Chinese works and all compare the same. */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { type AnyOrama, create, insert, search } from "@orama/orama";
import type { ParsedQuery } from "@/lib/index/parse_query.ts";
import { createTokenizer } from "@/lib/index/tokenizer.ts";
import { type Engine, type EngineNote, HITS } from "./engine.ts";

/** Of hybrid search; weights, tolerance and relevance are Orama's own. */
export const STOCK_HYBRID_SETTINGS = { mode: "hybrid", similarity: 0, limit: HITS } as const;
export const STOCK_SCHEMA = { text: "string" } as const;

/** Name and version, as the lock file has them. */
export const STOCK_ORAMA: string = `Orama ${
  /orama[@/](\d[^/]*)/.exec(import.meta.resolve("@orama/orama"))?.[1]
}`;

/** Orama's own full-text search; one document a chunk. */
export class StockOrama implements Engine {
  readonly #db: AnyOrama = createStock(STOCK_SCHEMA);

  insert({ chunks }: EngineNote): void {
    for (const text of chunks) insert(this.#db, { text });
  }

  finish(): void {}

  settle(): void {}

  search({ terms }: ParsedQuery): number {
    const term = joinTerms(terms);
    return countHits(search(this.#db, { term, limit: HITS }));
  }
}

/** Orama's own mixture of full text and vectors; one document a chunk. */
export class StockHybridOrama {
  readonly #db: AnyOrama;

  constructor(dimensions: number) {
    this.#db = createStock({ ...STOCK_SCHEMA, vector: `vector[${dimensions}]` });
  }

  /** A chunk without a vector is found by its text alone. */
  insert(text: string, vector: Float32Array | undefined): void {
    // It takes plain lists of numbers only.
    insert(this.#db, vector ? { text, vector: Array.from(vector) } : { text });
  }

  /** Returns how many hits it found. */
  search({ terms }: ParsedQuery, vector: Float32Array): number {
    const value = Array.from(vector);
    return countHits(search(this.#db, {
      ...STOCK_HYBRID_SETTINGS,
      term: joinTerms(terms),
      vector: { value, property: "vector" },
    }));
  }
}

function createStock(schema: Record<string, "string" | `vector[${number}]`>): AnyOrama {
  const tokenizer = createTokenizer();
  return create({
    schema,
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

function joinTerms(terms: ParsedQuery["terms"]): string {
  return terms.map(({ text }) => text).join(" ");
}

function countHits(found: ReturnType<typeof search>): number {
  if (found instanceof Promise) throw new Error("Orama answered late");
  return found.hits.length;
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
