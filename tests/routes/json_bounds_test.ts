import { strictEqual as equal, throws } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { InvalidRequest } from "@/lib/errors.ts";
import { requireModest } from "@/routes/_json_bounds.ts";
import { randomSource } from "@/tests/_support/random.ts";

/** Counts what the bound counts, from the value itself. */
function countValues(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce((sum: number, inner) => sum + countValues(inner), 1);
}

function isModest(text: string): boolean {
  try {
    requireModest(text);
    return true;
  } catch (error) {
    if (error instanceof InvalidRequest) return false;
    throw error;
  }
}

describe("requireModest()", () => {
  const list = (count: number, item: string) => `[${Array(count).fill(item).join(", ")}]`;
  const cases: readonly [name: string, text: string, isTaken: boolean][] = [
    ["1 000 values", list(999, "1"), true],
    ["1 001 values", list(1_000, "1"), false],
    ["1 000 values, empty lists among them", list(999, "[ ]"), true],
    ["1 001 values, empty objects among them", list(1_000, "{}"), false],
    ["32 levels", `${"[".repeat(32)}${"]".repeat(32)}`, true],
    ["33 levels", `${"[".repeat(33)}${"]".repeat(33)}`, false],
    ["an opening without end", "[".repeat(2_000_000), false],
    ["commas alone", ",".repeat(2_000), false],
    ["a string of marks", JSON.stringify("[{,}]".repeat(100_000)), true],
    ["a string of quotes", JSON.stringify('"\\'.repeat(100_000)), true],
    ["a string that does not end", `"${"[,".repeat(2_000)}`, true],
    ["nothing", "", true],
  ];
  for (const [name, text, isTaken] of cases) {
    it(`requireModest() ${isTaken ? "takes" : "refuses"} ${name}`, () => {
      equal(isModest(text), isTaken);
    });
  }

  it("requireModest() counts as the parser does, whatever stands in strings", () => {
    const random = randomSource(3);
    const strings = ["", "[", '"', "\\", '\\"', "{,}", "中", "\u2028"];
    const pick = <T>(items: readonly T[]) => items[random(items.length)];
    const make = (depth: number): unknown => {
      const kind = random(depth > 4 ? 3 : 5);
      const few = Array.from({ length: kind < 3 ? 0 : random(9) }, () => make(depth + 1));
      if (kind === 3) return few;
      if (kind === 4) {
        return Object.fromEntries(few.map((each, at) => [`${pick(strings)}${at}`, each]));
      }
      return [random(9), pick(strings), null][kind];
    };

    const seen = new Set<boolean>();
    for (let round = 0; round < 2_000; round++) {
      const value = Array.from({ length: random(60) }, () => make(0));
      const text = JSON.stringify(value, null, random(2));
      const isTaken = countValues(value) <= 1_000;
      seen.add(isTaken);
      equal(isModest(text), isTaken, text.slice(0, 300));
    }
    equal(seen.size, 2);
  });

  it("requireModest() says what is allowed", () => {
    throws(() => requireModest("[".repeat(40)), /at most 1000 values, nested 32 deep/);
  });
});
