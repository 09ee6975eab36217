import {
  deepStrictEqual as deepEqual,
  match,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { auditWords } from "@/lib/cli/_audit_words.ts";
import { askDecisions } from "@/lib/cli/audit_dialogue.ts";
import type { AuditReport } from "@/lib/contracts_journal.ts";
import { type FakeTerminal, fakeTerminal } from "./_fake_terminal.ts";

const NOTHING: AuditReport = {
  audit: "a",
  day: "2025-03-16",
  conflicts: [],
  rules: [],
  ageing: [],
  active: [],
  advice: [],
  log: { lines: 3, most: 10 },
  notUnderstood: [],
  notices: [],
  text: "the report",
};

const REPORT: AuditReport = {
  ...NOTHING,
  conflicts: [{
    item: "c1",
    section: "写作风格",
    old: { id: "p1", text: "口语化" },
    new: { id: "p2", text: "严谨为主" },
    score: .8,
    proposed: true,
  }],
  rules: [{
    item: "r1",
    pitfalls: [
      { path: "projects/a.md", day: "2025-01-10", text: "first time" },
      { path: "projects/b.md", day: "", text: "second time" },
    ],
    codes: [],
    score: .9,
    rule: "Ask for the owner of node_modules first",
  }],
  ageing: [{ item: "a1", path: "projects/a.md", reason: "done", status: "已发布" }],
  log: { item: "log", lines: 12, most: 10 },
};

const BEFORE_RULES = ["one by one", "n", "n", "n"];
type Item = { item: string; apply: boolean; rule?: string };

async function decide(
  answers: readonly string[],
  { report = REPORT, isTerminal = true, language = "en" as "en" | "zh" } = {},
): Promise<{ decisions: "all" | "cancel" | Item[]; terminal: FakeTerminal }> {
  const terminal = fakeTerminal(answers, { isTerminal });
  const decisions = await askDecisions(terminal, report, auditWords(language));
  if (typeof decisions === "string") return { decisions, terminal };
  return { decisions: decisions.map(({ rule, ...it }) => rule ? { ...it, rule } : it), terminal };
}

describe("askDecisions()", () => {
  it("askDecisions() takes one answer for the whole report", async () => {
    for (
      const [answer, decisions] of [["全部执行", "all"], ["all", "all"], [
        "取消",
        "cancel",
      ]] as const
    ) {
      const { decisions: found, terminal } = await decide([answer]);

      equal(found, decisions);
      equal(terminal.questions.length, 1);
    }
  });

  it("askDecisions() asks item by item, rules last and by themselves", async () => {
    const { decisions, terminal } = await decide(["逐条确认", "是", "否", "y", "y"]);

    deepEqual(decisions, [
      { item: "c1", apply: true },
      { item: "a1", apply: false },
      { item: "log", apply: true },
      { item: "r1", apply: true },
    ]);
    const places = ["[c1]", "[a1]", "[log]", "new rules", "[r1]"].map((it) =>
      terminal.output.indexOf(it)
    );
    deepEqual(places, places.toSorted((a, b) => a - b));
    ok(!places.includes(-1), terminal.output);
  });

  it("askDecisions() takes an empty answer for no, and for the proposal of a rule", async () => {
    const { decisions } = await decide(["one by one", "", " ", "", ""]);

    deepEqual(decisions, [
      { item: "c1", apply: false },
      { item: "a1", apply: false },
      { item: "log", apply: false },
      { item: "r1", apply: true },
    ]);
  });

  it("askDecisions() takes better words for a rule, or skips it", async () => {
    const cases: [string, Item][] = [
      ["n", { item: "r1", apply: false }],
      ["否", { item: "r1", apply: false }],
      ["是", { item: "r1", apply: true }],
      ["先看 node_modules 的属主", { item: "r1", apply: true, rule: "先看 node_modules 的属主" }],
      [" - No root in builds ", { item: "r1", apply: true, rule: "No root in builds" }],
    ];
    for (const [answer, decision] of cases) {
      const { decisions } = await decide([...BEFORE_RULES, answer]);
      deepEqual(decisions.at(-1), decision, answer);
    }
  });

  it("askDecisions() cancels all where input ends, or at the word, wherever that is", async () => {
    const all = ["one by one", "y", "y", "y", "y"];
    for (let length = 0; length < all.length; length++) {
      const ended = await decide(all.slice(0, length));
      const cancelled = await decide([...all.slice(0, length), "cancel"]);

      equal(ended.decisions, "cancel");
      match(ended.terminal.output, /taken for cancel/);
      equal(cancelled.decisions, "cancel");
    }
  });

  it("askDecisions() asks a person again", async () => {
    const answers = ["", "maybe", "one by one", "what", "y", "n", "n", "ok", "all", "n"];

    const { decisions, terminal } = await decide(answers);

    deepEqual(decisions, [
      { item: "c1", apply: true },
      { item: "a1", apply: false },
      { item: "log", apply: false },
      { item: "r1", apply: false },
    ]);
    equal(terminal.questions.length, answers.length);
  });

  it("askDecisions() refuses a script's answer that is none: the next is to another question", async () => {
    for (
      const answers of [[""], ["maybe"], ["one by one", "ok"], [...BEFORE_RULES, "ok"]]
    ) {
      await rejects(decide(answers, { isTerminal: false }), {
        name: "InvalidRequest",
        message: /not understood/,
      });
    }
  });

  it("askDecisions() takes no rule that may not be written", async () => {
    const secret = "Use " + "AKIA" + "Q3EGTVHZ7LBWN5XK" +
      " for it, with password: kT7vQ9zLm2Xw8RbN";
    const wrong = ["x".repeat(600), "## A whole output", secret];
    for (const rule of wrong) {
      const { decisions, terminal } = await decide([...BEFORE_RULES, rule, "A better rule"]);

      deepEqual(decisions.at(-1), { item: "r1", apply: true, rule: "A better rule" });
      match(terminal.output, /This cannot be a rule: it /);
      await rejects(decide([...BEFORE_RULES, rule], { isTerminal: false }), {
        name: "InvalidRequest",
        message: /^This cannot be a rule/,
      });
    }
  });

  it("askDecisions() asks nothing about a report without items", async () => {
    const { decisions, terminal } = await decide([], { report: NOTHING });

    deepEqual(decisions, []);
    equal(terminal.output, "");
  });

  it("askDecisions() asks in the language of the report", async () => {
    const { terminal } = await decide(["逐条确认", "否", "否", "否", "否"], { language: "zh" });

    match(terminal.output, /全部执行 \/ 逐条确认 \/ 取消？/);
    match(terminal.output, /删除旧条目？（是\/否，回车=否）/);
    match(terminal.output, /规则升级（单独确认）/);
  });

  it("askDecisions() shows no sign of a note that steers the terminal", async () => {
    const report = {
      ...REPORT,
      rules: REPORT.rules.map((rule) => ({ ...rule, rule: "Do it\u001b[2K\rnot" })),
    };

    const { terminal } = await decide([...BEFORE_RULES, "n"], { report });

    match(terminal.output, /Do it\\u001b\[2K\\u000dnot/);
    ok(!terminal.output.includes("\u001b"));
  });
});
