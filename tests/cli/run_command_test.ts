import { match, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { type OwnCommandLine, runCommand } from "@/lib/cli/run_command.ts";
import type { TestServices } from "../_support/services.ts";
import { type Answer, type FakeTerminal, fakeTerminal } from "./_fake_terminal.ts";
import { JOURNAL, journalWorld } from "./_journal_world.ts";

interface Ended {
  readonly code: number;
  readonly terminal: FakeTerminal;
}

async function run(
  services: TestServices,
  asked: Partial<OwnCommandLine>,
  answers: readonly Answer[] = [],
): Promise<Ended> {
  const line = {
    command: "audit",
    agent: undefined,
    words: [],
    untested: false,
    apply: false,
    json: false,
    dryRun: false,
    watch: false,
    refresh: false,
    undo: false,
    project: undefined,
    file: undefined,
    logIsGiven: false,
    ...asked,
  } as const;
  const terminal = fakeTerminal(answers, { isTerminal: false });
  return { code: await runCommand(services, terminal, line), terminal };
}

describe("runCommand()", () => {
  it("runCommand() ends with 0 for a report, whatever it says", async () => {
    await using services = await journalWorld();

    const { code, terminal } = await run(services, {});

    equal(code, 0);
    equal(terminal.errors, "");
  });

  it("runCommand() ends with 0 for a vault that is well, and with 1 for one that is not", async () => {
    await using well = await journalWorld({ "a.md": "# A\n" });
    await using ill = await journalWorld({ "a.md": "---\ntitle: A\n" });

    equal((await run(well, { command: "doctor" })).code, 0);
    equal((await run(ill, { command: "doctor" })).code, 1);
  });

  it("runCommand() ends with 1 and words if files were changed meanwhile", async () => {
    await using services = await journalWorld();
    const change = () => {
      services.write("profile.md", "# Profile\n");
      return "全部执行";
    };

    const { code, terminal } = await run(services, { apply: true }, [change]);

    equal(code, 1);
    match(terminal.errors, /^没有做任何修改，请重新运行 audit --apply/);
  });

  it("runCommand() ends with 1 and words at a script's answer that is none", async () => {
    await using services = await journalWorld();

    const { code, terminal } = await run(services, { apply: true }, ["y"]);

    equal(code, 1);
    equal(terminal.errors, "没有看懂回答「y」，没有做任何修改");
  });

  it("runCommand() ends with 1 and words if the record of audits cannot be written", async () => {
    await using services = await journalWorld({ ...JOURNAL, "audit-log.md": "my own words\n" });

    const { code, terminal } = await run(services, { apply: true }, ["全部执行"]);

    equal(code, 1);
    match(terminal.errors, /audit-log\.md is left alone: it has neither/);
    equal(await Deno.readTextFile(services.pathOf("session-log.md")), JOURNAL["session-log.md"]);
  });
});
