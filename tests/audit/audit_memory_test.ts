import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { audit, MIGRATIONS, projectNote, sessionLog } from "@/tests/_support/journal_world.ts";
import { textsBelow } from "@/tests/_support/temp_vault.ts";
import { writingWorld } from "@/tests/_support/writing.ts";

/** The 14th of May 2026. */
const ROTTEN = {
  "profile.md": [
    "# 个人偏好与工作方式",
    "",
    "## 写作风格",
    "- 写作风格：口语化、多用短句<!-- 最后命中：2025-11-02 -->",
    "- 写作风格：书面化、多用长句<!-- 最后命中：2026-03-02 -->",
    "",
    "## 开发习惯",
    "- 先写测试<!-- 最后命中：2026-05-02 -->",
    "",
    "---",
    "最后更新：2026-03-02",
    "",
  ].join("\n"),
  "rules.md": "# 固化规则\n\n## 规则列表\n- [R001] 先备份再删\n  最后命中：2026-01-02\n",
  "projects/WorkBuddy系列.md": projectNote("WorkBuddy系列", {
    status: "已发布<!-- 最后命中：2026-03-10 -->",
    pitfalls: MIGRATIONS.slice(0, 1),
  }),
  "projects/建筑设计工具.md": projectNote("建筑设计工具", {
    status: "接口联调<!-- 最后命中：2026-05-11 -->",
    pitfalls: [...MIGRATIONS.slice(1, 2), "2026-02-04：图片太大上传失败，压缩后解决"],
  }),
  "projects/archive/old.md": projectNote("old", { pitfalls: MIGRATIONS.slice(2) }),
  "projects/prose.md": "Just a few words.\n",
  "session-log.md": sessionLog(12),
};

describe("POST /api/audits", () => {
  it("reports all that has rotted, in the parts of its design, and changes nothing", async () => {
    await using world = await writingWorld(ROTTEN, { embedding: "static" });
    const before = textsBelow(world.root);

    const report = await audit(world);

    deepEqual(textsBelow(world.root), before);
    equal(report.day, "2026-05-14");
    deepEqual(
      report.conflicts.map(({ item, section, old, new: fresh }: never) => (
        { item, section, old, fresh }
      )).map(({ item, section, old, fresh }: Record<string, { text: string }>) => [
        item,
        section,
        old?.text,
        fresh?.text,
      ]),
      [["c1", "写作风格", "写作风格：口语化、多用短句", "写作风格：书面化、多用长句"]],
    );
    deepEqual(
      report.rules.map(({ item, pitfalls }: { item: string; pitfalls: { path: string }[] }) => [
        item,
        ...pitfalls.map(({ path }) => path),
      ]),
      [["r1", "projects/WorkBuddy系列.md", "projects/建筑设计工具.md", "projects/archive/old.md"]],
    );
    deepEqual(report.ageing, [{
      item: "a1",
      path: "projects/WorkBuddy系列.md",
      status: "已发布",
      lastHit: "2026-03-10",
      days: 65,
      reason: "done",
    }]);
    deepEqual(report.active, [{ path: "projects/建筑设计工具.md", days: 3 }]);
    deepEqual(report.log, { item: "log", lines: 12, most: 10 });
    deepEqual(
      report.advice.map(({ path, id, days }: Record<string, unknown>) => [path, id, days]),
      [["profile.md", report.conflicts[0].old.id, 193], ["rules.md", "R001", 132]],
    );
    deepEqual(report.notUnderstood.map(({ path }: { path: string }) => path), [
      "projects/prose.md",
    ]);
    match(
      report.text,
      new RegExp(
        [
          "^📋 记忆审计报告 2026-05-14",
          "",
          "── profile.md ─+",
          "⚠️ 发现冲突条目（建议保留新的，删除旧的）：",
          "  \\[旧\\] 写作风格：口语化、多用短句（最后命中 2025-11-02）",
          "  \\[新\\] 写作风格：书面化、多用长句（最后命中 2026-03-02）",
          "  → 建议删除旧条目 \\[c1\\]",
          "[^]*",
          "── rules.md 候选（重复踩坑，建议升级为规则） ──",
          "🔁 发现 1 组重复模式（达到升级阈值）：",
          "  问题：.*迁移.*",
          "  出现记录（3 次）：",
          "    - projects/WorkBuddy系列.md，2026-01-10：.*",
          "    - projects/建筑设计工具.md，2026-02-03：.*",
          "    - projects/archive/old.md，2026-03-15：.*",
          "  → 建议写入 rules.md：「.*」 \\[r1\\]",
          "",
          "── projects/ 老化检查 ─+",
          "⚠️ 疑似已完结/过期项目：",
          "  - WorkBuddy系列.md（最后命中：2026-03-10，距今 65 天，状态：已发布）",
          "  → 建议归档到 projects/archive/ \\[a1\\]",
          "✅ 活跃项目：建筑设计工具.md（最后命中 3 天前，跳过）",
          "",
          "── session-log.md ─+",
          "⚠️ 当前 12 条，超过 10 条上限",
          "[^]*请回复：\n  全部执行 —— .*\n  逐条确认 —— .*\n  取消 +—— 本次不做任何修改$",
        ].join("\n"),
      ),
    );
  });

  it("finds nothing in an empty vault, and says so in each part", async () => {
    await using world = await writingWorld();

    const { text, conflicts, rules, ageing, log } = await audit(world);

    deepEqual([conflicts, rules, ageing, log], [[], [], [], { lines: 0, most: 10 }]);
    equal(text.match(/✅/g)?.length, 4);
    match(text, /没有需要处理的条目。.*$/);
  });

  it("speaks the language of the journal", async () => {
    const profile = "# Preferences\n\n## Writing style\n- Short sentences\n";
    const log = sessionLog(11).replace("任务日志", "Session log");
    await using world = await writingWorld({ "profile.md": profile, "session-log.md": log });

    match((await audit(world)).text, /^📋 Memory audit 2026-05-14\n[^]*Please answer:\n {2}all /);
  });

  it("counts what stands twice under one day in one project once", async () => {
    const twice = [MIGRATIONS[0] ?? "", MIGRATIONS[0] ?? "", MIGRATIONS[1] ?? ""];
    await using world = await writingWorld({
      "projects/a.md": projectNote("a", { pitfalls: twice }),
    }, { embedding: "static" });

    deepEqual((await audit(world)).rules, []);
  });

  it("proposes no rule that came from these pitfalls, also once a project is archived", async () => {
    const source =
      "来源：projects/a.md、projects/b.md 踩坑记录，2026-01-10 / 2026-02-03 三次同类问题";
    await using world = await writingWorld({
      "rules.md": `# 固化规则\n\n## 规则列表\n- [R001] 先跑迁移\n  ${source}\n`,
      "projects/archive/a.md": projectNote("a", { pitfalls: MIGRATIONS.slice(0, 1) }),
      "projects/b.md": projectNote("b", { pitfalls: MIGRATIONS.slice(1) }),
    }, { embedding: "static" });

    deepEqual((await audit(world)).rules, []);
  });

  it("says which current status is too long, and which files it could not check", async () => {
    await using world = await writingWorld({
      "profile.md": "# 偏好\n\n## 写作风格\n- a\n\n## 写作风格\n- b\n\n```\nnever closed\n",
      "projects/long.md": projectNote("long", { status: "很长的状态".repeat(50) }),
      "rules.md": new Uint8Array([0xff, 0xfe, 0x00, 0x41]),
    });

    const { notUnderstood, notices } = await audit(world);

    deepEqual(notUnderstood.map(({ path }: { path: string }) => path).sort(), [
      "profile.md",
      "rules.md",
    ]);
    equal(notices.length, 1);
    ok(notices[0].startsWith("projects/long.md"));
  });
});
