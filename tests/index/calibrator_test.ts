import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { systemClock } from "@/lib/seams.ts";
import { createServices, type Services } from "@/lib/services.ts";
import {
  bilingualNotes,
  type FavouringEmbedder,
  favouringEmbedder,
  MEANINGS,
} from "../_support/favouring_embedder.ts";
import { type TestServices, testServices } from "../_support/services.ts";
import type { Files } from "../_support/temp_vault.ts";
import { until, untilSo } from "../_support/until.ts";

async function openWorld(
  embedder: FavouringEmbedder,
  files: Files = bilingualNotes(),
): Promise<TestServices> {
  const world = await testServices(files, { embedding: "static" }, { embedder });
  await world.ready();
  return world;
}

async function search({ index }: Services, text: string, mode: "vector" | "hybrid" = "vector") {
  await index.refresh();
  const answer = await index.search({ text, mode, filter: {}, limit: 3 });
  return { ...answer, paths: answer.hits.map(({ note }) => note.path as string) };
}

/** Returns the first answer by meaning. */
function untilCalibrated(services: Services, text: string, mode?: "vector" | "hybrid") {
  return until(async () => {
    const answer = await search(services, text, mode);
    return answer.reason === undefined && answer;
  });
}

/** What was said when something was found out, the last first. */
function calibrations({ logs }: TestServices): Record<string, unknown>[] {
  return logs.filter((line) => line.includes("embedding-calibrated")).map((line) =>
    JSON.parse(line)
  ).reverse();
}

/** How many of the words of one language find the note in the other one first, of all notes. */
async function countFoundAcross(services: Services): Promise<number> {
  let count = 0;
  for (const [at, [english, chinese]] of MEANINGS.entries()) {
    const there = await search(services, `where is the ${english}`);
    const back = await search(services, `${chinese}在哪里`);
    if (there.paths.slice(0, 2).includes(`zh-${at}.md`)) count++;
    if (back.paths.slice(0, 2).includes(`en-${at}.md`)) count++;
  }
  return count;
}

describe("Calibrator", () => {
  it("centres a model that favours languages, so that questions find notes in the other one", async () => {
    await using world = await openWorld(favouringEmbedder({ favour: 3 }));
    await untilCalibrated(world, "cat");

    const [found] = calibrations(world);

    deepEqual([found?.centred], [true]);
    equal(await countFoundAcross(world), 2 * MEANINGS.length);
  });

  it("leaves a model as it is that favours none", async () => {
    await using world = await openWorld(favouringEmbedder({ favour: 0 }));
    await untilCalibrated(world, "cat");

    deepEqual([calibrations(world)[0]?.centred], [false]);
    equal(await countFoundAcross(world), 2 * MEANINGS.length);
  });

  it("leaves a vault in one language as it is", async () => {
    const english = Object.entries(bilingualNotes()).filter(([name]) => name.startsWith("en"));
    await using world = await openWorld(
      favouringEmbedder({ favour: 3 }),
      Object.fromEntries(english),
    );

    const { paths } = await untilCalibrated(world, "the violin");

    deepEqual([calibrations(world)[0]?.centred], [false]);
    equal(paths[0], "en-4.md");
  });

  it("gives scores on which what answers is worth a hint, and what does not is not", async () => {
    await using world = await openWorld(favouringEmbedder({ favour: 3 }));
    await untilCalibrated(world, "cat");

    const right = await search(world, "the violin was seen", "hybrid");
    const wrong = await search(world, "nothing of the kind", "hybrid");

    ok((right.hits[0]?.score ?? 0) > 0.5, `${right.hits[0]?.score}`);
    ok((wrong.hits[0]?.score ?? 0) < 0.5, `${wrong.hits[0]?.score}`);
  });

  it("says meanwhile that it is being found out, and asks no model for the query", async () => {
    const embedder = favouringEmbedder({ favour: 1 });
    await using world = await openWorld(embedder);
    await until(async () => {
      const { reason } = await search(world, "a question of mine");
      if (reason === undefined) return true;
      match(reason, /not embedded yet|still being found out/);
      ok(!embedder.asked.some(({ text }) => text === "a question of mine"));
      return false;
    });
  });

  for (const count of [1, 2, 5]) {
    it(`manages with ${count} notes, by questions of its own`, async () => {
      const few = Object.entries(bilingualNotes()).slice(0, count);
      await using world = await openWorld(
        favouringEmbedder({ favour: 1 }),
        Object.fromEntries(few),
      );

      const { paths, hits } = await untilCalibrated(world, "the cat");

      equal(paths[0], "en-0.md");
      ok((hits[0]?.score ?? 0) > 0.5, `${hits[0]?.score}`);
    });
  }

  it("begins anew when the vault has become another, and not for single notes", async () => {
    const all = Object.entries(bilingualNotes());
    await using world = await openWorld(
      favouringEmbedder({ favour: 3 }),
      Object.fromEntries(all.slice(0, 24)),
    );
    await untilCalibrated(world, "cat");
    world.write("one-more.md", "of no account");
    await until(async () => (await search(world, "account", "hybrid")).paths[0] === "one-more.md");
    const first = calibrations(world).length;

    for (const [name, text] of all.slice(24)) world.write(name, text);
    await until(async () => {
      await search(world, "cat");
      return calibrations(world).length > first;
    });

    equal(first, 1);
    deepEqual([calibrations(world)[0]?.centred], [true]);
    equal(await countFoundAcross(world), 2 * MEANINGS.length);
  });

  it("asks nothing at a second start, and knows at once what was found out", async () => {
    await using world = await openWorld(favouringEmbedder({ favour: 3 }));
    const before = await untilCalibrated(world, "the violin", "hybrid");
    await world.close();
    const again = favouringEmbedder({ favour: 3 });
    const { config, clock, logger, newId } = world;
    const seams = { clock, logger, newId, ripgrepPath: undefined, embedder: again };
    const second = createServices(config, seams);
    await second.ready();

    const after = await search(second, "the violin", "hybrid");
    await second.close();

    equal(after.reason, undefined);
    deepEqual(after.hits.map(({ score }) => score), before.hits.map(({ score }) => score));
    deepEqual(again.asked, [{ kind: "query", text: "the violin" }]);
  });

  it("finds it out again from the cache where the snapshot is lost, without asking", async () => {
    await using world = await openWorld(favouringEmbedder({ favour: 3 }));
    await untilCalibrated(world, "the violin");
    await world.close();
    await Deno.remove(`${world.config.state}/index.snapshot`);
    const again = favouringEmbedder({ favour: 3 });
    const { config, clock, logger, newId } = world;
    const seams = { clock, logger, newId, ripgrepPath: undefined, embedder: again };
    const second = createServices(config, seams);
    await second.ready();

    await untilCalibrated(second, "the violin");
    await second.close();

    deepEqual(again.asked, [{ kind: "query", text: "the violin" }]);
  });

  it("goes on by itself when a model comes back that was away meanwhile", async () => {
    let aheadMs = 0;
    const clock = {
      nowMs: () => systemClock.nowMs(),
      monotonicMs: () => systemClock.monotonicMs() + aheadMs,
    };
    const embedder = favouringEmbedder({ favour: 3 });
    embedder.isAway = true;
    await using world = await testServices(
      bilingualNotes(),
      { embedding: "static" },
      { embedder, clock },
    );
    await world.ready();
    await untilSo("the failure is known", () => world.index.warnings.length > 0);
    const { reason, paths } = await search(world, "violin", "hybrid");

    embedder.isAway = false;
    aheadMs = 31_000;
    await untilCalibrated(world, "the violin");

    match(reason ?? "", /not embedded yet: The embedding failed/);
    deepEqual(paths, ["en-4.md"]);
    deepEqual(world.index.warnings, []);
  });
});
