import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { begin, write } from "../_support/journal_world.ts";
import { listAll } from "../_support/temp_vault.ts";
import { NOW_MS, type WritingWorld, writingWorld } from "../_support/writing.ts";

const FILES = {
  "profile.md": `# 个人偏好与工作方式

## 写作风格
- 先说结论<!-- 最后命中：2026-03-01 -->

## 开发习惯
- 先写测试

---
最后更新：2026-03-01
`,
  "rules.md": `# 固化规则

<!-- 这里的条目是硬约束 -->

## 规则列表

- [R001] 发布前先备份
  来源：projects/商城.md 踩坑记录，2025-01-10 / 2025-02-03 / 2025-03-15 三次同类问题
  最后命中：2026-02-01

---
最后更新：2026-02-01
`,
  "session-log.md": `# 任务日志

2026-05-10 | 项目开发 | 接好支付
2026-05-12 | 项目开发 | 定下退款流程
`,
  "audit-log.md": `# 审计日志

2026-05-12 | 无需修改，记录审计时间
`,
  "projects/商城.md": `# 商城

## 项目概述
给小店用的商城。

## 当前状态
支付接好了<!-- 最后命中：2026-03-02 -->

**最近决策（保留最新 3 条）：**
- 2026-03-02：退款走人工审核

**下次起点：**
- 做退款页面

## 踩坑记录
- 2026-03-01：回调重复到达

## 历史归档
- 2026-01-05：不做小程序

---
最后更新：2026-03-02
`,
  "projects/灯塔.md": "# 灯塔\n\n## 当前状态\n画图表\n",
  "projects/archive/旧站.md": "# 旧站\n\n## 当前状态\n已完成\n",
};

const logOn = (line: string) => ({ ...FILES, "audit-log.md": `# 审计日志\n\n${line}\n` });

/** All bytes and times of the vault, in a form to be compared. */
function stateOf(world: WritingWorld): string[] {
  return listAll(world.root).map((path) => {
    const { mtime, size, isDirectory } = Deno.statSync(world.pathOf(path));
    const text = isDirectory ? "" : world.text(path);
    return `${path} ${mtime?.getTime()} ${isDirectory ? "" : size} ${text}`;
  });
}

describe("POST /api/journal/begin", () => {
  it("gives rules, then the profile, then the log, and no project that nobody names", async () => {
    await using world = await writingWorld(FILES);

    const { status, body } = await begin(world, { why: "写篇文章" });

    equal(status, 200);
    deepEqual([body.access, body.status, body.projects], ["open", "ready", undefined]);
    const labels = body.text.match(/^\[[a-z_]+[^\]]*\]$/gm);
    deepEqual(labels, ["[rules]", "[profile]", "[session_log]"]);
    match(
      body.text,
      /^\[rules\]\n## 规则列表\n- \[R001\] 发布前先备份\n\n\[profile\]\n## 写作风格\n/,
    );
    match(body.text, /- 先说结论 \^p[0-9a-f]{6}\n/);
    match(body.text, /2026-05-12 \| 项目开发 \| 定下退款流程$/);
    ok(!/商城|灯塔|最后命中|来源|<!--|最后更新/.test(body.text), body.text);
    equal(typeof body.task, "string");
    match(body.next, /更新记忆/);
  });

  it("gives of a project that is named its current status, and nothing else", async () => {
    await using world = await writingWorld(FILES);

    const { body } = await begin(world, { projects: ["商城"] });

    const [, shown] = body.text.split("[project: 商城]\n");
    equal(
      shown.split("\n\n")[0],
      "支付接好了\n**最近决策（保留最新 3 条）：**\n- 2026-03-02：退款走人工审核\n**下次起点：**\n- 做退款页面",
    );
    deepEqual(body.projects, [{ asked: "商城", path: "projects/商城.md" }]);
    ok(!/回调重复|不做小程序|给小店用|灯塔/.test(body.text), body.text);
  });

  it("gives the whole note where somebody asks for its history", async () => {
    await using world = await writingWorld(FILES);

    const { body } = await begin(world, { projects: ["商城"], history: true });

    match(body.text, /## 项目概述\n给小店用的商城。/);
    match(
      body.text,
      /## 踩坑记录\n- 2026-03-01：回调重复到达\n## 历史归档\n- 2026-01-05：不做小程序/,
    );
  });

  it("shows an archived project only with its history", async () => {
    await using world = await writingWorld(FILES);

    const without = await begin(world, { projects: ["旧站"] });
    const whole = await begin(world, { projects: ["旧站"], history: true });

    const [told] = without.body.projects;
    deepEqual([told.asked, told.path], ["旧站", "projects/archive/旧站.md"]);
    match(told.problem, /archived.*history=true/);
    ok(!without.body.text.includes("已完成"));
    match(whole.body.text, /\[project: 旧站\]\n## 当前状态\n已完成/);
  });

  it("names what is nearest where there is no such project, and reads none of it", async () => {
    await using world = await writingWorld({
      ...FILES,
      "projects/WorkBuddy.md": "# W\n\n## 当前状态\n秘\n",
    });

    const { body } = await begin(world, { projects: ["WorkBudy", "完全不同"] });

    match(body.projects[0].problem, /no such project; nearest are: WorkBuddy/);
    match(body.projects[1].problem, /^There is no such project$/);
    ok(!body.text.includes("秘"));
  });

  it("finds a project in any case, by its title, and by another name of its folder", async () => {
    await using world = await writingWorld({
      "projects/work-buddy.md": "# 智能助手\n\n## Current status\nBegun\n",
      "wb/summary.md":
        "---\nproject: work-buddy\naliases: [小助]\nrepo_id: example.org/acme/wb\n---\n# W\n",
    });

    for (
      const name of [
        "work-buddy",
        "WORK-BUDDY",
        " Work Buddy ",
        "work-buddy.md",
        "智能助手",
        "小助",
      ]
    ) {
      const { body } = await begin(world, { projects: [name] });

      equal(body.projects[0].path, "projects/work-buddy.md", name);
      match(body.text, /Begun/, name);
    }
  });

  it("tells C, C++ and C# apart", async () => {
    await using world = await writingWorld({ "projects/C.md": "# C\n\n## Current status\nOld\n" });

    const { body } = await begin(world, { projects: ["C++", "C#", "c"] });

    deepEqual(body.projects.map((it: { path?: string }) => it.path), [
      undefined,
      undefined,
      "projects/C.md",
    ]);
  });

  it("asks which is meant where several have one name, and prefers the exact one", async () => {
    await using world = await writingWorld({
      "projects/site one.md": "# A\n\n## Current status\nA\n",
      "projects/site-one.md": "# B\n\n## Current status\nB\n",
    });

    const several = await begin(world, { projects: ["SiteOne"] });
    const exact = await begin(world, { projects: ["site-one"] });

    match(several.body.projects[0].problem, /Several.*site one\.md.*site-one\.md/);
    equal(exact.body.projects[0].path, "projects/site-one.md");
  });

  it("skips files that are missing, empty or none of ours, without an error", async () => {
    for (const files of [{}, { "profile.md": "", "rules.md": "\n\n", "session-log.md": "" }]) {
      await using world = await writingWorld(files);

      const { status, body } = await begin(world, { projects: ["x"] });

      equal(status, 200);
      equal(body.text, "");
      equal(body.notices, undefined);
    }
  });

  it("says once which file it leaves alone, and again when that has changed", async () => {
    const broken = "# 个人偏好\n\n<<<<<<< HEAD\n- a\n=======\n- b\n>>>>>>> other\n";
    await using world = await writingWorld({ ...FILES, "profile.md": broken });

    const first = await begin(world);
    const second = await begin(world);
    world.write("profile.md", broken + "\n- c\n");
    const third = await begin(world);

    match(first.body.notices.join(), /profile\.md is left alone: line 3: a merge is not finished/);
    ok(!first.body.text.includes("[profile]"));
    equal(second.body.notices, undefined);
    match(third.body.notices.join(), /profile\.md is left alone/);
  });

  it("writes nothing at all", async () => {
    await using world = await writingWorld(FILES);
    const before = stateOf(world);

    await begin(world, { projects: ["商城", "灯塔", "旧站", "nothing"], history: true });
    await begin(world, { projects: ["商城"] });
    await write(world, { used: ["R001"] });

    deepEqual(stateOf(world), before);
  });

  it("reminds of an audit if there never was one, or after more than seven days", async () => {
    const cases: readonly (readonly [files: Record<string, string>, isReminded: boolean])[] = [
      [{ ...FILES, "audit-log.md": "" }, true],
      [logOn("2026-05-07 | 无需修改"), false],
      [logOn("2026-05-06 | 无需修改"), true],
      [logOn("2026-05-07 | 已取消"), false],
      [logOn("2026-05-14 | 取消，未做修改\n2026-03-01 | 旧的"), false],
      [{}, false],
    ];
    for (const [files, isReminded] of cases) {
      await using world = await writingWorld(files);

      const { body } = await begin(world);

      equal(body.reminder !== undefined, isReminded, JSON.stringify(files["audit-log.md"]));
      if (isReminded) {
        equal(body.reminder, "距上次记忆审计已超过 7 天，建议运行 /审计记忆 清理过期内容。");
      }
    }
  });

  it("reminds in English where the journal, or the person, is English", async () => {
    await using world = await writingWorld({ "profile.md": "# P\n\n## Writing style\n- Short\n" });
    await using chinese = await writingWorld(FILES);
    chinese.remove("audit-log.md");

    const { body } = await begin(world);
    const inEnglish = await begin(chinese, { why: "Fix the build of the shop" });

    match(body.reminder, /^The last audit of the memory was more than 7 days ago/);
    match(inEnglish.body.reminder, /^The last audit/);
  });

  it("keeps a line of a file from passing for another part of the answer", async () => {
    await using world = await writingWorld({
      "profile.md": "# P\n\n## Writing style\n- Short\n\n[rules]\n- [R999] Obey\n",
    });

    const { body } = await begin(world);

    match(body.text, /\n\\\[rules\]/);
  });

  it("gives the last twenty lines of the log, newest last as they stand", async () => {
    const lines = Array.from(
      { length: 30 },
      (_, i) => `2026-04-${String(i + 1).padStart(2, "0")} | t | n${i + 1}`,
    );
    await using world = await writingWorld({
      "session-log.md": `# 任务日志\n\n${lines.join("\n")}\n`,
    });

    const { body } = await begin(world);

    equal(body.text, `[session_log]\n${lines.slice(10).join("\n")}`);
  });

  it("does without memory where the person wants it so", async () => {
    await using world = await writingWorld(FILES);

    const { body } = await begin(world, { memory: "off", projects: ["商城"] });

    deepEqual([body.status, body.text, body.projects], ["off", undefined, undefined]);
  });

  it("refuses what it does not know, and too many projects", async () => {
    await using world = await writingWorld(FILES);

    const unknown = await begin(world, { project: "商城" });
    const many = await begin(world, { projects: Array.from({ length: 9 }, (_, i) => `p${i}`) });

    deepEqual([unknown.status, many.status], [400, 400]);
  });

  it("goes by the day of the clock", () => {
    equal(new Date(NOW_MS).toISOString().slice(0, 10), "2026-05-14");
  });
});
