/** Our index in memory, without disk and comparison with the vault. */
import { runAtOnce, systemClock } from "@/lib/seams.ts";
import { NoteTable } from "@/lib/index/note_table.ts";
import { NoteDatabase } from "@/lib/index/orama.ts";
import type { ParsedQuery } from "@/lib/index/parse_query.ts";
import { Postings, TermCounter } from "@/lib/index/postings.ts";
import { hashBytes, prepareNote } from "@/lib/index/prepare_note.ts";
import { planQuery } from "@/lib/index/query_plan.ts";
import { createTokenizer } from "@/lib/index/tokenizer.ts";
import { parseVaultPath } from "@/lib/vault/vault_path.ts";
import { type Engine, type EngineNote, HITS } from "./engine.ts";

/** From bytes to a note that can be found: hash, parse, chunk, tokenise, index. */
export class OurEngine implements Engine {
  readonly #postings = new Postings();
  readonly #database = new NoteDatabase(this.#postings);
  readonly #prepare = {
    layout: { memoriesFolder: "memories" },
    tokenizer: createTokenizer(),
    counter: new TermCounter(this.#postings),
    onlyKinds: undefined,
  };
  readonly #table = new NoteTable({
    layout: this.#prepare.layout,
    database: this.#database,
    onlyKinds: undefined,
  });

  insert({ path, bytes }: EngineNote): void {
    const nowMs = systemClock.nowMs();
    const stamp = { size: bytes.length, mtimeMs: nowMs, ctimeMs: nowMs, ino: 0, dev: 0 };
    const etag = runAtOnce(hashBytes(bytes));
    const file = { bytes, stamp, etag };
    const { note, terms } = runAtOnce(prepareNote(this.#prepare, parseVaultPath(path), file));
    const slot = terms ? runAtOnce(this.#database.stage(terms)) : -1;
    this.#table.put(note, { stamp, hashedAtMs: nowMs }, slot);
  }

  finish(): void {}

  settle(): void {}

  search(query: ParsedQuery): number {
    const plan = planQuery(query, this.#postings, { withTypos: false });
    return this.#database.search(plan, {}, HITS).hits.length;
  }
}

/** Tokenises the chunks and adds them to the postings, no more. */
export class OurPostings implements Engine {
  readonly #postings = new Postings();
  readonly #tokenizer = createTokenizer();
  readonly #counter = new TermCounter(this.#postings);

  insert({ chunks }: EngineNote): void {
    for (const chunk of chunks) {
      this.#tokenizer.forEachTerm(chunk, (term) => this.#counter.add(term));
    }
    this.#postings.activate(runAtOnce(this.#postings.stage(this.#counter.take())));
  }

  finish(): void {}

  settle(): void {}

  search(query: ParsedQuery): number {
    const plan = planQuery(query, this.#postings, { withTypos: false });
    return Math.min(HITS, this.#postings.score(plan.clauses).slots.length);
  }
}
