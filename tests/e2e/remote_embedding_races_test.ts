/** Calibration while the index changes under it, and what it costs who shares the event loop. */
import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import type { Embedding } from "@/lib/embed/embedder.ts";
import type { Calibration } from "@/lib/index/calibration.ts";
import { Calibrator, type CalibratorOptions } from "@/lib/index/calibrator.ts";
import type { LanguageVector, Means } from "@/lib/index/centring.ts";
import { NoteVectors } from "@/lib/index/note_vectors.ts";
import { runAtOnce, Slicer, systemClock } from "@/lib/seams.ts";
import { parseVaultPath } from "@/lib/vault/vault_path.ts";
import { randomSource } from "../_support/random.ts";
import { silentLogger } from "../_support/silent_logger.ts";
import { until } from "../_support/until.ts";
import { openRemoteVault, wordNotes } from "./remote_embedding_world.ts";

const random = randomSource(7);

interface Size {
  readonly notes: number;
  readonly chunks: number;
  readonly dimensions: number;
}

function anyVector(dimensions: number): Int8Array {
  return Int8Array.from({ length: dimensions }, () => random(255) - 127);
}

/** Vectors by chance, every other note in Chinese. */
function anyVectors({ notes, chunks, dimensions }: Size): NoteVectors {
  const vectors = new NoteVectors(dimensions);
  for (let slot = 0; slot < notes; slot++) {
    const note = {
      metadata: anyVector(dimensions),
      chunks: Array.from({ length: chunks }, () => anyVector(dimensions)),
      hanShare: slot % 2,
    };
    runAtOnce(vectors.stage(slot, note));
  }
  return vectors;
}

function openCalibrator(
  vectors: NoteVectors,
  notes: number,
  changes: Partial<CalibratorOptions> = {},
): Calibrator {
  const listed = Array.from({ length: notes }, (_, slot) => ({
    path: parseVaultPath(`${slot}.md`),
    etag: "",
    slot,
  }));
  const toVector = (): Embedding => Float32Array.from(anyVector(vectors.dimensions));
  return new Calibrator({
    vectors,
    listNotes: () => listed,
    readTexts: (path) =>
      Promise.resolve({ metadata: "", chunks: [`Sentence of ${path}`], hanShare: 0 }),
    embedQuestions: (texts) => Promise.resolve(texts.map(toVector)),
    onCalibrated: () => undefined,
    clock: systemClock,
    logger: silentLogger(),
    ...changes,
  });
}

function anyCalibration(dimensions: number): Calibration {
  const anyMean = () => Float32Array.from({ length: dimensions }, () => random(100) / 1_000);
  const anyMeans = (): Means => ({ latin: anyMean(), han: anyMean() });
  const centring = { query: anyMeans(), passage: anyMeans() };
  return { floor: 0.1, ceiling: 0.7, hintAt: 0.4, noteCount: 9, pairCount: 90, centring };
}

/** By the definition, in double precision. */
function centredCosine(
  query: LanguageVector,
  row: LanguageVector,
  { centring }: Calibration,
): number {
  if (!centring) return NaN;
  const without = ({ vector, hanShare }: LanguageVector, means: Means): number[] => {
    const values = Array.from(vector);
    const length = Math.hypot(...values);
    const mean = hanShare < 0.2 ? means.latin : means.han;
    return values.map((value, at) => value / length - (mean[at] ?? 0));
  };
  const [a, b] = [without(query, centring.query), without(row, centring.passage)];
  const dot = a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
  return dot / Math.hypot(...a) / Math.hypot(...b);
}

describe("centred cosines", () => {
  for (const dimensions of [16, 384, 1_536, 4_096]) {
    it(`are what double precision gives, with ${dimensions} dimensions`, () => {
      const notes = 12;
      const vectors = anyVectors({ notes, chunks: 3, dimensions });
      const calibration = anyCalibration(dimensions);
      vectors.calibrate(calibration);
      let worst = 0;

      for (const hanShare of [0, 1]) {
        const query = { vector: Float32Array.from(anyVector(dimensions)), hanShare };
        const { metadata } = vectors.scan(query);
        for (let slot = 0; slot < notes; slot++) {
          const rows = [...vectors.vectorsAt(slot)];
          const wanted = rows.map((row) => centredCosine(query, row, calibration));
          const scanned = [metadata[slot] ?? NaN, ...vectors.chunkCosines(slot)];
          wanted.forEach((cosine, at) => {
            worst = Math.max(worst, Math.abs(cosine - (scanned[at] ?? NaN)));
          });
        }
        const compare = vectors.compare(query);
        for (let slot = 0; slot < notes; slot++) {
          const { metadata: own, chunks } = compare(slot);
          const wanted = [...vectors.vectorsAt(slot)].map((row) =>
            centredCosine(query, row, calibration)
          );
          wanted.forEach((cosine, at) => {
            worst = Math.max(worst, Math.abs(cosine - ([own, ...chunks][at] ?? NaN)));
          });
        }
      }

      ok(worst < 1e-3, `${worst}`);
    });
  }

  it("are none for vectors of zeros, and for queries that are zero or no numbers", () => {
    const dimensions = 16;
    const vectors = new NoteVectors(dimensions);
    const zeros = new Int8Array(dimensions);
    const note = { metadata: zeros, chunks: [zeros, undefined], hanShare: 0 };
    runAtOnce(vectors.stage(0, note));
    runAtOnce(vectors.stage(1, { ...note, chunks: [anyVector(dimensions)], hanShare: 1 }));
    vectors.calibrate(anyCalibration(dimensions));

    for (const value of [0, NaN, Infinity]) {
      const query = { vector: new Float32Array(dimensions).fill(value), hanShare: 0 };
      const { metadata } = vectors.scan(query);
      ok(Number.isNaN(metadata[0]));
      ok(vectors.chunkCosines(0).every(Number.isNaN));
    }
    const { body } = vectors.scan({ vector: new Float32Array(dimensions).fill(1), hanShare: 0 });
    ok(Number.isNaN(body[0]));
    ok(Number.isFinite(body[1]));
  });
});

describe("a calibration", () => {
  it("is not lost when it ends while the index is compacted", () => {
    const vectors = anyVectors({ notes: 30, chunks: 2, dimensions: 16 });
    const slots = new Map(Array.from({ length: 30 }, (_, slot) => [slot, slot]));
    const found = anyCalibration(16);

    const compaction = vectors.compacted(slots);
    compaction.next();
    vectors.calibrate(found);
    vectors.takeOver(runAtOnce(compaction));

    equal(vectors.calibration?.floor, found.floor);
  });

  it("is not taken from what is left when nearly all notes are replaced meanwhile", async () => {
    const vectors = anyVectors({ notes: 40, chunks: 2, dimensions: 16 });
    const calibrator = openCalibrator(vectors, 40, {
      embedQuestions: (texts) => {
        // As when a checkout of another branch is read while the provider thinks.
        for (let slot = 0; slot < 40; slot++) vectors.remove(slot);
        const note = { metadata: anyVector(16), chunks: [anyVector(16)], hanShare: 0 };
        for (let slot = 40; slot < 80; slot++) runAtOnce(vectors.stage(slot, note));
        return Promise.resolve(texts.map(() => Float32Array.from(anyVector(16))));
      },
    });

    await calibrator.calibrate();

    // Nothing rather than numbers that come from nothing.
    ok((vectors.calibration?.pairCount ?? 1) > 0, JSON.stringify(vectors.calibration));
  });

  it("ends soon when it is closed", async () => {
    const notes = 3_000;
    const vectors = anyVectors({ notes, chunks: 1, dimensions: 16 });
    const asked = Promise.withResolvers<void>();
    let compared = 0;
    const compare = vectors.compare.bind(vectors);
    vectors.compare = (...args) => {
      compared++;
      return compare(...args);
    };
    const calibrator = openCalibrator(vectors, notes, {
      embedQuestions: (texts) => {
        asked.resolve();
        return Promise.resolve(texts.map(() => Float32Array.from(anyVector(16))));
      },
    });
    calibrator.settle();
    await asked.promise;
    await until(() => Promise.resolve(compared > 0));

    const before = compared;
    await calibrator.close();

    ok(compared - before < 200, `${compared - before} more comparisons`);
  });

  it("leaves the event loop to others, with long notes too", async () => {
    const vectors = anyVectors({ notes: 300, chunks: 150, dimensions: 64 });
    const calibrator = openCalibrator(vectors, 300);
    let lastMs = performance.now();
    let worstMs = 0;
    const look = () => {
      const nowMs = performance.now();
      worstMs = Math.max(worstMs, nowMs - lastMs);
      lastMs = nowMs;
    };
    const timer = setInterval(look, 1);

    await calibrator.calibrate();
    look();
    clearInterval(timer);

    // Nothing that a slice of 8 ms could come to on a machine that is busy.
    ok(worstMs < 200, `${Math.round(worstMs)} ms`);
  });

  it("is warmed up with a look at the question for many notes, not for each", async () => {
    const vectors = anyVectors({ notes: 1_000, chunks: 1, dimensions: 16 });
    vectors.calibrate(anyCalibration(16));
    let compared = 0;
    const compare = vectors.compare.bind(vectors);
    vectors.compare = (...args) => {
      compared++;
      return compare(...args);
    };

    await new Slicer(systemClock).run(vectors.warmUp());

    ok(compared <= 100, `${compared} times`);
  });
});

describe("a vault with the same text in many notes", () => {
  it("asks for that text once", async () => {
    const notes = Array.from({ length: 60 }, (_, at) => [`day-${at}.md`, "## Log\n\nNothing new."]);
    await using vault = await openRemoteVault(Object.fromEntries(notes));
    await vault.untilMeaning("nothing");

    const asked = vault.texts().filter((text) => text === "## Log\n\nNothing new.");

    // In each of two requests that are under way together, at most.
    ok(asked.length <= 2, `${asked.length}`);
  });
});

describe("a server that was cut off", () => {
  it("asks for no text again that it has", async () => {
    await using vault = await openRemoteVault(wordNotes(120), { provider: { latencyMs: 40 } });
    await until(() => Promise.resolve(vault.provider.requests.length >= 4));

    const run = await vault.restart();
    await run.untilMeaning("word7");
    const count = new Map<string, number>();
    for (const text of vault.texts()) count.set(text, (count.get(text) ?? 0) + 1);
    const twice = [...count].filter(([text, times]) => times > 1 && text.startsWith("# "));

    // Those of the requests that were under way.
    ok(twice.length <= 2 * 32 / 2, `${twice.length} of ${count.size}`);
    deepEqual((await run.health()).embeddingProgress, null);
  });
});

describe("a question that is too long for the model", () => {
  it("stands in the way of no other, though it is the first of a run", async () => {
    await using vault = await openRemoteVault(wordNotes(30), { provider: { maxChars: 600 } });
    await vault.untilMeaning("word7");
    const run = await vault.restart();

    const long = await run.search("of zebras and giraffes ".repeat(40));
    const next = await run.search("word9");

    ok(long.total >= 0);
    deepEqual([next.mode, next.fallback], ["hybrid", undefined]);
  });
});
