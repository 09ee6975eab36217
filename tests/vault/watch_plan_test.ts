import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import type { FolderStamp } from "@/lib/vault/scan.ts";
import { ancestorsOf, type FolderPath } from "@/lib/vault/vault_path.ts";
import { planWatch, type WatchPlan } from "@/lib/vault/watch_plan.ts";
import { randomSource } from "../_support/random.ts";

type Sketch = Readonly<Record<string, "plain" | "mixed" | number>>;

function foldersOf(sketch: Sketch): Map<string, FolderStamp> {
  return new Map(
    Object.entries(sketch).map(([path, what]) => {
      const entries = typeof what === "number" ? what : 3;
      return [path, { dev: 1, ino: 1, empty: false, entries, mixed: what === "mixed" }];
    }),
  );
}

function sorted({ flat, deep }: WatchPlan): { flat: string[]; deep: string[] } {
  return { flat: [...flat].sort(), deep: deep.flat().sort() };
}

describe("planWatch()", () => {
  const plans: readonly [name: string, Sketch, { flat: string[]; deep: string[] }][] = [
    ["one tree", { "": "plain", a: "plain", "a/b": "plain" }, { flat: [], deep: [""] }],
    ["a root that holds a dot folder", { "": "mixed", a: "plain", "a/b": "plain", c: "plain" }, {
      flat: [""],
      deep: ["a", "c"],
    }],
    ["a deep folder that holds a link", {
      "": "plain",
      a: "plain",
      "a/b": "mixed",
      "a/b/c": "plain",
      "a/d": "plain",
      e: "plain",
    }, { flat: ["", "a", "a/b"], deep: ["a/b/c", "a/d", "e"] }],
    ["trees too large to be opened at once", { "": 1, a: 9_000, "a/b": 9_000, c: 5 }, {
      flat: ["", "a"],
      deep: ["a/b", "c"],
    }],
    ["a large folder that has none inside", { "": "mixed", a: 90_000 }, {
      flat: ["", "a"],
      deep: [],
    }],
  ];
  for (const [name, sketch, expected] of plans) {
    it(`planWatch() plans for ${name}`, () => {
      const plan = planWatch(foldersOf(sketch));

      ok(plan);
      deepEqual(sorted(plan), expected);
    });
  }

  it("planWatch() opens large trees in groups", () => {
    const plan = planWatch(foldersOf({ "": "mixed", a: 6_000, b: 6_000, c: 3_000, d: 900 }));

    ok(plan);
    ok(plan.deep.length > 1);
    deepEqual(sorted(plan).deep, ["a", "b", "c", "d"]);
  });

  it("planWatch() gives up over its number of paths, and without a root", () => {
    const many = Object.fromEntries(
      Array.from({ length: 20 }, (_, n) => [`f${n}`, "plain"] as const),
    );

    ok(planWatch(foldersOf({ "": "mixed", ...many }), 21));
    equal(planWatch(foldersOf({ "": "mixed", ...many }), 20), undefined);
    equal(planWatch(foldersOf({ a: "plain" })), undefined);
  });

  it("planWatch() reaches every folder once, and nothing mixed as a tree", () => {
    const random = randomSource(7);
    for (let round = 0; round < 200; round++) {
      const paths: FolderPath[] = [""];
      for (let count = random(30); count > 0; count--) {
        const above = paths[random(paths.length)] ?? "";
        paths.push((above === "" ? `f${count}` : `${above}/f${count}`) as FolderPath);
      }
      const sketch = Object.fromEntries(paths.map((path) => {
        const what = random(6) === 0 ? "mixed" as const : random(8_000);
        return [path, what];
      }));

      const plan = planWatch(foldersOf(sketch));

      ok(plan);
      const deep = new Set(plan.deep.flat());
      for (const path of paths) {
        const above = [path, ...ancestorsOf(path)].filter((it) => deep.has(it));
        const reached: number = above.length + (plan.flat.includes(path) ? 1 : 0);
        equal(reached, 1, `${path} in ${JSON.stringify(sketch)}`);
        if (sketch[path] === "mixed") equal(above.length, 0);
      }
    }
  });
});
