/** What a change of model costs, what a second start costs, and a model that favours languages. */
import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { join } from "node:path";
import { MEANINGS } from "../_support/favouring_embedder.ts";
import { until } from "../_support/until.ts";
import { openRemoteVault, wordNotes } from "./remote_embedding_world.ts";

const HAN = /\p{Script=Han}/u;
/** Beside the meanings, and no word of them. */
const MORE: typeof MEANINGS = [
  ["kettle", "水壶"],
  ["ladder", "梯子"],
  ["basket", "篮筐"],
  ["window", "窗户"],
  ["pillow", "枕头"],
  ["rocket", "火箭"],
];
const WORDS = [...MEANINGS, ...MORE];
const DIMENSIONS = WORDS.length + 3;

/** Knows words by their meaning, and puts far more of the language than of that into vectors. */
function favouringEmbed(texts: readonly string[]): number[][] {
  return texts.map((text) => {
    const counts = WORDS.map((pair) =>
      pair.reduce((sum, word) => sum + text.split(word).length - 1, 0)
    );
    return [...counts, HAN.test(text) ? 3 : 0, HAN.test(text) ? 0 : 3, 1];
  });
}

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
  return dot / Math.hypot(...a) / Math.hypot(...b);
}

function nearestOf(question: string, notes: Readonly<Record<string, string>>): string | undefined {
  const names = Object.keys(notes);
  const [asked = [], ...others] = favouringEmbed([question, ...Object.values(notes)]);
  const cosines = others.map((vector) => cosine(asked, vector));
  return names[cosines.indexOf(Math.max(...cosines))];
}

describe("a model that favours languages", () => {
  it("finds answers in the other language, thanks to centring alone", async () => {
    const notes = Object.fromEntries(WORDS.flatMap(([english, chinese], at) => [
      [`en-${at}.md`, `The ${english} was seen by all of us, as number ${at}.`],
      [`zh-${at}.md`, `我们又见到了${chinese}，这是编号。`],
    ]));
    await using vault = await openRemoteVault(notes, {
      provider: { embed: favouringEmbed, dimensions: DIMENSIONS },
    });
    await vault.untilMeaning("cat");

    const found: number[] = [];
    let foundAsTheyAre = 0;
    for (const [at, [english, chinese]] of WORDS.entries()) {
      const there = await vault.search(`where is ${english}`, "vector");
      const back = await vault.search(`${chinese}在哪里`, "vector");
      if (there.paths.slice(0, 2).includes(`zh-${at}.md`)) found.push(at);
      if (back.paths.slice(0, 2).includes(`en-${at}.md`)) found.push(at);
      const english_ = Object.fromEntries(
        Object.entries(notes).filter(([, text]) => text !== notes[`en-${at}.md`]),
      );
      if (nearestOf(`where is ${english}`, english_) === `zh-${at}.md`) foundAsTheyAre++;
    }

    equal(Object.keys(notes).length, 60);
    equal(found.length, 2 * WORDS.length);
    equal(foundAsTheyAre, 0);
    ok(vault.world.logs.some((line) => line.includes('"centred":true')));
  });
});

describe("a second start", () => {
  it("costs no request, and answers the first question by meaning", async () => {
    await using vault = await openRemoteVault(wordNotes(40));
    await vault.untilMeaning("word7");
    vault.provider.mood = { status: 503 };
    const before = vault.provider.requests.length;

    const run = await vault.restart();
    const askedByStart = vault.provider.requests.length - before;
    vault.provider.mood = "well";
    const first = await run.search("word9");
    const again = await run.search("word9");

    equal(askedByStart, 0);
    deepEqual([first.mode, first.fallback, first.paths[0]], ["hybrid", undefined, "note-9.md"]);
    deepEqual(again.results, first.results);
    deepEqual(vault.texts().slice(-1), ["word9"]);
    equal(vault.provider.requests.length - before, 1);
  });

  it("costs no request without the snapshot either, as long as the cache is there", async () => {
    await using vault = await openRemoteVault(wordNotes(40));
    const answer = await vault.untilMeaning("word7");
    await vault.close();
    await Deno.remove(join(vault.world.config.state, "index.snapshot"));
    const before = vault.provider.requests.length;

    const run = await vault.restart();
    vault.provider.mood = "well";
    const again = await run.untilMeaning("word7");

    deepEqual(vault.provider.requests.slice(before).flatMap(({ texts }) => texts), ["word7"]);
    deepEqual(again.results.map(({ score }) => score), answer.results.map(({ score }) => score));
  });
});

describe("a change of model", () => {
  it("embeds all anew under the new name, and nothing when the old one is back", async () => {
    const asks = { asksForDimensions: true };
    await using vault = await openRemoteVault(wordNotes(40), { model: asks });
    const first = await vault.untilMeaning("word7");
    const countOf = (model: string, dimensions: number) =>
      vault.provider.requests.filter(({ body }) =>
        body.model === model && body.dimensions === dimensions
      ).flatMap(({ texts }) => texts).length;
    const inAll = countOf("test-model", 512);

    const counts: number[] = [];
    const scores: (number | undefined)[] = [];
    for (
      const [model, dimensions] of [
        ["other-model", 512],
        ["other-model", 256],
        ["test-model", 512],
        ["other-model", 256],
      ] as const
    ) {
      const before = countOf(model, dimensions);
      const run = await vault.restart({ ...asks, model, dimensions });
      const answer = await run.untilMeaning("word7");
      await until(async () => (await run.health()).embeddingProgress === null);
      counts.push(countOf(model, dimensions) - before);
      scores.push(answer.results[0]?.score);
    }

    // The query alone when a model is back.
    deepEqual(counts, [inAll, inAll, 1, 1]);
    equal(scores[2], first.results[0]?.score);
    equal(scores[3], scores[1]);
  });

  it("is found by words until the notes are embedded, never by vectors of the old model", async () => {
    await using vault = await openRemoteVault(wordNotes(40));
    await vault.untilMeaning("word7");
    vault.provider.mood = { status: 503 };

    const run = await vault.restart({ model: "other-model" });
    const answer = await run.search("word7");

    equal(answer.mode, "keyword");
    ok(answer.fallback?.reason.startsWith("40 of 40 notes are not embedded yet"));
  });
});
