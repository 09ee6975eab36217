import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { NoteDatabase, type NoteDocument, type NoteFilter } from "@/lib/index/orama.ts";
import { parseQuery } from "@/lib/index/parse_query.ts";
import { Postings } from "@/lib/index/postings.ts";
import { TermCounter } from "@/lib/index/term_counter.ts";
import { planQuery } from "@/lib/index/query_plan.ts";
import { createTokenizer } from "@/lib/index/tokenizer.ts";
import { runAtOnce } from "@/lib/seams.ts";
import { parseVaultPath } from "@/lib/vault/vault_path.ts";
import { randomSource } from "../_support/random.ts";

const tokenizer = createTokenizer();

interface Text {
  readonly document: NoteDocument;
  readonly text: string;
}

/** A database of texts, searched by words. */
function openDatabase() {
  const postings = new Postings();
  const database = new NoteDatabase(postings);
  const counter = new TermCounter(postings);
  return {
    database,
    put({ document, text }: Text): void {
      tokenizer.forEachTerm(text, (term) => counter.add(term));
      database.put(document, runAtOnce(database.stage(counter.take())));
    },
    termCount: () => postings.dictionary.size,
    search(query: string, filter: NoteFilter = {}, limit = 10) {
      const plan = planQuery(parseQuery(query, tokenizer), postings, { withTypos: false });
      return database.search({ plan }, filter, { limit });
    },
  };
}

function documentAt(path: string, extra: Partial<NoteDocument> = {}): NoteDocument {
  return {
    id: parseVaultPath(path),
    kind: "note",
    status: "active",
    project: "",
    folders: path.split("/").slice(0, -1).map((_, i, all) => all.slice(0, i + 1).join("/")),
    tags: [],
    visibility: "listed",
    isHintable: true,
    ...extra,
  };
}

describe("NoteDatabase", () => {
  it("search() filters before it ranks", () => {
    const db = openDatabase();
    for (let i = 0; i < 500; i++) {
      db.put({ document: documentAt(`a/${i}.md`), text: "deploy deploy deploy" });
    }
    db.put({
      document: documentAt("b/one.md", { tags: ["x"] }),
      text: "much about other things, deploy",
    });

    const inFolder = db.search("deploy", { folder: "b" }, 1);
    const byTag = db.search("deploy", { tags: ["x", "y"] }, 1);
    const byKind = db.search("deploy", { kinds: ["memory"] }, 1);

    deepEqual(inFolder.hits.map((hit) => hit.path), ["b/one.md"]);
    deepEqual(byTag.hits.map((hit) => hit.path), ["b/one.md"]);
    equal(inFolder.total, 1);
    equal(byKind.total, 0);
  });

  it("search() lets nothing but what may be hinted through before it ranks, where that is asked", () => {
    const db = openDatabase();
    for (let i = 0; i < 100; i++) {
      db.put({ document: documentAt(`${i}.md`, { isHintable: false }), text: "deploy deploy" });
    }
    db.put({ document: documentAt("z.md"), text: "much about other things, deploy" });

    const found = db.search("deploy", { hintableOnly: true }, 1);
    const all = db.search("deploy", { hintableOnly: false }, 1);

    deepEqual(found.hits.map((hit) => hit.path), ["z.md"]);
    deepEqual([found.total, all.total], [1, 101]);
    deepEqual([...db.database.filterPaths({ hintableOnly: true })], ["z.md"]);
  });

  it("search() gives the same order, whatever the limit", () => {
    const words = ["alpha", "bravo", "delta", "gamma", "omega"];
    for (let seed = 1; seed <= 40; seed++) {
      const db = openDatabase();
      const random = randomSource(seed);
      const count = 20 + random(40);
      for (let i = 0; i < count; i++) {
        const [shift, step] = [random(5), 1 + random(3)];
        // The same counts in another order: sums that differ in their last bit, if at all.
        const text = words.map((word, k) => `${word} `.repeat(1 + (k * step + shift) % 5)).join("");
        db.put({ document: documentAt(`${(i * 37) % 61}.md`), text });
      }
      const { hits: all } = db.search(words.join(" "), {}, count);

      for (let limit = 1; limit < count; limit++) {
        deepEqual(db.search(words.join(" "), {}, limit).hits, all.slice(0, limit));
      }
    }
  });

  it("search() in a folder also looks into the folders below it, and into no other", () => {
    const db = openDatabase();
    db.put({ document: documentAt("a/b/c.md"), text: "zebra" });
    db.put({ document: documentAt("ab/c.md"), text: "zebra" });

    deepEqual(db.search("zebra", { folder: "a" }).hits.map((hit) => hit.path), ["a/b/c.md"]);
    deepEqual(db.search("zebra", { folder: "a/b" }).hits.map((hit) => hit.path), ["a/b/c.md"]);
  });

  it("search() shows inactive notes only when asked by status, and conflicts never", () => {
    const db = openDatabase();
    db.put({ document: documentAt("on.md"), text: "zebra" });
    const old = { status: "deprecated", visibility: "inactive" } as const;
    db.put({ document: documentAt("old.md", old), text: "zebra" });
    db.put({ document: documentAt("twin.md", { visibility: "conflict" }), text: "zebra" });

    const usual = db.search("zebra");
    const deprecated = db.search("zebra", { status: "deprecated" });

    deepEqual(usual.hits.map((hit) => hit.path), ["on.md"]);
    deepEqual(deprecated.hits.map((hit) => hit.path), ["old.md"]);
    deepEqual([...db.database.filterPaths({ status: "deprecated" })], ["old.md"]);
  });

  it("refile() changes what a note is filtered by and keeps its words", () => {
    const db = openDatabase();
    db.put({ document: documentAt("n.md"), text: "zebra" });

    db.database.refile(documentAt("n.md", { tags: ["new"], visibility: "listed" }));

    equal(db.search("zebra", { tags: ["new"] }).total, 1);
    db.database.refile(documentAt("n.md", { visibility: "conflict" }));
    equal(db.search("zebra").total, 0);
  });

  it("search() orders equal scores by path, whenever the notes came in", () => {
    const db = openDatabase();
    for (const name of ["c", "a", "b"]) {
      db.put({ document: documentAt(`${name}.md`), text: "zebra" });
    }
    db.put({ document: documentAt("a.md"), text: "zebra" });

    deepEqual(db.search("zebra", {}, 2).hits.map((hit) => hit.path), ["a.md", "b.md"]);
  });

  it("search() wants every word of a quoted query, and none of any other", () => {
    const db = openDatabase();
    db.put({ document: documentAt("a.md"), text: "记忆系统需要定期回收 cron 定时" });

    for (const found of ["记忆 系统", "cron 定时", "系统记忆", '"系统记忆" cron', '"cron 定时"']) {
      equal(db.search(found).total, 1, found);
    }
    for (const missed of ['"系统记忆"', '"cron zebra"']) equal(db.search(missed).total, 0, missed);
  });

  it("compact() gives back what removed notes took, and changes no answer", () => {
    const db = openDatabase();
    const words = (round: number) => Array.from({ length: 20_000 }, (_, i) => `w${round}x${i}`);
    const document = documentAt("log.md", { tags: ["t"] });
    db.put({ document: documentAt("a.md"), text: "zebra zebra 数据库" });
    db.put({ document: documentAt("old.md", { visibility: "inactive" }), text: "zebra" });
    for (let round = 0; round < 8; round++) {
      db.put({ document, text: `zebra ${words(round).join(" ")}` });
    }
    const ask = () =>
      ["zebra", "w7x19999", "w0x1", "数据"].map((query) => [
        db.search(query),
        db.search(query, { tags: ["t"] }),
      ]);
    const before = ask();

    ok(db.database.isWasteful);
    runAtOnce(db.database.compact());

    ok(!db.database.isWasteful);
    deepEqual(ask(), before);
    ok(db.termCount() < 50_000);
    db.put({ document: documentAt("b.md"), text: "zebra" });
    db.database.remove("log.md");
    deepEqual(db.search("zebra").hits.map((hit) => hit.path).sort(), ["a.md", "b.md"]);
  });

  it("search() after thousands of changes is the same as in a fresh database", () => {
    const random = randomSource(5);
    const churned = openDatabase();
    const texts = new Map<string, Text>();
    const words = ["constructor", "deploy", "数据库", "锁", "snake_case", "v1.2", "zebra", "回收"];
    const word = () => words[random(words.length)] ?? "";
    for (let change = 0; change < 3_000; change++) {
      const path = `${random(5)}/${random(60)}.md`;
      if (random(3) === 0) {
        churned.database.remove(path);
        texts.delete(path);
        continue;
      }
      const visibility = random(4) === 0 ? "inactive" : "listed";
      const document = documentAt(path, { tags: [`t${random(5)}`], visibility });
      const text = { document, text: Array.from({ length: 1 + random(30) }, word).join(" ") };
      churned.put(text);
      texts.set(path, text);
    }
    const fresh = openDatabase();
    for (const text of texts.values()) fresh.put(text);

    for (let round = 0; round < 300; round++) {
      const query = `${word()} ${word()} ${word()}`;
      const filter = random(2) === 0 ? {} : { tags: [`t${random(5)}`], folder: `${random(5)}` };
      const before = churned.search(query, filter, 20);
      const after = fresh.search(query, filter, 20);
      equal(before.total, after.total);
      deepEqual(before.hits.map((hit) => hit.path), after.hits.map((hit) => hit.path));
      before.hits.forEach((hit, i) => {
        ok(Math.abs(hit.score - (after.hits[i]?.score ?? NaN)) < 1e-9);
        ok(hit.score > 0 && hit.score < 1);
      });
    }
  });
});
