import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { EMBED_REST_MS } from "@/lib/embed/embedder_guard.ts";
import { systemClock } from "@/lib/seams.ts";
import { createServices } from "@/lib/services.ts";
import { type ConceptEmbedder, conceptEmbedder } from "../_support/concept_embedder.ts";
import { testServices } from "../_support/services.ts";
import type { Files } from "../_support/temp_vault.ts";
import { until, untilSo } from "../_support/until.ts";

const NOTES: Files = { "cat.md": "a cat", "loaf.md": "# Loaf\n\nof bread", "zebra.md": "a zebra" };

/** Services that are loaded, whose clock can be moved on. */
async function openWorld(embedder: ConceptEmbedder, files: Files = NOTES) {
  let aheadMs = 0;
  const clock = {
    nowMs: () => systemClock.nowMs(),
    monotonicMs: () => systemClock.monotonicMs() + aheadMs,
  };
  const world = await testServices(files, { embedding: "static" }, { embedder, clock });
  await world.ready();
  const search = async (text: string, mode: "vector" | "hybrid" = "hybrid") => {
    await world.index.refresh();
    const answer = await world.index.search({ text, mode, filter: {}, limit: 20 });
    return { ...answer, paths: answer.hits.map((hit) => hit.note.path as string) };
  };
  return { ...world, search, moveOn: (ms: number) => void (aheadMs += ms) };
}

describe("Embeddings", () => {
  for (const isLocal of [true, false]) {
    for (const mood of ["failing", "confused", "hanging"] as const) {
      if (isLocal && mood === "hanging") continue;
      const where = isLocal ? "local" : "distant";
      it(`answers by words at once while a ${where} model is ${mood}, and by meaning after`, async () => {
        const embedder = conceptEmbedder({ isLocal });
        embedder.mood = mood;
        await using world = await openWorld(embedder);

        const first = await world.search("cat");
        const calls = embedder.calls();
        const others = await Promise.all([world.search("cat"), world.search("bread", "vector")]);
        const waited = embedder.calls() - calls;
        await untilSo("the failure is known", () => world.index.warnings.length > 0);
        const warnings = world.index.warnings.join();
        const told = await world.search("cat");
        embedder.mood = "well";
        world.moveOn(EMBED_REST_MS);
        const last = await until(async () => {
          const answer = await world.search("猫", "vector");
          return answer.reason === undefined && answer;
        });

        for (const answer of [first, ...others, told]) {
          equal(answer.mode, "keyword");
          match(answer.reason ?? "", /^3 of 3 notes are not embedded yet/);
        }
        match(told.reason ?? "", /yet: The embedding (failed|took|gave)/);
        deepEqual([first.paths, others[1]?.paths], [["cat.md"], ["loaf.md"]]);
        equal(waited, 0);
        match(warnings, /found by their words only/);
        deepEqual(last.paths, ["cat.md"]);
        deepEqual(world.index.warnings, []);
        ok(!world.logs.join().includes("secret"));
      });
    }
  }

  it("loads a vault without waiting for a distant model, whose vectors come later", async () => {
    const embedder = conceptEmbedder({ isLocal: false });
    const gate = Promise.withResolvers<void>();
    embedder.gate = gate.promise;
    await using world = await openWorld(embedder);

    const early = await world.search("猫", "vector");
    gate.resolve();
    const late = await until(async () => {
      const answer = await world.search("猫", "vector");
      return answer.reason === undefined && answer;
    });

    equal(early.mode, "keyword");
    match(early.reason ?? "", /3 of 3 notes are not embedded yet/);
    deepEqual(late.paths, ["cat.md"]);
  });

  for (const change of ["changed", "gone"] as const) {
    it(`attaches no vectors that arrive after their note has ${change}`, async () => {
      const embedder = conceptEmbedder({ isLocal: false });
      const gate = Promise.withResolvers<void>();
      embedder.gate = gate.promise;
      await using world = await openWorld(embedder, { "a.md": "a cat", "b.md": "of bread" });
      await untilSo("the model is asked for passages", () => embedder.asked.length > 0);

      if (change === "changed") world.write("a.md", "a river");
      else world.remove("a.md");
      await world.index.refresh();
      gate.resolve();
      await until(async () => (await world.search("bread", "vector")).reason === undefined);

      deepEqual((await world.search("猫", "vector")).paths, []);
      deepEqual(
        (await world.search("river", "vector")).paths,
        change === "changed" ? ["a.md"] : [],
      );
    });
  }

  it("waits for no note that was without vectors and is embedded no more", async () => {
    const embedder = conceptEmbedder();
    embedder.mood = "failing";
    await using world = await openWorld(embedder);

    world.write("cat.md", Uint8Array.of(0xff, 0xfe, 0x00, 0xc3));
    await world.index.refresh();
    embedder.mood = "well";
    world.moveOn(EMBED_REST_MS);
    await until(async () => (await world.search("bread", "vector")).reason === undefined);

    deepEqual((await world.search("bread", "vector")).paths, ["loaf.md"]);
  });

  for (const isLocal of [true, false]) {
    const where = isLocal ? "local" : "distant";
    it(`keeps no note out for one over which a ${where} model fails`, async () => {
      const embedder = conceptEmbedder({ isLocal });
      embedder.poison = "zebra";
      await using world = await openWorld(embedder);

      const answer = await until(async () => {
        world.moveOn(EMBED_REST_MS);
        const found = await world.search("猫", "vector");
        return found.reason === undefined && found;
      });

      deepEqual(answer.paths, ["cat.md"]);
      deepEqual((await world.search("bread", "vector")).paths, ["loaf.md"]);
      deepEqual((await world.search("zebra cat")).paths.sort(), ["cat.md", "zebra.md"]);
    });
  }

  it("ends soon while much is left to embed", async () => {
    const embedder = conceptEmbedder({ isLocal: false });
    const gate = Promise.withResolvers<void>();
    embedder.gate = gate.promise;
    const sections = Array.from({ length: 2_000 }, (_, i) => `## Cat ${i}\n\ncat number ${i}\n`);
    await using world = await openWorld(embedder, { "long.md": sections.join("\n") });
    await untilSo("the model is asked for passages", () => embedder.calls() > 0);

    const closed = world.close();
    gate.resolve();
    await closed;

    equal(embedder.calls(), 1);
  });

  it("asks for equal texts once", async () => {
    const embedder = conceptEmbedder();
    const sections = Array.from({ length: 300 }, () => "## Cat\n\na cat\n");
    await using _world = await openWorld(embedder, { "long.md": sections.join("\n") });

    deepEqual(embedder.asked, ["long", "## Cat\n\na cat"]);
  });

  it("goes on by meaning when a few notes of many have no vectors yet", async () => {
    const many = Array.from({ length: 40 }, (_, i) => [`${i}.md`, "a river"]);
    const embedder = conceptEmbedder({ isLocal: false });
    await using world = await openWorld(embedder, Object.fromEntries(many));
    await until(async () => (await world.search("river")).reason === undefined);
    embedder.gate = new Promise(() => {});

    const answers = [];
    for (const name of ["1st", "2nd", "3rd"]) {
      world.write(`${name}.md`, "the zebra");
      answers.push(await world.search("zebra 猫"));
    }

    deepEqual(answers.map((answer) => answer.mode), ["hybrid", "hybrid", "keyword"]);
    deepEqual(answers[1]?.paths, ["1st.md", "2nd.md"]);
    match(answers[2]?.reason ?? "", /^3 of 43 notes are not embedded yet$/);
  });

  it("embeds nothing twice: a second start and an edit ask for what is new", async () => {
    await using world = await openWorld(conceptEmbedder());
    const again = conceptEmbedder();
    await world.close();
    const { config, clock, logger, newId } = world;
    const seams = { clock, logger, newId, ripgrepPath: undefined, embedder: again };
    const second = createServices(config, seams);
    await second.ready();
    const askedAtStart = [...again.asked];

    world.write("loaf.md", "# Loaf\n\nof bread\n\n## Cat\n\na cat too");
    await second.index.refresh();
    await second.close();

    deepEqual(askedAtStart, []);
    deepEqual(again.asked, ["## Cat\n\na cat too"]);
  });

  it("embeds everything anew for a model of another name, and never mixes the two", async () => {
    await using world = await openWorld(conceptEmbedder());
    await world.close();
    const { config, clock, logger, newId } = world;
    for (const [id, count] of [["concepts-2", 6], ["concepts-1", 0]] as const) {
      const embedder = conceptEmbedder({ id });
      const seams = { clock, logger, newId, ripgrepPath: undefined, embedder };
      const next = createServices(config, seams);
      await next.ready();
      await next.close();

      equal(embedder.asked.length, count);
    }
  });

  it("keeps its state for this person alone, and no sentence of a note", async () => {
    if (Deno.build.os === "windows") return;
    await using world = await openWorld(conceptEmbedder(), { "a.md": "the cat of Schrödinger" });
    await world.close();

    const { state } = world.config;
    const names = await Array.fromAsync(Deno.readDir(state), ({ name }) => name);
    deepEqual(names.sort(), ["cache.sqlite", "index.snapshot"]);
    equal(((await Deno.lstat(state)).mode ?? 0) & 0o777, 0o700);
    for (const name of names) {
      equal(((await Deno.lstat(`${state}/${name}`)).mode ?? 0) & 0o777, 0o600);
      const text = await Deno.readTextFile(`${state}/${name}`);
      ok(!text.includes("cat of"));
    }
  });
});
