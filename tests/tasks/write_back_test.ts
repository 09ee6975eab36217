import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { WriteBackInput } from "@/lib/contracts_journal.ts";
import { systemClock } from "@/lib/seams.ts";
import { repoIdOf } from "@/lib/projects/repo_identity.ts";
import { writeBack } from "@/lib/tasks/write_back.ts";
import type { Together, VaultWriter } from "@/lib/vault/vault_writer.ts";
import { itWithGit } from "../_support/git_repo.ts";
import { begin, write } from "../_support/journal_world.ts";
import { listAll, textsBelow } from "../_support/temp_vault.ts";
import { NOW_MS, type WritingWorld, writingWorld } from "../_support/writing.ts";

const TRIGGER = "更新记忆";
const PROFILE = `# 个人偏好与工作方式

## 写作风格
- 先说结论<!-- 最后命中：2026-03-01 -->
- 不用感叹号

## 开发习惯
- 先写测试<!-- 最后命中：2026-03-01 -->

---
最后更新：2026-03-01
`;
const RULES = `# 固化规则

## 规则列表

- [R001] 发布前先备份
  来源：projects/商城.md 踩坑记录
  最后命中：2026-02-01

---
最后更新：2026-02-01
`;
const SHOP = `# 商城

## 当前状态
支付接好了<!-- 最后命中：2026-03-02 -->

**最近决策（保留最新 3 条）：**
- 2026-03-02：退款走人工审核
  - 量小
- 2026-02-20：支付只接一家
- 2026-02-11：库存用行锁
  - 原因：简单
    更多

**下次起点：**
- 做退款页面

## 踩坑记录
- 2026-03-01：回调重复到达

## 历史归档

---
最后更新：2026-03-02
`;
const FILES = { "profile.md": PROFILE, "rules.md": RULES, "projects/商城.md": SHOP };

/** Returns the id of the entry of the profile that says this. */
async function idOf(world: WritingWorld, said: string): Promise<string> {
  const { body } = await begin(world);
  const [, id = ""] = new RegExp(`${said} \\^(p[0-9a-f]+)`).exec(body.text) ?? [];
  return id;
}

/** A world on whose clock days can go by. */
async function worldOfDays(
  files: Record<string, string> = {},
  config: Parameters<typeof writingWorld>[1] = {},
): Promise<WritingWorld & { readonly days: { passed: number } }> {
  const days = { passed: 0 };
  const clock = { ...systemClock, nowMs: () => NOW_MS + days.passed * 24 * 60 * 60_000 };
  return { ...await writingWorld(files, config, { clock }), days };
}

describe("POST /api/journal/write-back", () => {
  it("writes into each file what belongs there, and tells of it in one sentence", async () => {
    await using world = await writingWorld(FILES);

    const { status, body } = await write(world, {
      trigger: "好的，更新记忆",
      project: "商城",
      status: "退款做完了",
      decisions: ["退款用队列，因为会失败"],
      pitfalls: ["测试依赖时区，改用 UTC"],
      next: ["压测"],
      profile: [{ text: "函数不超过四十行", section: "development" }],
      type: "项目开发",
      summary: "做完退款",
    });

    equal(status, 200);
    deepEqual(body, {
      status: "written",
      message: "记忆已更新：projects/商城.md（状态、1 条决策、1 条踩坑、下次起点），" +
        "profile.md 新增 1 条，任务日志一条",
      written: ["profile.md", "projects/商城.md", "session-log.md"],
    });
    equal(
      world.text("projects/商城.md"),
      `# 商城

## 当前状态
退款做完了<!-- 最后命中：2026-05-14 -->

**最近决策（保留最新 3 条）：**
- 2026-05-14：退款用队列，因为会失败
- 2026-03-02：退款走人工审核
  - 量小
- 2026-02-20：支付只接一家

**下次起点：**
- 压测

## 踩坑记录
- 2026-03-01：回调重复到达
- 2026-05-14：测试依赖时区，改用 UTC

## 历史归档
- 2026-02-11：库存用行锁
  - 原因：简单
    更多

---
最后更新：2026-05-14
`,
    );
    equal(
      world.text("profile.md"),
      PROFILE.replace(
        "- 先写测试<!-- 最后命中：2026-03-01 -->\n",
        "- 先写测试<!-- 最后命中：2026-03-01 -->\n- 函数不超过四十行<!-- 最后命中：2026-05-14 -->\n",
      ).replace("最后更新：2026-03-01", "最后更新：2026-05-14"),
    );
    equal(world.text("session-log.md"), "# 任务日志\n\n2026-05-14 | 项目开发 | 做完退款\n");
    equal(world.text("rules.md"), RULES);
  });

  it("writes nothing without the person's words, with others, or with their opposite", async () => {
    await using world = await writingWorld(FILES);
    const before = textsBelow(world.root);

    for (
      const trigger of [
        undefined,
        "",
        "谢谢",
        "先不用更新记忆",
        "don't update memory",
        "你记住了吗？",
      ]
    ) {
      const { status, body } = await write(world, { trigger, summary: "做完退款" });

      deepEqual([status, body.problems?.[0]?.field], [400, "trigger"], String(trigger));
    }
    const nothing = await write(world, {});

    equal(nothing.status, 400);
    deepEqual(textsBelow(world.root), before);
  });

  it("goes by the triggers of the settings", async () => {
    await using world = await writingWorld(FILES, { writeTriggers: ["存盘"] });

    const usual = await write(world, { trigger: TRIGGER, summary: "一" });
    const own = await write(world, { trigger: "好，存盘", summary: "一" });

    deepEqual([usual.status, own.status], [400, 200]);
    match(usual.body.detail, /存盘/);
  });

  it("keeps hits waiting until something is written, and writes them then", async () => {
    await using world = await worldOfDays(FILES);
    const id = await idOf(world, "先说结论");
    const before = textsBelow(world.root);

    const noted = await write(world, { used: [id, "^R001"] });
    await begin(world, { projects: ["商城"] });
    const unwritten = textsBelow(world.root);
    world.days.passed = 2;
    const { body } = await write(world, { trigger: TRIGGER, summary: "看看" });

    deepEqual([noted.status, noted.body.status, noted.body.written], [200, "noted", []]);
    deepEqual(unwritten, before);
    deepEqual(body.written, ["profile.md", "rules.md", "projects/商城.md", "session-log.md"]);
    equal(
      world.text("profile.md"),
      PROFILE.replace("先说结论<!-- 最后命中：2026-03-01", "先说结论<!-- 最后命中：2026-05-14"),
    );
    equal(
      world.text("rules.md"),
      RULES.replace("  最后命中：2026-02-01", "  最后命中：2026-05-14"),
    );
    equal(
      world.text("projects/商城.md"),
      SHOP.replace("最后命中：2026-03-02", "最后命中：2026-05-14"),
    );
  });

  it("marks what is used with this write-back, on its day, once", async () => {
    await using world = await writingWorld(FILES);
    const id = await idOf(world, "不用感叹号");

    await write(world, { trigger: TRIGGER, used: [id, `^${id}`, " R001 "] });
    const again = await write(world, { trigger: TRIGGER, used: [id] });

    equal(
      world.text("profile.md"),
      PROFILE.replace("不用感叹号", "不用感叹号<!-- 最后命中：2026-05-14 -->"),
    );
    match(world.text("rules.md"), /最后命中：2026-05-14/);
    deepEqual([again.body.status, again.body.written], ["unchanged", []]);
  });

  it("is not harmed by ids that nobody has, now or later", async () => {
    await using world = await writingWorld(FILES);
    const before = textsBelow(world.root);
    const used = [
      "p999999",
      "R999",
      "x",
      "projects/../../etc/passwd",
      "projects/",
      "projects/a/b.md",
      "projects/none.md",
      "projects/..md",
      "__proto__",
      "^",
      "profile.md",
      "rules.md",
    ];

    const noted = await write(world, { used });
    const hits = await write(world, { trigger: TRIGGER, used });
    const after = textsBelow(world.root);
    const written = await write(world, { trigger: TRIGGER, summary: "一" });

    deepEqual([noted.status, hits.status, hits.body.status], [200, 200, "unchanged"]);
    deepEqual(after, before);
    deepEqual([written.status, written.body.written], [200, ["session-log.md"]]);
  });

  it("refuses what is empty, too long, a whole output, a secret or a rule, and writes nothing", async () => {
    await using world = await writingWorld(FILES);
    const before = textsBelow(world.root);
    const cases: readonly (readonly [input: object, field: string])[] = [
      [{ summary: "" }, "summary"],
      [{ summary: "……" }, "summary"],
      [{ project: "商城", decisions: ["好的", "无"] }, "decisions[1]"],
      [{ project: "商城", status: "字".repeat(201) }, "status"],
      [{ project: "商城", pitfalls: ["长".repeat(501)] }, "pitfalls[0]"],
      [{ project: "商城", next: ["a\nb\nc\nd\ne"] }, "next[0]"],
      [{ project: "商城", decisions: ["```js\nx\n```"] }, "decisions[0]"],
      [{ project: "商城", overview: "# 标题" }, "overview"],
      [{ profile: [{ text: "[R002] 新规则" }] }, "profile[0]"],
      [{ rules: ["新规则"] }, "rules"],
      [{ type: "项目开发" }, "summary"],
      [{ profile: [{ text: "好", section: "没有这一节" }] }, "section"],
      [{ profile: [{ text: "好", replaces: "p000000" }] }, "replaces"],
      [
        { project: "商城", status: "一", decisions: ["二".repeat(120)], next: ["三".repeat(90)] },
        "status",
      ],
    ];
    for (const [input, field] of cases) {
      const { status, body } = await write(world, {
        trigger: TRIGGER,
        summary: "顺便",
        ...input,
        ...("type" in input ? { summary: undefined } : {}),
      });

      deepEqual([status, body.problems?.[0]?.field], [400, field], JSON.stringify(body));
      match(body.detail, /Nothing was written/);
    }
    const secret = await write(world, {
      trigger: TRIGGER,
      summary: "密钥是 AKIAIOSFODNN7EXAMPLQ 和 sk-ant-api03-0123456789abcdefghijABCDEFGHIJ",
    });

    equal(secret.body.code, "secret-found");
    deepEqual(textsBelow(world.root), before);
  });

  it("replaces one entry by its id, keeps the others, and knows what is said already", async () => {
    await using world = await writingWorld(FILES);
    const id = await idOf(world, "先说结论");

    const replaced = await write(world, {
      trigger: TRIGGER,
      profile: [{ text: "先讲故事", replaces: `^${id}` }, { text: "不用感叹号。" }],
    });
    const gone = await write(world, {
      trigger: TRIGGER,
      profile: [{ text: "再换一次", replaces: id }],
    });

    match(replaced.body.message, /profile\.md 更新 1 条/);
    equal(
      world.text("profile.md"),
      PROFILE.replace("先说结论<!-- 最后命中：2026-03-01", "先讲故事<!-- 最后命中：2026-05-14")
        .replace("不用感叹号", "不用感叹号<!-- 最后命中：2026-05-14 -->")
        .replace("最后更新：2026-03-01", "最后更新：2026-05-14"),
    );
    deepEqual([gone.status, gone.body.problems[0].field], [400, "replaces"]);
  });

  it("keeps the newest three decisions, whatever order they stand in", async () => {
    await using world = await worldOfDays();
    const decide = (text: string) =>
      write(world, { trigger: TRIGGER, project: "新站", decisions: [text] });

    for (let day = 0; day < 6; day++) {
      world.days.passed = day;
      await decide(`决策${day}`);
    }

    const text = world.text("projects/新站.md");
    const [status = "", history = ""] = text.split("## 历史归档");
    deepEqual(status.match(/决策\d/g), ["决策5", "决策4", "决策3"]);
    deepEqual(history.match(/决策\d/g), ["决策0", "决策1", "决策2"]);
  });

  it("makes a new note of the template, in the language of the person", async () => {
    await using world = await writingWorld();

    const chinese = await write(world, { trigger: TRIGGER, project: "新站", status: "开工" });
    const english = await write(world, {
      trigger: "update memory",
      project: "Harbor",
      overview: "A file drop",
      status: "Begun",
    });

    match(
      world.text("projects/新站.md"),
      /^# 新站\n\n## 项目概述\n[^]*## 当前状态\n开工<!-- 最后命中：2026-05-14 -->\n/,
    );
    match(
      world.text("projects/Harbor.md"),
      /^# Harbor\n\n## Project overview\nA file drop\n[^]*Begun <!-- last hit: 2026-05-14 -->\n/,
    );
    match(chinese.body.message, /^记忆已更新：/);
    match(english.body.message, /^Memory updated: projects\/Harbor\.md \(overview, status\)$/);
  });

  it("keeps ten lines in the log, and the others in its archive", async () => {
    await using world = await worldOfDays();
    for (let i = 0; i < 13; i++) {
      world.days.passed = i;
      await write(world, { trigger: TRIGGER, type: "开发", summary: `第${i}天` });
    }

    const days = (path: string) => world.text(path).match(/第\d+天/g);
    deepEqual(days("session-log.md"), Array.from({ length: 10 }, (_, i) => `第${i + 3}天`));
    deepEqual(days("session-log.archive.md"), ["第0天", "第1天", "第2天"]);
  });

  it("lets what is too old for the log go where no archive is wanted", async () => {
    await using world = await worldOfDays({}, { journalLogArchive: false });
    for (let i = 0; i < 12; i++) {
      world.days.passed = i;
      await write(world, { trigger: TRIGGER, summary: `第${i}天` });
    }

    equal(world.text("session-log.md").match(/第\d+天/g)?.length, 10);
    ok(!world.list("").includes("session-log.archive.md"));
  });

  it("says the same twice on one day, as after a lost answer, and writes it once", async () => {
    await using world = await worldOfDays(FILES);
    const input = {
      trigger: TRIGGER,
      project: "商城",
      status: "退款做完了",
      decisions: ["退款用队列", "分两步退"],
      pitfalls: ["队列会重复"],
      next: ["压测"],
      profile: [{ text: "喜欢喝茶" }],
      type: "开发",
      summary: "做完退款",
    };

    await write(world, input);
    const once = textsBelow(world.root);
    const again = await write(world, input);
    const twice = textsBelow(world.root);

    deepEqual(twice, once);
    deepEqual([again.body.status, again.body.written], ["unchanged", []]);
    equal(again.body.message, "记忆没有变化：要写的内容都已经在里面了");
  });

  it("loses nothing of two that come at once", async () => {
    await using world = await writingWorld(FILES);

    const answers = await Promise.all(Array.from({ length: 6 }, (_, i) =>
      write(world, {
        trigger: TRIGGER,
        project: i % 2 === 0 ? "商城" : "灯塔",
        pitfalls: [`坑${i}`],
        profile: [{ text: `偏好${i}` }],
        summary: `任务${i}`,
      })));

    deepEqual(answers.map(({ status }) => status), answers.map(() => 200));
    const all = Object.values(textsBelow(world.root)).join("\n");
    for (let i = 0; i < 6; i++) {
      for (const word of [`坑${i}`, `偏好${i}`, `任务${i}`]) equal(all.split(word).length, 2, word);
    }
  });

  it("takes in what a person saves between reading and writing", async () => {
    await using world = await writingWorld(FILES);
    const { writer } = world;
    const saves = { left: 2 };
    const late = {
      inTurn: writer.inTurn.bind(writer),
      writeTogether: (together: Together) => {
        const said = `先说结论${"！".repeat(saves.left)}`;
        if (saves.left-- > 0) world.write("profile.md", PROFILE.replace("先说结论", said));
        return writer.writeTogether(together);
      },
    };

    const answer = await writeBack(
      { ...world, writer: late as unknown as VaultWriter },
      { kind: "owner", loopback: true },
      WriteBackInput.parse({ trigger: TRIGGER, profile: [{ text: "喜欢喝茶" }], summary: "一" }),
    );

    deepEqual([answer.status, answer.conflictCopies], ["written", undefined]);
    match(world.text("profile.md"), /- 先说结论！<!--/);
    match(world.text("profile.md"), /喜欢喝茶/);
    equal(world.text("session-log.md").match(/ \| 一$/gm)?.length, 1);
  });

  it("keeps what a person saves in the very moment of the write in a copy, and names it", async () => {
    const ids = { left: 0, world: undefined as WritingWorld | undefined };
    await using world = await writingWorld(FILES, {}, {
      newId: () => {
        if (ids.left > 0 && --ids.left === 0) {
          ids.world?.write("profile.md", PROFILE.replace("先说结论", "先讲故事"));
        }
        return crypto.randomUUID();
      },
    });
    ids.world = world;
    ids.left = 2;

    const { body } = await write(world, { trigger: TRIGGER, profile: [{ text: "喜欢喝茶" }] });

    equal(body.conflictCopies.length, 1);
    const both = world.text("profile.md") + world.text(body.conflictCopies[0]);
    match(both, /先讲故事/);
    match(both, /喜欢喝茶/);
  });

  it("leaves a file alone that it does not understand, writes the others, and says so", async () => {
    const broken = SHOP.replace("## 踩坑记录", "## 当前状态");
    await using world = await writingWorld({ ...FILES, "projects/商城.md": broken });

    const { status, body } = await write(world, {
      trigger: TRIGGER,
      project: "商城",
      status: "新",
      summary: "一",
    });
    const alone = await write(world, { trigger: TRIGGER, project: "商城", status: "新" });

    deepEqual([status, body.written, body.notWritten[0].path], [
      200,
      ["session-log.md"],
      "projects/商城.md",
    ]);
    match(body.message, /projects\/商城\.md 未写入/);
    equal(world.text("projects/商城.md"), broken);
    deepEqual([alone.status, alone.body.code], [422, "not-writable"]);
  });

  it("moves decisions to history until the status is short enough, and keeps its own words short", async () => {
    await using world = await writingWorld(FILES);

    await write(world, { trigger: TRIGGER, project: "商城", status: "字".repeat(190) });

    const [status = "", history = ""] = world.text("projects/商城.md").split("## 踩坑记录");
    equal(status.match(/^- \d{4}/gm)?.length, 1);
    match(history, /支付只接一家[^]*库存用行锁|库存用行锁[^]*支付只接一家/);
  });

  it("stamps the status where anything in it is written", async () => {
    await using world = await writingWorld(FILES);

    await write(world, { trigger: TRIGGER, project: "商城", decisions: ["退款用队列"] });

    match(world.text("projects/商城.md"), /支付接好了<!-- 最后命中：2026-05-14 -->/);
  });

  it("finds the project by other case, title and alias, and asks which of several", async () => {
    await using world = await writingWorld({
      "projects/work-buddy.md": "# 智能助手\n\n## 当前状态\n开始\n",
      "projects/site one.md": "# A\n\n## 当前状态\nA\n",
      "projects/site-one.md": "# B\n\n## 当前状态\nB\n",
      "wb/summary.md":
        "---\nproject: work-buddy\naliases: [小助]\nrepo_id: example.org/acme/wb\n---\n# W\n",
    });

    for (const [i, project] of ["Work-Buddy", "智能助手", "小助"].entries()) {
      const { body } = await write(world, { trigger: TRIGGER, project, pitfalls: [`坑${i}`] });

      deepEqual(body.written, ["projects/work-buddy.md"], project);
    }
    const several = await write(world, { trigger: TRIGGER, project: "siteone", pitfalls: ["坑"] });

    deepEqual([several.status, several.body.problems[0].field], [400, "project"]);
    match(several.body.detail, /site one\.md, projects\/site-one\.md/);
  });

  it("makes a new note beside an archived one, and says so", async () => {
    await using world = await writingWorld({
      "projects/archive/旧站.md": "# 旧站\n\n## 当前状态\n完\n",
    });

    const { body } = await write(world, { trigger: TRIGGER, project: "旧站", status: "重开" });

    deepEqual(body.written, ["projects/旧站.md"]);
    match(body.notices[0], /older note.*archive\/旧站\.md/);
    equal(world.text("projects/archive/旧站.md"), "# 旧站\n\n## 当前状态\n完\n");
  });

  it("gives no file a name that leads elsewhere", async () => {
    await using world = await writingWorld();

    for (const project of ["../../etc/x", "a/b", "x\u0000y", "con?", "..", "/"]) {
      await write(world, { trigger: TRIGGER, project, status: "一" });
    }

    const outside = listAll(world.root).filter((path) =>
      path.endsWith(".md") && !/^projects\/[^/]+\.md$/.test(path)
    );
    deepEqual(outside, []);
  });

  itWithGit("finds the project in which the caller works", async () => {
    await using world = await writingWorld();
    await world.repos.init("site");
    await world.repos.git("site", "remote", "add", "origin", "https://example.org/acme/site.git");
    const cwd = world.repos.pathOf("site");

    const byName = await write(world, { trigger: TRIGGER, cwd, status: "一" });
    world.write(
      "portal/summary.md",
      `---\nproject: 门户\nrepo_id: ${repoIdOf("https://example.org/acme/site.git")}\n---\n# W\n`,
    );
    const byFolder = await write(world, { trigger: TRIGGER, cwd, status: "二" });
    const nowhere = await write(world, { trigger: TRIGGER, cwd: world.repos.root, status: "三" });
    const untold = await write(world, { trigger: TRIGGER, status: "三" });

    deepEqual(byName.body.written, ["projects/site.md"]);
    deepEqual(byFolder.body.written, ["projects/门户.md"]);
    deepEqual([nowhere.status, nowhere.body.problems?.[0]?.field], [400, "project"]);
    deepEqual([untold.status, untold.body.problems?.[0]?.field], [400, "project"]);
  });
});
