import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  centreQuery,
  type Centring,
  freezeCentring,
  languageOf,
  learnMeans,
  measureFavour,
  restoreCentring,
  stretchOf,
} from "@/lib/index/centring.ts";
import { runAtOnce } from "@/lib/seams.ts";
import { randomSource } from "../_support/random.ts";
import { saveAndRestore } from "../_support/snapshots.ts";

const random = randomSource(3);
const anyVector = (length = 7) => Float32Array.from({ length }, () => random(2_000) / 1_000 - 1);
const scaled = (vector: Float32Array, by: number) => vector.map((value) => value * by);

function anyCentring(): Centring {
  const means = () => ({ latin: scaled(anyVector(), 0.2), han: scaled(anyVector(), 0.2) });
  return { query: means(), passage: means() };
}

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
  return dot / Math.hypot(...a) / Math.hypot(...b);
}

/** A unit vector without a mean, by the definition. */
function without(vector: ArrayLike<number>, mean: Float32Array): number[] {
  const values = Array.from(vector);
  const length = Math.hypot(...values);
  return values.map((value, i) => value / length - (mean[i] ?? 0));
}

describe("languageOf()", () => {
  it("languageOf() parts texts with much Chinese from those with next to none", () => {
    deepEqual([0, 0.1, 0.19, 0.21, 0.3, 1].map(languageOf), [
      "latin",
      "latin",
      "latin",
      "han",
      "han",
      "han",
    ]);
  });
});

describe("learnMeans()", () => {
  it("learnMeans() lets every text count alike, however long its vector", () => {
    const texts = [
      { vector: Int8Array.of(100, 0), hanShare: 0 },
      { vector: Float32Array.of(0, 0.01), hanShare: 0 },
      { vector: Float32Array.of(0, -3), hanShare: 1 },
    ];

    const means = runAtOnce(learnMeans(texts, 2, 1));

    deepEqual([...means?.latin ?? []], [0.5, 0.5]);
    deepEqual([...means?.han ?? []], [0, -1]);
  });

  it("learnMeans() has none where a language has too few texts that the model knows", () => {
    const some = { vector: Float32Array.of(1), hanShare: 0 };
    const nothing = { vector: Float32Array.of(0), hanShare: 1 };

    equal(runAtOnce(learnMeans([some, some, nothing, nothing], 1, 2)), undefined);
    equal(runAtOnce(learnMeans([], 1, 1)), undefined);
  });
});

describe("centreQuery() and stretchOf()", () => {
  it("centreQuery() and stretchOf() turn plain cosines into those of the centred vectors", () => {
    for (let round = 0; round < 200; round++) {
      const centring = anyCentring();
      const query = { vector: scaled(anyVector(), 5), hanShare: random(2) };
      const row = Int8Array.from(anyVector(), (value) => Math.round(value * 127));
      const language = languageOf(random(2));

      const { vector, offsets } = centreQuery(query, centring);
      const plain = cosine([...vector], [...row]);
      const found = (plain - offsets[language]) * stretchOf(row, centring.passage[language]);

      const mean = centring.query[languageOf(query.hanShare)];
      const wanted = cosine(without(query.vector, mean), without(row, centring.passage[language]));
      ok(Math.abs(found - wanted) < 1e-5, `${found} is not ${wanted}`);
    }
  });

  it("a vector that is no more than the mean of its language is near to nothing", () => {
    const mean = Float32Array.of(1, 0);
    const means = { latin: mean, han: mean };
    const query = centreQuery({ vector: Float32Array.of(4, 0), hanShare: 0 }, {
      query: means,
      passage: means,
    });

    deepEqual([...query.vector], [0, 0]);
    equal(stretchOf(Int8Array.of(127, 0), mean), 0);
    equal(stretchOf(Int8Array.of(0, 0), mean), 0);
  });
});

describe("measureFavour()", () => {
  it("measureFavour() tells how much nearer a language is to itself", () => {
    const [one, other] = [Float32Array.of(0.5, 0), Float32Array.of(0, 0.3)];
    const apart = { latin: one, han: other };
    const alike = { latin: one, han: one };

    ok(Math.abs(measureFavour({ query: apart, passage: apart }) - (0.25 + 0.09) / 2) < 1e-6);
    equal(measureFavour({ query: alike, passage: apart }), 0);
  });
});

describe("freezeCentring() and restoreCentring()", () => {
  it("restoreCentring() reads what freezeCentring() took down", async () => {
    const centring = anyCentring();

    const restored = await saveAndRestore(
      freezeCentring(centring),
      (reader) => restoreCentring(reader, 7),
    );

    deepEqual(restored, centring);
  });
});
