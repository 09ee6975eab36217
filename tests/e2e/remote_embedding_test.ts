/** Notes that are embedded by a provider over HTTP, from the first note to the last edit. */
import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { until, untilSo } from "../_support/until.ts";
import { openRemoteVault, SECRET, wordNotes } from "./remote_embedding_world.ts";

/** A provider whose answers wait until they are let through. */
function gatedEmbed(dimensions: number) {
  const gate = Promise.withResolvers<void>();
  const embed = async (texts: readonly string[]) => {
    await gate.promise;
    return texts.map((text) => lettersOf(text, dimensions));
  };
  return { embed, open: gate.resolve };
}

function lettersOf(text: string, dimensions: number): number[] {
  const vector = new Array<number>(dimensions).fill(0.01);
  for (const char of text) {
    const at = (char.codePointAt(0) ?? 0) % dimensions;
    vector[at] = (vector[at] ?? 0) + 1;
  }
  return vector;
}

describe("a vault that a provider embeds", () => {
  it("is found by its words meanwhile and by meaning afterwards, and says how far it is", async () => {
    const { embed, open } = gatedEmbed(512);
    await using vault = await openRemoteVault(wordNotes(30), { provider: { embed } });
    await untilSo("the provider is asked", () => vault.provider.requests.length > 0);

    const early = await vault.search("word7");
    const earlyHealth = await vault.health();
    const askedForQuery = vault.texts().includes("word7");
    open();
    const late = await vault.untilMeaning("word7");

    deepEqual([early.mode, early.fallback?.from, early.fallback?.to, early.paths[0]], [
      "keyword",
      "hybrid",
      "keyword",
      "note-7.md",
    ]);
    equal(early.fallback?.reason, "30 of 30 notes are not embedded yet");
    deepEqual(earlyHealth.embeddingProgress, { done: 0, total: 30 });
    ok(!askedForQuery);
    deepEqual([late.mode, late.paths[0], late.fallback], ["hybrid", "note-7.md", undefined]);
    equal(typeof late.results[0]?.signals.body, "number");
    deepEqual((await vault.health()).embeddingProgress, null);
    equal((await vault.health()).status, "ok");
  });

  it("is embedded to the end although nobody searches", async () => {
    await using vault = await openRemoteVault(wordNotes(30));

    await until(async () => (await vault.health()).embeddingProgress === null);
    await untilSo("the vectors are in", () => vault.services.index.embedding === undefined);
    await untilSo(
      "it is calibrated",
      () => vault.world.logs.some((line) => line.includes("embedding-calibrated")),
    );

    equal((await vault.search("word7")).mode, "hybrid");
  });

  it("says nothing of keys and texts, in its log, in health or in diagnostics", async () => {
    await using vault = await openRemoteVault(wordNotes(10));
    await vault.untilMeaning(`a question about ${SECRET}`);

    const said = JSON.stringify([vault.world.logs, await vault.health(), await vault.warnings()]);

    ok(!/sk-of|Schr|question/.test(said));
    equal(vault.provider.requests[0]?.headers.get("authorization"), "Bearer sk-of-the-test");
  });

  it("takes up edits and forgets removed notes while it is embedded", async () => {
    const { embed, open } = gatedEmbed(512);
    await using vault = await openRemoteVault(wordNotes(10), { provider: { embed } });
    await untilSo("the provider is asked", () => vault.provider.requests.length > 0);

    vault.world.write("note-1.md", "now of zebras alone");
    vault.world.remove("note-2.md");
    vault.world.write("new.md", "now of giraffes alone");
    const early = await vault.search("zebras giraffes");
    open();
    await vault.untilMeaning("zebras");
    await until(async () => (await vault.health()).embeddingProgress === null);
    await vault.search("any");
    const all = (await vault.search("any", "vector")).paths;

    deepEqual([...early.paths].sort(), ["new.md", "note-1.md"]);
    ok(!all.includes("note-2.md"));
    ok(vault.texts().includes("now of zebras alone"));
    const zebras = await vault.search("now of zebras alone", "vector");
    equal(zebras.paths[0], "note-1.md");
  });

  it("asks for what is new alone when a note is edited", async () => {
    await using vault = await openRemoteVault(wordNotes(10));
    await vault.untilMeaning("word3");
    const before = vault.texts().length;

    vault.world.write("note-4.md", "# Number 4\n\nThis is of whales.\n");
    await vault.services.index.refresh();
    await until(async () => (await vault.health()).embeddingProgress === null);
    await vault.untilMeaning("word3");

    deepEqual(vault.texts().slice(before), ["# Number 4\n\nThis is of whales."]);
  });

  for (const count of [1, 2]) {
    it(`finds by meaning among ${count} notes`, async () => {
      await using vault = await openRemoteVault(wordNotes(count));

      const answer = await vault.untilMeaning("word0");

      equal(answer.paths[0], "note-0.md");
      ok((answer.results[0]?.score ?? 0) > 0.5, JSON.stringify(answer.results[0]));
    });
  }

  it("finds the first note of an empty vault by meaning, when it has come", async () => {
    await using vault = await openRemoteVault({});
    const empty = await vault.search("word0");

    vault.world.write("a.md", "# Alpha\n\nThis tells of word0.\n");
    const answer = await vault.untilMeaning("word0");

    deepEqual([empty.total, vault.provider.requests.length > 0], [0, true]);
    deepEqual(answer.paths, ["a.md"]);
  });

  it("finds notes without body by what they are called", async () => {
    const files = Object.fromEntries(
      ["zebra", "giraffe", "whale"].map((name) => [`${name}.md`, `---\nname: The ${name}\n---\n`]),
    );
    await using vault = await openRemoteVault({ ...files, "blank.md": "" });

    const answer = await vault.untilMeaning("the whale");

    equal(answer.paths[0], "whale.md");
    match(JSON.stringify(answer.results[0]?.signals), /"metadata":0\.|"metadata":1/);
  });

  it("keeps no note out for one whose text the provider refuses", async () => {
    const poison = { text: "venom", status: 400 };
    const odd = { "odd.md": "# Odd\n\nAn innocent sentence. Then a long way on comes venom.\n" };
    await using vault = await openRemoteVault({ ...wordNotes(20), ...odd }, {
      provider: { poison },
    });

    const answer = await vault.untilMeaning("word7");

    equal(answer.paths[0], "note-7.md");
    deepEqual((await vault.health()).embeddingProgress, null);
    deepEqual((await vault.search("venom")).paths.slice(0, 1), ["odd.md"]);
    deepEqual(await vault.warnings(), []);
  });
});
