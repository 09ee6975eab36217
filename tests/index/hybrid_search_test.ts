import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import type { Config } from "@/lib/config.ts";
import type { NoteQuery } from "@/lib/index/note_search.ts";
import { parseVaultPath } from "@/lib/vault/vault_path.ts";
import { conceptEmbedder } from "../_support/concept_embedder.ts";
import { randomSource } from "../_support/random.ts";
import { testServices } from "../_support/services.ts";
import type { Files } from "../_support/temp_vault.ts";

/** Services with vectors of a few concepts, loaded. */
async function openWorld(files: Files, config: Partial<Config> = {}) {
  const embedder = conceptEmbedder();
  const world = await testServices(files, { embedding: "static", ...config }, { embedder });
  await world.ready();
  const search = async (text: string, extra: Partial<NoteQuery> = {}) => {
    await world.index.refresh();
    return await world.index.search({ text, mode: "hybrid", filter: {}, limit: 20, ...extra });
  };
  const paths = async (text: string, extra: Partial<NoteQuery> = {}) =>
    (await search(text, extra)).hits.map((hit) => hit.note.path as string);
  return { ...world, search, paths };
}

const memory = (fields: string, body: string) =>
  `---\nid: ${fields.split("\n")[0]}\nname: A memory\ndescription: of something\n${
    fields.split("\n").slice(1).join("\n")
  }\n---\n${body}\n`;

describe("searchIndex() by meaning", () => {
  it("searchIndex() finds a note in the other language that shares no word", async () => {
    await using world = await openWorld({
      "en.md": "# Bakery\n\nThe loaf rises overnight.\n",
      "zh.md": "# 厨房\n\n面包要发酵一夜。\n",
      "other.md": "# Water\n\nThe river is high.\n",
    });

    const { hits, total } = await world.search("面包怎么做");
    const english = await world.paths("bread", { mode: "vector" });

    deepEqual(hits.map((hit) => hit.note.path).sort(), ["en.md", "zh.md"]);
    deepEqual(hits.map((hit) => hit.signals.dense), [1, 1]);
    equal(total, 2);
    deepEqual(english.sort(), ["en.md", "zh.md"]);
  });

  it("searchIndex() asks for the meaning of the best by words alone, and scores them alike", async () => {
    const random = randomSource(3);
    const words = ["cat", "bread", "cache", "river", "feline", "flour", "page", "water"];
    const files = Object.fromEntries(
      Array.from({ length: 300 }, (_, i) => {
        const text = Array.from({ length: 1 + random(6) }, () => words[random(words.length)]);
        return [`${i}.md`, `# Note ${i}\n\n${text.join(" ")}\n`];
      }),
    );
    await using world = await openWorld({ ...files, "only-meaning.md": "a kitten\n" });

    const whole = await world.search("cat flour", { limit: 400 });
    const best = await world.search("cat flour", { limit: 400, meaning: "of-best-words" });

    const byPath = new Map(whole.hits.map((hit) => [hit.note.path, hit]));
    ok(best.hits.length >= 64 && best.hits.length < whole.hits.length);
    for (const { note, score, signals } of best.hits) {
      const other = byPath.get(note.path);
      deepEqual([score, signals], [other?.score, other?.signals], note.path);
    }
    // The order is the same among those that are there.
    const found = new Set(best.hits.map(({ note }) => note.path));
    deepEqual(
      best.hits.map(({ note }) => note.path),
      whole.hits.map(({ note }) => note.path).filter((path) => found.has(path)),
    );
    const leastWord = Math.min(...best.hits.map(({ signals }) => signals.keyword ?? 0));
    ok(
      whole.hits.every(({ note, signals }) =>
        found.has(note.path) || (signals.keyword ?? 0) <= leastWord
      ),
    );
    ok(whole.hits.some(({ note }) => note.path === "only-meaning.md"));
    ok(!found.has("only-meaning.md" as typeof best.hits[0]["note"]["path"]));
  });

  it("searchIndex() goes by meaning where a query has function words alone, whatever is asked", async () => {
    await using world = await openWorld({ "a.md": "a kitten\n", "b.md": "the bread\n" });

    deepEqual(
      await world.paths("how", { meaning: "of-best-words" }),
      await world.paths("how"),
    );
    deepEqual(await world.paths("zzz", { meaning: "of-best-words" }), []);
  });

  it("searchIndex() shows every signal, and null for one that could not speak", async () => {
    await using world = await openWorld({
      "both.md": "---\ntitle: Cat\n---\nA kitten in the river\n",
      "mute.md": "nothing that is known, but the word feline\n",
    });

    const hybrid = await world.search("cat feline");
    const vector = await world.search("cat feline", { mode: "vector" });
    const keyword = await world.search("cat feline", { mode: "keyword" });

    const signalsAt = (answer: typeof hybrid, path: string) =>
      answer.hits.find((hit) => hit.note.path === path)?.signals;
    const both = signalsAt(hybrid, "both.md");
    ok(both && both.keyword !== null && both.keyword > 0 && both.metadata === 1);
    ok(both.body !== null && Math.abs(both.body - Math.SQRT1_2) < 0.01 && both.dense === 1);
    const mute = signalsAt(hybrid, "mute.md");
    ok(mute && mute.keyword !== null && mute.keyword > 0);
    deepEqual([mute.metadata, mute.body, mute.dense], [null, null, null]);
    equal(signalsAt(vector, "both.md")?.keyword, null);
    equal(signalsAt(vector, "mute.md"), undefined);
    deepEqual(signalsAt(keyword, "both.md"), { ...both, metadata: null, body: null, dense: null });
  });

  it("searchIndex() shows scores of the mix on the scale of the model", async () => {
    await using world = await openWorld({ "a.md": "cat" });

    const { hits: [hit] } = await world.search("kitten");
    const { hits: [vector] } = await world.search("kitten", { mode: "vector" });

    // Meaning 1 of weight .4, words that stayed silent: .4, which is worth a hint.
    equal(hit?.signals.dense, 1);
    ok(Math.abs((hit?.score ?? 0) - 0.5) < 1e-9);
    equal(vector?.score, 1);
  });

  it("searchIndex() puts the nearer of two notes first that are both beyond the ceiling", async () => {
    await using world = await openWorld({ "a.md": "cat cat cat cat river", "z.md": "cat" });

    for (const mode of ["vector", "hybrid"] as const) {
      const { hits } = await world.search("猫", { mode });

      deepEqual(hits.map((hit) => hit.note.path), ["z.md", "a.md"]);
      equal(hits[0]?.score, hits[1]?.score);
    }
  });

  it("searchIndex() weighs meaning as the configuration says", async () => {
    const files = { "a.md": "cat", "b.md": "kitten kitten river" };
    await using words = await openWorld(files, { denseWeight: 0 });
    await using meaning = await openWorld(files, { denseWeight: 1 });

    deepEqual(await words.paths("kitten"), ["b.md"]);
    deepEqual(await meaning.paths("kitten"), ["a.md", "b.md"]);
  });

  it("searchIndex() takes the chunk that fits best by meaning and words", async () => {
    const filler = "Words of no concern at all. ".repeat(40);
    const body = (word: string) =>
      `# Start\n\n${filler}\n\n## Middle\n\n${filler} ${word}\n\n## End\n\n${filler}\n`;
    await using world = await openWorld({
      "en.md": body("bread"),
      "long.md": body("cat").repeat(40),
    });

    const { hits: [hybrid] } = await world.search("面包");
    const { hits: [vector] } = await world.search("loaf", { mode: "vector" });
    const { hits: [long] } = await world.search("猫");

    equal(hybrid?.passage?.chunk.heading, "Start > Middle");
    match(hybrid?.passage?.snippet ?? "", /Words/);
    equal(vector?.passage?.chunk.heading, "Start > Middle");
    equal(long?.note.path, "long.md");
    equal(long?.passage?.chunk.heading, "Start > Middle");
  });

  it("searchIndex() takes the nearest of two chunks that are both beyond the ceiling", async () => {
    const note = "# One\n\ncat cat cat cat river\n\n# Two\n\nkitten\n";
    await using world = await openWorld({ "a.md": note });

    for (const mode of ["vector", "hybrid"] as const) {
      const { hits: [hit] } = await world.search("猫", { mode });

      equal(hit?.passage?.chunk.heading, "Two");
    }
  });

  it("searchIndex() takes the nearest chunk although others have no vector or lie below the floor", async () => {
    const note = "# One\n\nzebra\n\n# Two\n\nriver\n\n# Three\n\na cat and a river of cats\n";
    await using world = await openWorld({ "a.md": note });

    const { hits: [hit] } = await world.search("猫", { mode: "vector" });

    equal(hit?.passage?.chunk.heading, "Three");
  });

  it("searchIndex() filters before it ranks, and shows no inactive or conflicting memory", async () => {
    const cats = Array.from({ length: 60 }, (_, i) => [`a/${i}.md`, "cat cat kitten"]);
    await using world = await openWorld({
      ...Object.fromEntries(cats),
      "b/one.md": "a cat in a river of bread",
      "m/old.md": memory("old\nstatus: archived", "cat"),
      "m/twin1.md": memory("twin", "cat"),
      "m/twin2.md": memory("twin", "cat"),
      "m/fine.md": memory("fine\ntags: [pet]", "cat"),
    });
    for (const mode of ["vector", "hybrid"] as const) {
      const usual = await world.paths("猫 cat", { mode, limit: 100 });

      deepEqual(await world.paths("cat", { mode, limit: 1, filter: { folder: "b" } }), [
        "b/one.md",
      ]);
      deepEqual(await world.paths("cat", { mode, filter: { tags: ["pet"] } }), ["m/fine.md"]);
      deepEqual(await world.paths("cat", { mode, filter: { status: "archived" } }), ["m/old.md"]);
      deepEqual(await world.paths("cat", { mode, filter: { kinds: ["memory"] } }), ["m/fine.md"]);
      equal(usual.length, 62);
    }
  });

  it("searchIndex() holds a quoted query to its words in mode hybrid only", async () => {
    await using world = await openWorld({ "a.md": "the cat", "b.md": "a kitten" });

    deepEqual(await world.paths('"cat"'), ["a.md"]);
    deepEqual(await world.paths('"zebra cat"'), []);
    deepEqual(await world.paths('"cat"', { mode: "vector" }), ["a.md", "b.md"]);
  });

  it("searchIndex() lets no function word decide where meaning can speak", async () => {
    await using world = await openWorld({ "a.md": "do do do I", "b.md": "方法" });

    deepEqual(await world.paths("how do I"), ["b.md"]);
    deepEqual(await world.paths("do I"), ["a.md"]);
    deepEqual(await world.paths("how do I", { mode: "keyword" }), ["a.md"]);
  });

  it("searchIndex() answers by words, without fallback, when meaning knows nothing of a query", async () => {
    await using world = await openWorld({ "a.md": "the zebra", "b.md": "a cat" });

    const hybrid = await world.search("zebra");
    const vector = await world.search("zebra", { mode: "vector" });

    deepEqual([hybrid.mode, hybrid.reason], ["hybrid", undefined]);
    deepEqual(hybrid.hits.map((hit) => hit.note.path), ["a.md"]);
    equal(vector.mode, "keyword");
    match(vector.reason ?? "", /knows no word/);
    deepEqual(vector.hits.map((hit) => hit.note.path), ["a.md"]);
  });

  it("searchIndex() gives in pages what it gives at once, in vector and in hybrid mode", async () => {
    const random = randomSource(5);
    const words = ["cat", "猫", "bread", "river", "zebra"];
    const files = Array.from({ length: 120 }, (_, i) => {
      const text = Array.from({ length: 1 + random(3) }, () => words[random(5)]).join(" ");
      return [`${random(3)}/${i}.md`, `# Note\n\n${text}\n`];
    });
    await using world = await openWorld(Object.fromEntries(files));
    for (const mode of ["vector", "hybrid"] as const) {
      const whole = await world.search("cat 面包 zebra", { mode, limit: 200 });
      ok(whole.total > 60 && whole.hits.length === whole.total);

      const paged = [];
      for (let offset = 0; offset < whole.total; offset += 7) {
        paged.push(...(await world.search("cat 面包 zebra", { mode, limit: 7, offset })).hits);
      }

      deepEqual(paged, whole.hits);
      const scores = whole.hits.map((hit) => hit.score);
      deepEqual(scores, [...scores].sort((a, b) => b - a));
    }
  });

  it("searchIndex() finds by meaning what was edited just now, and no more what it was", async () => {
    await using world = await openWorld({ "a.md": "cat", "b.md": "zebra" });

    world.write("a.md", "bread");
    world.write("c.md", "kitten");
    const cats = await world.paths("猫", { mode: "vector" });
    const loaves = await world.paths("面包", { mode: "vector" });
    world.remove("c.md");
    const gone = await world.search("猫", { mode: "vector" });

    deepEqual([cats, loaves, gone.total], [["c.md"], ["a.md"], 0]);
  });

  it("searchIndex() ranks after many edits as an index made anew does", async () => {
    const random = randomSource(3);
    const words = ["cat", "bread", "cache", "river", "zebra", "alpha"];
    const text = () => Array.from({ length: 1 + random(6) }, () => words[random(6)]).join("\n\n");
    await using world = await openWorld({ "0.md": "cat" });
    const files = new Map<string, string>();
    for (let round = 0; round < 12; round++) {
      for (let i = 0; i < 10; i++) files.set(`${random(30)}.md`, text());
      for (const [path, body] of files) world.write(path, body);
      const gone = `${random(30)}.md`;
      if (files.delete(gone)) world.remove(gone);
      await world.index.refresh();
    }
    await using fresh = await openWorld({ "0.md": "cat", ...Object.fromEntries(files) });

    const strip = async (search: typeof world.search) =>
      (await search("cat 面包 zebra", { limit: 50 })).hits
        .map(({ note, score, signals }) => [note.path, score, signals]);
    if (!files.has("0.md")) world.write("0.md", "cat");

    deepEqual(await strip(world.search), await strip(fresh.search));
  });

  it("searchIndex() says when no embedding is configured, and answers by words", async () => {
    await using world = await testServices({ "a.md": "the cat" });
    await world.ready();

    for (const mode of ["vector", "hybrid"] as const) {
      const answer = await world.index.search({ text: "cat", mode, filter: {}, limit: 5 });

      equal(answer.mode, "keyword");
      match(answer.reason ?? "", /No embedding is configured/);
      equal(answer.hits[0]?.note.path, parseVaultPath("a.md"));
    }
  });
});
