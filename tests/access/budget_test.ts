import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { Budget, type BudgetPart, formatLimit } from "@/lib/access/budget.ts";
import { estimatedTokens } from "@/lib/access/estimated_tokens.ts";
import { anyText, charsOf } from "@/tests/_support/any_text.ts";

const PARTS: readonly BudgetPart[] = ["route", "summary", "shared", "facts", "history", "other"];

describe("Budget.openFile()", () => {
  it("Budget.openFile() opens at most 3 summaries, and names the limit", () => {
    const budget = new Budget();

    const opened = ["a", "b", "c", "d"].map((path) => budget.openFile("summary", path));

    deepEqual(opened, [undefined, undefined, undefined, "MEMORY_SUMMARY_MAX_FILES"]);
    equal(budget.report.used.files, 3);
  });

  it("Budget.openFile() counts a shared file toward the same limit", () => {
    const budget = new Budget();
    budget.openFile("shared", "_shared/a.md");
    budget.openFile("summary", "b/summary.md");
    budget.openFile("shared", "_shared/c.md");

    equal(budget.openFile("summary", "d/summary.md"), "MEMORY_SUMMARY_MAX_FILES");
    equal(budget.openFile("shared", "_shared/d.md"), "MEMORY_SUMMARY_MAX_FILES");
  });

  it("Budget.openFile() opens at most 1 memory.md and 2 files of history", () => {
    const budget = new Budget();

    equal(budget.openFile("facts", "a/memory.md"), undefined);
    equal(budget.openFile("facts", "b/memory.md"), "MEMORY_DEEP_MAX_MEMORY_FILES");
    equal(budget.openFile("history", "a/history/1.md"), undefined);
    equal(budget.openFile("history", "a/history/2.md"), undefined);
    equal(budget.openFile("history", "a/history/3.md"), "MEMORY_HISTORY_MAX_FILES");
  });

  it("Budget.openFile() opens at most 5 files in the whole task", () => {
    const budget = new Budget();
    ["a", "b", "c"].forEach((path) => budget.openFile("summary", path));
    budget.openFile("facts", "d");
    budget.openFile("history", "e");

    equal(budget.openFile("history", "f"), "MEMORY_TASK_MAX_FILES");
    equal(budget.report.left.files, 0);
  });

  it("Budget.openFile() counts a file once that is opened again", () => {
    const budget = new Budget();
    ["a", "b", "c", "a", "b"].forEach((path) => budget.openFile("summary", path));

    equal(budget.openFile("summary", "a"), undefined);
    equal(budget.report.used.files, 3);
  });

  it("Budget.openFile() does not count a file that was refused", () => {
    const budget = new Budget();
    budget.openFile("facts", "a");
    budget.openFile("facts", "b");

    equal(budget.report.used.files, 1);
    equal(budget.openFile("summary", "b"), undefined);
  });
});

describe("Budget.take()", () => {
  const cases: { name: string; part: BudgetPart; text: string; chars: number; cutBy: string }[] = [
    {
      name: "4000 characters of summaries",
      part: "summary",
      text: "a".repeat(5_000),
      chars: 4_000,
      cutBy: "MEMORY_SUMMARY_MAX_CHARS",
    },
    {
      name: "2500 estimated tokens, which Chinese summaries reach before 4000 characters",
      part: "summary",
      text: "缓".repeat(5_000),
      chars: 2_500,
      cutBy: "MEMORY_SUMMARY_MAX_EST_TOKENS",
    },
    {
      name: "3000 characters of memory.md",
      part: "facts",
      text: "缓".repeat(5_000),
      chars: 3_000,
      cutBy: "MEMORY_DEEP_MAX_MEMORY_CHARS",
    },
    {
      name: "8000 characters in the whole task",
      part: "history",
      text: "a".repeat(9_000),
      chars: 8_000,
      cutBy: "MEMORY_TASK_MAX_CHARS",
    },
    {
      name: "5000 estimated tokens in the whole task",
      part: "history",
      text: "缓".repeat(9_000),
      chars: 5_000,
      cutBy: "MEMORY_TASK_MAX_EST_TOKENS",
    },
    {
      name: "2500 estimated tokens of routes too",
      part: "route",
      text: "缓".repeat(5_000),
      chars: 2_500,
      cutBy: "MEMORY_SUMMARY_MAX_EST_TOKENS",
    },
  ];
  for (const { name, part, text, chars, cutBy } of cases) {
    it(`Budget.take() stops at ${name}`, () => {
      const taken = new Budget().take(part, text);

      equal(charsOf(taken.text), chars);
      equal(taken.cutBy, cutBy);
    });
  }

  it("Budget.take() counts what a route costs toward the tokens of summaries, not their characters", () => {
    const budget = new Budget();
    budget.take("route", "缓".repeat(1_500));

    const taken = budget.take("summary", "存".repeat(3_000));
    const more = budget.take("summary", "a");

    equal(charsOf(taken.text), 1_000);
    equal(taken.cutBy, "MEMORY_SUMMARY_MAX_EST_TOKENS");
    deepEqual(more, { text: "", cutBy: "MEMORY_SUMMARY_MAX_EST_TOKENS" });
  });

  it("Budget.take() hands out exactly what is left", () => {
    const budget = new Budget();

    deepEqual(budget.take("summary", "a".repeat(3_999)).cutBy, undefined);
    equal(budget.reachedFor("summary"), undefined);
    deepEqual(budget.take("summary", "b"), { text: "b" });
    equal(budget.reachedFor("summary"), "MEMORY_SUMMARY_MAX_CHARS");
    deepEqual(budget.take("summary", "c"), { text: "", cutBy: "MEMORY_SUMMARY_MAX_CHARS" });
    deepEqual(budget.take("summary", ""), { text: "" });
  });

  it("Budget.take() cuts at the end of a line if that loses less than half", () => {
    const line = `${"x".repeat(99)}\n`;

    const taken = new Budget().take("facts", line.repeat(29) + "y".repeat(200));

    equal(taken.text, line.repeat(29));
  });

  it("Budget.take() cuts within a line if the last one that ends lies far back", () => {
    equal(charsOf(new Budget().take("facts", `x\n${"y".repeat(4_000)}`).text), 3_000);
  });

  it("Budget.take() tears no character that people see as one", () => {
    const family = "👩‍👩‍👧";

    const taken = new Budget().take("facts", "a".repeat(2_997) + family + "b".repeat(100));

    equal(taken.text, "a".repeat(2_997));
  });

  it("Budget.take() cuts a single character that is larger than all there is", () => {
    const taken = new Budget().take("facts", "a" + "\u0301".repeat(4_000));

    equal(charsOf(taken.text), 3_000);
  });

  it("Budget.take() looks at no more of a huge text than there is room for", () => {
    const huge = "a".repeat(50_000_000);
    const budget = new Budget();
    const startMs = performance.now();

    for (let run = 0; run < 20; run++) budget.take("history", huge);
    budget.limitFor("history", huge);

    ok(performance.now() - startMs < 500);
  });
});

it("formatLimit() writes a limit as the protocol knows it", () => {
  equal(formatLimit("MEMORY_SUMMARY_MAX_CHARS"), "MEMORY_SUMMARY_MAX_CHARS=4000");
});

it("Budget.report tells what is used and what is left", () => {
  const budget = new Budget();
  budget.openFile("summary", "a");
  budget.take("summary", "缓存 ab");

  deepEqual(budget.report, {
    used: { files: 1, chars: 5, tokens: 2.75 },
    left: { files: 4, chars: 7_995, tokens: 4_997.25 },
  });
});

it("Budget never exceeds a limit, whatever is taken in whatever order", () => {
  const piece = fc.tuple(
    fc.constantFrom(...PARTS),
    fc.oneof(anyText, fc.tuple(fc.constantFrom("缓", "a", "🎉", "a\n"), fc.nat(9_000))),
  ).map(([part, text]) => ({
    part,
    text: typeof text === "string" ? text : text[0].repeat(text[1]),
  }));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const budget = new Budget();
      const taken = PARTS.map((part) => ({ part, text: "" }));
      for (const { part, text } of pieces) {
        const cut = budget.take(part, text);
        ok(text.startsWith(cut.text));
        equal(cut.cutBy === undefined, cut.text === text);
        ok(cut.text.isWellFormed() || !text.isWellFormed());
        const sum = taken.find((one) => one.part === part);
        if (sum) sum.text += cut.text.toWellFormed();
      }

      const textOf = (...parts: BudgetPart[]) =>
        taken.filter(({ part }) => parts.includes(part)).map(({ text }) => text).join("");
      ok(charsOf(textOf("summary", "shared")) <= 4_000);
      ok(estimatedTokens(textOf("route", "summary", "shared")) <= 2_500);
      ok(charsOf(textOf("facts")) <= 3_000);
      ok(charsOf(textOf(...PARTS)) <= 8_000);
      ok(estimatedTokens(textOf(...PARTS)) <= 5_000);
    }),
    { numRuns: 300 },
  );
});
