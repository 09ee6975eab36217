import {
  deepStrictEqual as deepEqual,
  match,
  ok,
  strictEqual as equal,
  throws,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Budget } from "@/lib/access/budget.ts";
import {
  requireRoom,
  spendAnswer,
  spendFile,
  spendHearsay,
  spendList,
} from "@/lib/access/spend.ts";
import type { Caller } from "@/lib/contracts.ts";

const AGENT: Caller = { kind: "agent", loopback: true };

function setUp({ isBound } = { isBound: true }) {
  const budget = new Budget();
  return { budget, access: { isBound: () => isBound, budgetOf: () => budget } };
}

describe("spendAnswer()", () => {
  it("spendAnswer() leaves the answer of who is free as it is, and counts nothing", () => {
    const { access, budget } = setUp({ isBound: false });
    const answer = { markdown: "x".repeat(10_000) };

    equal(spendAnswer(access, AGENT, answer), answer);
    equal(budget.report.used.chars, 0);
  });

  it("spendAnswer() counts every text but names, places, times and words of the server", () => {
    const { access, budget } = setUp();

    spendAnswer(access, AGENT, {
      query: "mine",
      mode: "hybrid",
      results: [{ id: "idid", path: "a/b.md", snippet: "12345", name: "name", brandNew: "123" }],
      total: 7,
    });

    equal(budget.report.used.chars, "12345name123".length);
  });

  it("spendAnswer() counts what a note has under keys that are free elsewhere", () => {
    const { access, budget } = setUp();
    const long = "x".repeat(3_000);

    const shown = spendAnswer(access, AGENT, {
      frontmatter: { note: long, source: long },
      updatedAt: "2026-01-01T00:00:00Z",
      results: [{ updatedAt: long }],
    });
    const full = spendAnswer(access, AGENT, { frontmatter: { [long]: "1" } });

    ok(budget.report.used.chars > 6_000);
    deepEqual([shown["results"], full["frontmatter"]], [[], {}]);
  });

  it("spendAnswer() drops the items that do not fit, and with them the way to more", () => {
    const { access } = setUp();
    const item = (at: number) => ({ id: `m${at}`, text: "x".repeat(3_000) });

    const shown = spendAnswer(access, AGENT, {
      results: [item(1), item(2), item(3), item(4)],
      nextCursor: "more",
    });

    deepEqual(Object.keys(shown), ["results", "budget"]);
    deepEqual((shown["results"] as { id: string }[]).map(({ id }) => id), ["m1", "m2"]);
    const { truncated, notShown } = shown["budget"] as { truncated: string[]; notShown: number };
    deepEqual([truncated, notShown], [["MEMORY_TASK_MAX_CHARS=8000"], 2]);
  });

  it("spendAnswer() cuts a long text, and says on which line it ends", () => {
    const { access } = setUp();
    const markdown = "12345678\n".repeat(2_000);

    const shown = spendAnswer(access, AGENT, {
      path: "a.md",
      kind: "note",
      lines: { start: 11, end: 2_010, total: 3_000 },
      markdown,
    });

    const text = shown["markdown"] as string;
    ok(text.length <= 8_000 && text.endsWith("\n"));
    equal((shown["lines"] as { end: number }).end, 10 + text.split("\n").length - 1);
  });

  it("spendAnswer() counts a file that is opened once, and opens no more than five", () => {
    const { access, budget } = setUp();
    const open = (path: string) => spendAnswer(access, AGENT, { path, kind: "note", body: "x" });

    for (const name of ["a", "b", "b", "c", "d", "e"]) open(`${name}.md`);

    equal(budget.report.used.files, 5);
    throws(() => open("f.md"), { code: "budget-exceeded", message: /MEMORY_TASK_MAX_FILES=5/ });
  });

  it("spendAnswer() holds what is a summary or a fact to the limits of these", () => {
    const { access } = setUp();
    const hit = (kind: string) => ({ kind, snippet: "x".repeat(1_600) });

    const shown = spendAnswer(access, AGENT, {
      results: [hit("facts"), hit("summary"), hit("summary"), hit("facts")],
    });

    const { truncated } = shown["budget"] as { truncated: string[] };
    equal((shown["results"] as unknown[]).length, 3);
    deepEqual(truncated, ["MEMORY_DEEP_MAX_MEMORY_CHARS=3000"]);
  });
});

describe("spendAnswer() where a part is used up", () => {
  it("spendAnswer() leaves out what is of that part, and goes on with the rest", () => {
    const { access, budget } = setUp();
    budget.take("summary", "x".repeat(4_000));
    const results = [
      { id: "s", kind: "summary", snippet: "of a summary" },
      { id: "m", kind: "memory", snippet: "of a memory" },
    ];

    const shown = spendAnswer(access, AGENT, { results });

    deepEqual(shown["results"], results.slice(1));
    equal((shown["budget"] as { notShown: number }).notShown, 1);
  });

  it("spendAnswer() says of a note whether its frontmatter is sound, whatever is left", () => {
    const { access, budget } = setUp();
    budget.take("other", "x".repeat(7_999));
    const frontmatter = { state: "invalid", reason: "bad-yaml", line: 2 };

    const shown = spendAnswer(access, AGENT, { nameFrom: "file", frontmatter, tags: ["abc"] });

    deepEqual(shown["frontmatter"], frontmatter);
  });
});

describe("spendHearsay()", () => {
  const saved = { created: true, name: "mine", description: "mine", tags: ["a"], status: "active" };
  const similar = [{ id: "m1", name: "another", score: 1 }];

  it("spendHearsay() counts nothing of what the caller has said itself", () => {
    const { access, budget } = setUp();

    deepEqual(spendHearsay(access, AGENT, { ...saved, similar }), { ...saved, similar });
    equal(budget.report.used.chars, "another".length);
    spendHearsay(access, AGENT, { ...saved, created: false });
    equal(budget.report.used.chars, "another".length + "mineminea".length);
  });

  it("spendHearsay() leaves out what does not fit, and nothing that the answer has to have", () => {
    const { access, budget } = setUp();
    budget.take("other", "x".repeat(8_000));

    const created = spendHearsay(access, AGENT, { ...saved, similar });
    const changed = spendHearsay(access, AGENT, { ...saved, created: false });
    const handedOff = { status: "saved", branch: "main", scope: "01", path: "a.md" };

    deepEqual(created, { ...saved, similar: [] });
    deepEqual(changed, { ...saved, created: false, name: "", description: "", tags: [] });
    deepEqual(spendHearsay(access, AGENT, handedOff), handedOff);
  });
});

describe("spendFile()", () => {
  it("spendFile() hands out what is left, and then nothing more", () => {
    const { access } = setUp();
    const file = { path: "a.md", kind: "memory", text: "记".repeat(6_000) };

    equal([...spendFile(access, AGENT, file)].length, 5_000);
    throws(() => spendFile(access, AGENT, file), { code: "budget-exceeded" });
    throws(() => requireRoom(access, AGENT), { message: /MEMORY_TASK_MAX_EST_TOKENS=5000/ });
  });
});

describe("spendList()", () => {
  it("spendList() says nothing of the budget", () => {
    const { access } = setUp();

    deepEqual(spendList(access, AGENT, { shown: ["a", "b"] }), { shown: ["a", "b"] });
    match(JSON.stringify(setUp().budget.report), /"left"/);
  });
});
