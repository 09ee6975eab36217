import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "@std/testing/bdd";
import { json, serveAsking } from "@/tests/_support/ask_world.ts";
import {
  apply,
  audit,
  begin,
  MIGRATIONS,
  projectNote,
  sessionLog,
} from "@/tests/_support/journal_world.ts";
import { textsBelow } from "@/tests/_support/temp_vault.ts";
import { type WritingWorld, writingWorld } from "@/tests/_support/writing.ts";

const OLD = "- 缩进用两个空格<!-- 最后命中：2025-11-02 -->\n  - 只在前端";
const PROFILE = [
  "# 个人偏好与工作方式",
  "",
  "## 开发习惯",
  OLD,
  "- 缩进用四个空格<!-- 最后命中：2026-03-02 -->",
  "- 我自己写的一行",
  "",
  "---",
  "最后更新：2026-03-02",
  "",
].join("\n");

function rotten(): Promise<WritingWorld> {
  return writingWorld({
    "profile.md": PROFILE,
    "projects/a.md": projectNote("a", {
      status: "已完成<!-- 最后命中：2026-02-10 -->",
      pitfalls: MIGRATIONS.slice(0, 2),
    }),
    "projects/b.md": projectNote("b", { status: "联调", pitfalls: MIGRATIONS.slice(2) }),
    "session-log.md": sessionLog(13),
  }, { embedding: "static" });
}

describe("POST /api/audits/{id}/apply", () => {
  it("does all that is proposed, keeps what goes, and puts it on record", async () => {
    await using world = await rotten();
    const before = textsBelow(world.root);
    const { audit: id, conflicts, rules } = await audit(world);
    equal(conflicts.length, 1);

    const { status, body } = await apply(world, id, "all");

    equal(status, 200);
    deepEqual([body.status, body.removed, body.archived, body.rules, body.movedLogLines], [
      "applied",
      1,
      ["projects/archive/a.md"],
      ["R001"],
      3,
    ]);
    equal(
      world.text("profile.md"),
      PROFILE.replace(`${OLD}\n`, "").replace("更新：2026-03-02", "更新：2026-05-14"),
    );
    equal(world.text("projects/archive/a.md"), before["projects/a.md"]);
    deepEqual(world.list("projects"), ["archive", "b.md"]);
    match(
      world.text("rules.md"),
      /^# 固化规则\n[^]*\n- \[R001\] .*迁移.*\n {2}来源：projects\/archive\/a\.md、projects\/b\.md 踩坑记录，2026-01-10 \/ 2026-02-03 \/ 2026-03-15 三次同类问题\n {2}最后命中：2026-05-14\n/,
    );
    ok(world.text("rules.md").includes(rules[0].rule));
    equal(world.text("session-log.md").match(/^2026/gm)?.length, 10);
    match(world.text("session-log.archive.md"), /01-01 .*\n.*01-02 .*\n.*01-03 .*\n$/);
    equal(
      world.text("audit-log.md"),
      "# 审计日志\n\n2026-05-14 | 清理 profile 冲突条目 1 个，归档项目 1 个，升级规则 1 条，移出任务日志 3 条\n",
    );
    const kept = join(world.config.state, body.backup);
    equal(await Deno.readTextFile(join(kept, "profile.md")), PROFILE);
    equal(await Deno.readTextFile(join(kept, "session-log.md")), before["session-log.md"]);
    if (Deno.build.os !== "windows") {
      equal(((await Deno.stat(join(kept, "profile.md"))).mode ?? 0) & 0o777, 0o600);
    }
    const begun = await begin(world);
    match(begun.body.text, /^\[rules\]\n## 规则列表\n- \[R001\] .*\n\n\[profile\]/);
    equal(begun.body.reminder, undefined);
  });

  it("does what was decided item by item, a rule in the person's words, and no more", async () => {
    await using world = await rotten();
    const before = textsBelow(world.root);
    const { audit: id } = await audit(world);

    const { status, body } = await apply(world, id, [
      { item: "c1", apply: false },
      { item: "r1", apply: true, rule: "- 发布前先跑数据库迁移" },
    ]);

    equal(status, 200);
    deepEqual([body.removed, body.archived, body.rules], [0, [], ["R001"]]);
    match(world.text("rules.md"), /- \[R001\] 发布前先跑数据库迁移\n/);
    const { "rules.md": _rules, "audit-log.md": _log, ...rest } = textsBelow(world.root);
    deepEqual(rest, before);
    match(world.text("audit-log.md"), /2026-05-14 \| 升级规则 1 条\n$/);
  });

  it("numbers rules behind those that are there", async () => {
    await using world = await rotten();
    const rules =
      "# Rules\n\n## Rule list\n* [R007] Back up first\n  Last hit: 2026-01-02\n\nA word of mine.\n";
    world.write("rules.md", rules);
    const { audit: id } = await audit(world);

    const { body } = await apply(world, id, [{ item: "r1", apply: true }]);

    deepEqual(body.rules, ["R008"]);
    match(
      world.text("rules.md"),
      /2026-01-02\n\* \[R008\] .*\n {2}Source: .*\n {2}Last hit: 2026-05-14\n\nA word of mine\.\n/,
    );
  });

  it("changes nothing if it is cancelled, but remembers the day", async () => {
    await using world = await rotten();
    const before = textsBelow(world.root);
    const { audit: id } = await audit(world);

    const { body } = await apply(world, id, "cancel");

    equal(body.status, "cancelled");
    const { "audit-log.md": log, ...rest } = textsBelow(world.root);
    deepEqual(rest, before);
    equal(log, "# 审计日志\n\n2026-05-14 | 已取消，未做修改\n");
    equal((await begin(world)).body.reminder, undefined);
  });

  it("records an audit that found nothing", async () => {
    await using world = await writingWorld();
    const { audit: id } = await audit(world);

    equal((await apply(world, id, "all")).status, 200);

    match(
      world.text("audit-log.md"),
      /2026-05-14 \| (?:无需修改，记录审计时间|Nothing to change)\n$/,
    );
  });

  it("refuses if any file has changed, gone or come since the report", async () => {
    const changes: readonly [name: string, change: (world: WritingWorld) => void][] = [
      ["an edit", (world) => world.write("profile.md", `${PROFILE}x\n`)],
      ["an edit of what it would not touch", (world) => world.write("projects/b.md", "# b\n")],
      ["a new note", (world) => world.write("projects/c.md", "# c\n")],
      ["a note that has gone", (world) => world.remove("projects/b.md")],
    ];
    for (const [name, change] of changes) {
      await using world = await rotten();
      const { audit: id } = await audit(world);
      change(world);
      const before = textsBelow(world.root);

      const { status, body } = await apply(world, id, "all");

      equal(status, 412, name);
      equal(body.code, "edit-conflict");
      match(body.detail, /changed since this report.*Audit again$/);
      deepEqual(textsBelow(world.root), before);
    }
  });

  it("decides once on a report, and knows none that was never made", async () => {
    await using world = await rotten();
    const { audit: id } = await audit(world);
    const both = await Promise.all([apply(world, id, "all"), apply(world, id, "all")]);

    deepEqual(both.map(({ status }) => status).sort(), [200, 412]);
    equal((await apply(world, id, "cancel")).status, 412);
    equal((await apply(world, "none", "all")).status, 404);
  });

  it("says what is wrong with a decision, and does nothing", async () => {
    await using world = await rotten();
    const before = textsBelow(world.root);
    const { audit: id } = await audit(world);
    const secret = `AKIA${"Q7RTX2ZPLM4WKN3H"}`;
    const cases: readonly [decisions: unknown, status: number, words: RegExp][] = [
      ["some", 400, /"all", "cancel", or a list/],
      [[{ item: "c9", apply: true }], 400, /names what is not in the report: c9; there are c1/],
      [[{ item: "c1", apply: true }, { item: "c1", apply: false }], 400, /names an item twice: c1/],
      [[{ item: "c1", apply: true, rule: "x" }], 400, /rule is for candidates of rules only/],
      [[{ item: "r1", apply: true, rule: "  " }], 400, /is empty/],
      [[{ item: "r1", apply: true, rule: "x".repeat(501) }], 400, /501 characters of 500/],
      [[{ item: "r1", apply: true, rule: secret }], 422, /looks like a/],
    ];
    for (const [decisions, wanted, words] of cases) {
      const { status, body } = await apply(world, id, decisions);
      equal(status, wanted, JSON.stringify(body));
      match(body.detail, words);
    }
    deepEqual(textsBelow(world.root), before);
    equal((await apply(world, id, "all")).status, 200);
  });

  it("replaces nothing in the archive", async () => {
    await using world = await rotten();
    world.write("projects/archive/A.md", "# an older one\n");
    const { audit: id, ageing } = await audit(world);

    const { body } = await apply(world, id, [{ item: ageing[0].item, apply: true }]);

    deepEqual(body.archived, ["projects/archive/a-2.md"], JSON.stringify(body));
    equal(world.text("projects/archive/A.md"), "# an older one\n");
  });

  it("lets old lines vanish where that is wanted", async () => {
    await using world = await writingWorld({ "session-log.md": sessionLog(12) }, {
      journalLogArchive: false,
    });
    const { audit: id } = await audit(world);

    const { body } = await apply(world, id, "all");

    equal(body.movedLogLines, 2);
    ok(!("session-log.archive.md" in textsBelow(world.root)));
    ok(body.backup !== undefined);
  });

  it("keeps the order of a record that a person has turned round", async () => {
    const log = "# 审计日志\n\n2025-03-08 | 无需修改\n2025-03-15 | 清理\n\n我的备注\n";
    await using world = await writingWorld({ "audit-log.md": log });
    const { audit: id } = await audit(world);
    await apply(world, id, "all");

    match(world.text("audit-log.md"), /2025-03-15 \| 清理\n2026-05-14 \| .*\n\n我的备注\n$/);
  });
});

describe("what an audit may not do unseen", () => {
  const many = Object.fromEntries(
    Array.from({ length: 200 }, (_, at) => [
      `projects/old-${at}.md`,
      projectNote(`old-${at}`, { status: "已完成<!-- 最后命中：2026-02-10 -->" }),
    ]),
  );

  it("does not take all for an answer to a report that was cut, nor what nobody saw", async () => {
    await using world = await serveAsking(many);
    const task = await world.grant("read");
    await world.grant("write", { task });
    const ask = async (path: string, body: object, as = task) => {
      const response = await world.request(path, json("POST", body, { "x-commonplace-task": as }));
      return { status: response.status, body: await response.json() };
    };
    const { body: report } = await ask("/api/audits", {});
    const place = `/api/audits/${report.audit}/apply`;
    ok(!report.text.includes("[a200]"));

    const all = await ask(place, { decisions: "all" });
    const unseen = await ask(place, { decisions: [{ item: "a200", apply: true }] });
    const other = await ask(place, { decisions: "cancel" }, await world.grant("write"));
    const seen = await ask(place, { decisions: [{ item: "a1", apply: true }] });

    deepEqual([all.status, unseen.status, other.status, seen.status], [400, 400, 404, 200]);
    match(all.body.detail, /no room to show all of the report/);
    equal(seen.body.archived.length, 1);
  });

  it("makes no rule of a pitfall that holds a secret, and asks for words instead", async () => {
    const key = `AKIA${"Q7RTX2ZPLM4WKN3H"}`;
    await using world = await writingWorld({
      "projects/a.md": projectNote("a", {
        pitfalls: MIGRATIONS.map((text) => `${text}，用的是 ${key}`),
      }),
    }, { embedding: "static" });
    const { audit: id, rules, text } = await audit(world);
    equal(rules[0].rule, "");
    match(text, /请给出一句规则/);

    const wordless = await apply(world, id, [{ item: "r1", apply: true }]);
    const { body } = await apply(world, id, "all");

    equal(wordless.status, 400);
    deepEqual(body.rules, []);
  });
});
