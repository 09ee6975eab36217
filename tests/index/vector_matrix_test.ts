import {
  deepStrictEqual as deepEqual,
  notStrictEqual as notEqual,
  ok,
  rejects,
  strictEqual as equal,
  throws,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { quantize, VectorMatrix } from "@/lib/index/vector_matrix.ts";
import { randomSource } from "../_support/random.ts";
import { saveAndRestore } from "../_support/snapshots.ts";

/** What rounding a query to int16 may change in a cosine. */
const QUERY_ERROR = 3e-5;

/** A source of vectors that is always the same for a seed. */
function vectorSource(seed: number) {
  const random = randomSource(seed);
  const fraction = () => random(2 ** 30) / 2 ** 30;
  return {
    /** Numbers between -1 and 1, most of them small. */
    floats: (dimensions: number) =>
      Float32Array.from({ length: dimensions }, () => fraction() + fraction() + fraction() - 1.5),
    bytes: (dimensions: number) => Int8Array.from({ length: dimensions }, () => random(256) - 128),
  };
}

function cosineOf(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [dot, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    dot += (a[i] ?? 0) * (b[i] ?? 0);
    aa += (a[i] ?? 0) ** 2;
    bb += (b[i] ?? 0) ** 2;
  }
  return dot / Math.sqrt(aa * bb);
}

function matrixOf(rows: readonly Int8Array[], engine: "kernel" | "plain"): VectorMatrix {
  const matrix = new VectorMatrix(rows[0]?.length ?? 1, { engine });
  for (const row of rows) matrix.append(row);
  return matrix;
}

describe("quantize()", () => {
  it("makes the largest absolute value 127 and rounds the others", () => {
    const cases: [input: number[], expected: number[]][] = [
      [[1, 0.5, -1], [127, 64, -127]],
      [[-0.002, 0.001, 0], [-127, 64, 0]],
      [[3e38, -1e38], [127, -42]],
      [[1e-45, 0], [127, 0]],
      [[1000, 3, -4], [127, 0, -1]],
    ];

    for (const [input, expected] of cases) {
      deepEqual([...quantize(Float32Array.from(input)) ?? []], expected);
    }
  });

  it("returns nothing when the vector is zero or holds what is no finite number", () => {
    for (const input of [[], [0, 0], [0, -0], [1, NaN], [Infinity, 1], [1, -Infinity]]) {
      equal(quantize(Float32Array.from(input)), undefined);
    }
  });

  it("changes the cosine by less than .002 when there are 512 dimensions", () => {
    const { floats } = vectorSource(1);
    for (let round = 0; round < 200; round++) {
      const query = floats(512);
      const noise = floats(512);
      // from nearly the same to nothing in common
      const vector = query.map((value, i) => value + (noise[i] ?? 0) * round / 20);
      const matrix = new VectorMatrix(512);
      matrix.append(quantize(vector) ?? new Int8Array(512));

      const [cosine = NaN] = matrix.cosines(query);

      ok(Math.abs(cosine - cosineOf(query, vector)) < 0.002);
    }
  });
});

describe("VectorMatrix", () => {
  it("cosines() are those of the stored numbers, whatever the query's length", () => {
    const { floats, bytes } = vectorSource(2);
    const rows = Array.from({ length: 50 }, () => bytes(100));
    const matrix = matrixOf(rows, "kernel");

    for (const length of [1e-20, 1, 1e20]) {
      const query = floats(100).map((value) => value * length);
      const cosines = matrix.cosines(query);

      equal(cosines.length, rows.length);
      rows.forEach((row, i) =>
        ok(Math.abs((cosines[i] ?? NaN) - cosineOf(row, query)) < QUERY_ERROR)
      );
    }
  });

  it("cosines() are the same numbers with the kernel and without", () => {
    const { floats, bytes } = vectorSource(3);
    for (const dimensions of [1, 2, 7, 15, 16, 17, 31, 33, 100, 384, 512, 1000, 4096]) {
      const oneNumber = new Int8Array(dimensions);
      oneNumber[dimensions - 1] = 1;
      const rows = [
        ...Array.from({ length: 20 }, () => bytes(dimensions)),
        new Int8Array(dimensions),
        new Int8Array(dimensions).fill(127),
        new Int8Array(dimensions).fill(-128),
        Int8Array.from({ length: dimensions }, (_, i) => i % 2 === 0 ? 127 : -128),
        oneNumber,
      ];
      const queries = [
        floats(dimensions),
        new Float32Array(dimensions).fill(1),
        new Float32Array(dimensions).fill(-3e38),
        Float32Array.from({ length: dimensions }, (_, i) => i % 2 === 0 ? 1 : -1),
        Float32Array.from(oneNumber),
      ];
      const kernel = matrixOf(rows, "kernel");
      const plain = matrixOf(rows, "plain");

      for (const query of queries) {
        const expected = [...plain.cosines(query)];
        deepEqual([...kernel.cosines(query)], expected);
        deepEqual(
          expected.map((cosine) => Number.isNaN(cosine)),
          rows.map((row) => row.every((value) => value === 0)),
        );
      }
    }
  });

  for (const engine of ["kernel", "plain"] as const) {
    it(`compare() gives the cosines of any rows side by side (${engine})`, () => {
      const source = vectorSource(5);
      const rows = Array.from({ length: 2_500 }, () => source.bytes(20));
      const matrix = matrixOf(rows, engine);
      const query = source.floats(20);
      const all = matrix.cosines(query).slice();

      const compare = matrix.compare(query);

      // Within a block, over the border of two, of three, nothing, and one by itself.
      for (const [first, count] of [[3, 5], [1_020, 10], [1_000, 1_500], [7, 0], [2_499, 1]]) {
        const cosines = new Float32Array(count ?? 0);
        compare(first ?? 0, cosines);
        deepEqual(cosines, all.slice(first, (first ?? 0) + cosines.length));
      }
    });
  }

  it("cosines() never overflow", () => {
    for (const engine of ["kernel", "plain"] as const) {
      for (const dimensions of [1, 511, 512, 513, 4096, 65_536]) {
        const matrix = matrixOf([
          new Int8Array(dimensions).fill(-128),
          new Int8Array(dimensions).fill(127),
        ], engine);

        deepEqual([...matrix.cosines(new Float32Array(dimensions).fill(-0.1))], [1, -1]);
      }
    }
  });

  it("cosines() are nothing for a row that is zero, and for a query that points nowhere", () => {
    for (const engine of ["kernel", "plain"] as const) {
      const matrix = matrixOf(
        [Int8Array.of(0, 2), Int8Array.of(0, 0), Int8Array.of(2, 0)],
        engine,
      );

      const cosines = matrix.cosines(Float32Array.of(0, 1));

      deepEqual([...cosines], [1, NaN, 0]);
      for (const query of [[0, 0], [NaN, 1], [1, Infinity]]) {
        deepEqual([...matrix.cosines(Float32Array.from(query))], [NaN, NaN, NaN]);
      }
      deepEqual([...matrix.cosines(Float32Array.of(0, 1))], [1, NaN, 0]);
    }
  });

  it("cosines() of no rows are none", () => {
    for (const engine of ["kernel", "plain"] as const) {
      equal(new VectorMatrix(3, { engine }).cosines(Float32Array.of(1, 2, 3)).length, 0);
    }
  });

  it("rows stay what they are while the matrix grows over many pages and blocks", () => {
    for (const engine of ["kernel", "plain"] as const) {
      const { floats, bytes } = vectorSource(4);
      const query = floats(100);
      const matrix = new VectorMatrix(100, { engine });
      const rows: Int8Array[] = [];
      const bytesTaken = new Set<number>();

      while (rows.length < 5_000) {
        const row = bytes(100);
        equal(matrix.append(row), rows.length);
        rows.push(row);
        bytesTaken.add(matrix.bytes);
        if (![1, 255, 257, 1023, 1024, 1025, 2048, 5_000].includes(rows.length)) continue;
        const cosines = matrix.cosines(query);
        equal(cosines.length, rows.length);
        rows.forEach((row, i) =>
          ok(Math.abs((cosines[i] ?? NaN) - cosineOf(row, query)) < QUERY_ERROR)
        );
      }

      equal(matrix.rowCount, 5_000);
      ok(bytesTaken.size > 5);
      ok(matrix.bytes >= 5_000 * 100 && matrix.bytes < 5_000 * 112 * 1.5);
      rows.forEach((row, i) => deepEqual(matrix.rowAt(i), row));
    }
  });

  it("cosines() stay when rows are added after them", () => {
    const { floats, bytes } = vectorSource(5);
    const matrix = matrixOf([bytes(512), bytes(512)], "kernel");

    const cosines = matrix.cosines(floats(512));
    const before = [...cosines];
    for (let i = 0; i < 2_000; i++) matrix.append(bytes(512));

    deepEqual([...cosines], before);
    equal(before.length, 2);
  });

  it("rowAt() returns a copy, of the row's own length", () => {
    for (const engine of ["kernel", "plain"] as const) {
      const matrix = matrixOf([Int8Array.of(1, 2, 3), Int8Array.of(4, 5, 6)], engine);

      matrix.rowAt(0).fill(9);

      deepEqual([...matrix.rowAt(0)], [1, 2, 3]);
      deepEqual([...matrix.rowAt(1)], [4, 5, 6]);
    }
  });

  it("appendEmpty() adds rows that are nothing until they are set", () => {
    for (const engine of ["kernel", "plain"] as const) {
      const matrix = matrixOf([Int8Array.of(1, 0)], engine);

      const first = matrix.appendEmpty(3);
      matrix.set(first + 1, Int8Array.of(0, 5));

      equal(first, 1);
      equal(matrix.rowCount, 4);
      deepEqual([...matrix.cosines(Float32Array.of(0, 1))], [0, NaN, 1, NaN]);
      matrix.set(first + 1, Int8Array.of(0, 0));
      deepEqual([...matrix.cosines(Float32Array.of(0, 1))], [0, NaN, NaN, NaN]);
    }
  });

  it("goes on without the kernel when its memory can grow no more", () => {
    const { floats, bytes } = vectorSource(6);
    const query = floats(512);
    const rows = Array.from({ length: 1_400 }, () => bytes(512));
    const matrix = new VectorMatrix(512, { maxPages: 10 });
    const engines = rows.map((row) => {
      matrix.append(row);
      return matrix.engine;
    });

    const cosines = matrix.cosines(query);

    // the last page is used too, though a quarter more could not be had
    const kernelRows = Math.floor((10 * 65_536 - 2 * 512 - 4 * 1024) / 512);
    equal(engines.indexOf("plain"), kernelRows);
    deepEqual([...cosines], [...matrixOf(rows, "kernel").cosines(query)]);
    deepEqual(matrix.rowAt(0), rows[0]);
  });

  it("does without the kernel when there is no WebAssembly SIMD or no memory", () => {
    const { validate } = WebAssembly;
    WebAssembly.validate = () => false;
    try {
      const matrix = new VectorMatrix(3);
      matrix.append(Int8Array.of(0, 0, 7));

      equal(matrix.engine, "plain");
      deepEqual([...matrix.cosines(Float32Array.of(0, 0, 1))], [1]);
      throws(() => new VectorMatrix(3, { engine: "kernel" }), /no WebAssembly SIMD/);
    } finally {
      WebAssembly.validate = validate;
    }
    equal(new VectorMatrix(3).engine, "kernel");
    equal(new VectorMatrix(3, { maxPages: 0 }).engine, "plain");
  });

  for (const dimensions of [1, 19, 512, 65_536]) {
    it(`restore() has the rows of ${dimensions} dimensions of the cut, whatever came later`, async () => {
      const { floats, bytes } = vectorSource(dimensions);
      const query = floats(dimensions);
      const rows = Array.from({ length: 30 }, () => bytes(dimensions));
      const matrix = matrixOf(rows, "kernel");
      const empty = matrix.appendEmpty(2);
      const expected = [...matrix.cosines(query)];
      const last = bytes(dimensions);

      const frozen = matrix.freeze();
      const changeMore = () => {
        matrix.set(empty, last);
        matrix.append(last);
      };
      const restored = await saveAndRestore(
        frozen,
        (reader) => VectorMatrix.restore(reader, dimensions),
        changeMore,
      );

      deepEqual([...restored.cosines(query)], expected);
      deepEqual(restored.rowAt(empty), new Int8Array(dimensions));
      equal(restored.append(last), rows.length + 2);
      deepEqual(restored.cosines(query).at(-1), matrixOf([last], "kernel").cosines(query)[0]);
    });
  }

  it("restore() has the rows of a matrix that leaves the kernel while it is saved", async () => {
    const { floats, bytes } = vectorSource(9);
    const query = floats(512);
    const rows = Array.from({ length: 1_000 }, () => bytes(512));
    const matrix = new VectorMatrix(512, { maxPages: 10 });
    for (const row of rows) matrix.append(row);
    const before = matrix.engine;

    const restored = await saveAndRestore(
      matrix.freeze(),
      (reader) => VectorMatrix.restore(reader, 512),
      () => matrix.appendEmpty(100),
    );

    deepEqual([before, matrix.engine], ["kernel", "plain"]);
    equal(restored.rowCount, rows.length);
    deepEqual([...restored.cosines(query)], [...matrixOf(rows, "kernel").cosines(query)]);
  });

  it("restore() refuses vectors of other dimensions", async () => {
    for (const rows of [[], [Int8Array.of(1)], [Int8Array.of(1), Int8Array.of(2)]]) {
      await rejects(
        saveAndRestore(
          matrixOf(rows, "plain").freeze(),
          (reader) => VectorMatrix.restore(reader, 2),
        ),
        /cannot be restored/,
      );
    }
  });

  it("refuses other dimensions, and rows that it does not have", () => {
    const matrix = matrixOf([Int8Array.of(1, 2)], "kernel");

    for (const dimensions of [0, -1, 1.5, NaN, 65_537]) {
      throws(() => new VectorMatrix(dimensions), /from 1 to 65536 are possible/);
    }
    throws(() => matrix.append(Int8Array.of(1)), /1 dimensions: here they have 2/);
    throws(() => matrix.cosines(Float32Array.of(1, 2, 3)), /3 dimensions: here they have 2/);
    for (const row of [-1, 1, NaN]) {
      throws(() => matrix.rowAt(row), /the matrix has 1/);
      throws(() => matrix.set(row, Int8Array.of(1, 2)), /the matrix has 1/);
    }
    equal(matrix.rowCount, 1);
    notEqual(matrix.bytes, 0);
  });
});
