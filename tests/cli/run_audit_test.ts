import {
  deepStrictEqual as deepEqual,
  match,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "@std/testing/bdd";
import { runAudit } from "@/lib/cli/run_audit.ts";
import { AuditReportShape } from "@/lib/contracts_journal.ts";
import { textsBelow } from "../_support/temp_vault.ts";
import { change, leaveRecord } from "../_support/together_world.ts";
import { type Answer, type FakeTerminal, fakeTerminal } from "./_fake_terminal.ts";
import { JOURNAL, journalWorld, TODAY } from "./_journal_world.ts";

type World = Awaited<ReturnType<typeof journalWorld>>;

async function apply(world: World, answers: readonly Answer[]): Promise<FakeTerminal> {
  const terminal = fakeTerminal(answers);
  await runAudit(world, terminal, { apply: true, json: false });
  return terminal;
}

async function isThere(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}

describe("runAudit()", () => {
  it("runAudit() shows the report and writes nothing", async () => {
    await using world = await journalWorld({
      ...JOURNAL,
      "memories/MEMORY.md": "# Memories\n\n- [Gone](gone.md) - out of date\n",
      "memories/a.md": "---\nid: a\nname: A\ndescription: A memory\n---\n\nText.\n",
    });
    const before = textsBelow(world.root);
    const terminal = fakeTerminal();

    await runAudit(world, terminal, { apply: false, json: false });
    await world.close();

    match(terminal.output, new RegExp(`^📋 记忆审计报告 ${TODAY}\n`));
    for (const item of ["[a1]", "[r1]", "[log]"]) ok(terminal.output.includes(item), item);
    match(terminal.output, /（运行 audit --apply 进行回复）\n$/);
    equal(terminal.questions.length, 0);
    deepEqual(textsBelow(world.root), before);
    ok(!(await isThere(world.config.state)));
  });

  it("runAudit() colours nothing where there are no colours", async () => {
    await using world = await journalWorld();
    const [plain, coloured] = [fakeTerminal(), fakeTerminal([], { hasColor: true })];

    for (const terminal of [plain, coloured]) {
      await runAudit(world, terminal, { apply: false, json: false });
    }

    ok(!plain.output.includes("\x1b"));
    ok(coloured.output.includes("\x1b[33m⚠️"));
    // deno-lint-ignore no-control-regex
    equal(coloured.output.replace(/\x1b\[\d+m/g, ""), plain.output);
  });

  it("runAudit() prints the report as JSON", async () => {
    await using world = await journalWorld();
    const terminal = fakeTerminal();

    await runAudit(world, terminal, { apply: false, json: true });

    const report = AuditReportShape.parse(JSON.parse(terminal.output));
    deepEqual(report.ageing.map(({ path }) => path), ["projects/done.md"]);
    equal(report.log.item, "log");
  });

  it("runAudit() audits an empty vault, and has nothing to ask", async () => {
    await using world = await journalWorld({});

    const terminal = await apply(world, []);

    equal(terminal.questions.length, 0);
    match(terminal.output, /✅ 审计完成：无需修改/);
    deepEqual(Object.keys(textsBelow(world.root)), ["audit-log.md"]);
  });

  it("runAudit() does all of it at one word", async () => {
    await using world = await journalWorld();

    const terminal = await apply(world, ["全部执行"]);

    const files = textsBelow(world.root);
    match(terminal.output, /✅ 审计完成：归档项目 1 个，升级规则 1 条，移出任务日志 2 条 \(R001\)/);
    ok("projects/archive/done.md" in files && !("projects/done.md" in files));
    match(files["rules.md"] ?? "", /\[R001\] pnpm install/);
    match(files["audit-log.md"] ?? "", new RegExp(`^${TODAY} \\| 归档项目 1 个`, "m"));
    const backup = /改动前的文件保存在：(.*)\n/.exec(terminal.output)?.[1] ?? "";
    equal(await Deno.readTextFile(join(backup, "session-log.md")), JOURNAL["session-log.md"]);
  });

  it("runAudit() does what was agreed to, with the person's words for a rule", async () => {
    await using world = await journalWorld();

    await apply(world, ["逐条确认", "否", "是", "构建时不用 root"]);

    const files = textsBelow(world.root);
    ok("projects/done.md" in files);
    ok("session-log.archive.md" in files);
    match(files["rules.md"] ?? "", /\[R001\] 构建时不用 root\n/);
  });

  it("runAudit() changes nothing but the record of audits at cancel and at the end of input", async () => {
    for (const answers of [["取消"], [], ["逐条确认", "是", "是"]]) {
      await using world = await journalWorld();
      const before = textsBelow(world.root);

      const terminal = await apply(world, answers);

      const { "audit-log.md": log = "", ...rest } = textsBelow(world.root);
      match(terminal.output, /审计已取消，未做任何修改/);
      match(log, new RegExp(`${TODAY} \\| 已取消`));
      deepEqual(rest, before);
    }
  });

  it("runAudit() does nothing if a file was changed while the person was asked", async () => {
    await using world = await journalWorld();
    const path = "projects/one.md";
    const answers = ["逐条确认", "是", "是", () => {
      world.write(path, `${JOURNAL[path]}- 2025-03-16：另一个\n`);
      return "";
    }];

    await rejects(apply(world, answers), {
      name: "EditConflict",
      message: /^没有做任何修改，请重新运行 audit --apply。.*have changed since(?!.*audit_memory)/,
    });

    const files = textsBelow(world.root);
    deepEqual(Object.keys(files).sort(), Object.keys(JOURNAL).sort());
    ok(files[path]?.includes("另一个"));
  });

  it("runAudit() finishes first what a crash has cut off", async () => {
    const old = "# Profile\n\n## Writing\n- Short\n";
    const fresh = "# Profile\n\n## Writing\n- Short, please\n";
    await using world = await journalWorld({ "profile.md": old });
    await leaveRecord(world, { changes: [change("profile.md", fresh, old)], moves: [] });

    await runAudit(world, fakeTerminal(), { apply: false, json: false });

    equal(textsBelow(world.root)["profile.md"], fresh);
  });
});
