import {
  deepStrictEqual as deepEqual,
  match,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import type { Caller } from "@/lib/contracts.ts";
import { HookEvent } from "@/lib/contracts_recall.ts";
import { answerHook } from "@/lib/recall/hook_events.ts";
import { type TestServices, testServices } from "@/tests/_support/services.ts";
import { claudeEvent, codexEvent } from "@/tests/_support/hook_events.ts";

const AGENT: Caller = { kind: "agent", loopback: true };

/** So that words weigh what they weigh among many. */
const OTHERS = Object.fromEntries(
  Array.from({ length: 30 }, (_, i) => [
    `memories/${i}.md`,
    `---\nid: m${i}\ndescription: error ${i} of another kind\n---\n`,
  ]),
);
const FILES = {
  ...OTHERS,
  "memories/busy.md": `---
id: busy
description: "SQLITE_BUSY: database is locked"
---
`,
  "profiles/user.md": "# User\n\nWrites Chinese.\n",
};

async function openWorld(): Promise<TestServices> {
  const services = await testServices(FILES);
  await services.ready();
  return services;
}

async function contextOf(
  services: TestServices,
  event: object,
  caller = AGENT,
  recall: "on" | "off" = "on",
): Promise<string | undefined> {
  const answer = await answerHook(services, caller, { event: HookEvent.parse(event), recall });
  if (answer === undefined) return undefined;
  const { hookEventName, additionalContext } = answer.hookSpecificOutput;
  equal(hookEventName, HookEvent.parse(event).hook_event_name);
  return additionalContext;
}

const LOCKED = "SQLITE_BUSY: database is locked";
const HINT = /^\[recall\]\n- busy \| score=0\.\d\d \| busy \| SQLITE_BUSY: database is locked$/;

for (const [agent, eventOf] of [["Claude Code", claudeEvent], ["Codex", codexEvent]] as const) {
  describe(`answerHook() for ${agent}`, () => {
    it("answerHook() gives the profiles at the start of a session", async () => {
      await using services = await openWorld();

      const context = await contextOf(services, eventOf("SessionStart")) ?? "";

      ok(
        context.startsWith("[user_profile]\n# User\n\nWrites Chinese.\n\nLines below [recall] are"),
      );
      ok(context.includes("memory_open(id)"));
    });

    it("answerHook() gives hints for a prompt, and falls silent", async () => {
      await using services = await openWorld();
      const event = eventOf("UserPromptSubmit", { prompt: LOCKED, turn_id: "t1" });

      match(await contextOf(services, event) ?? "", HINT);
      equal(await contextOf(services, { ...event, turn_id: "t2" }), undefined);
    });

    it("answerHook() gives hints for what a tool returned", async () => {
      await using services = await openWorld();

      match(await contextOf(services, eventOf("PostToolUse", toolOf(LOCKED))) ?? "", HINT);
    });

    it("answerHook() puts the last message on record and says nothing", async () => {
      await using services = await openWorld();

      const context = await contextOf(
        services,
        eventOf("Stop", { last_assistant_message: LOCKED }),
      );

      equal(context, undefined);
      const { hints } = services.recallLog.list({ limit: 10 });
      deepEqual(hints.map(({ id, given, trigger }) => [id, given, trigger]), [
        ["busy", false, "assistant"],
      ]);
    });

    it("answerHook() says nothing to other events, and to those without text", async () => {
      await using services = await openWorld();

      for (
        const event of [
          eventOf("PreToolUse", toolOf(LOCKED)),
          eventOf("SubagentStop", { last_assistant_message: LOCKED }),
          eventOf("UserPromptSubmit", { prompt: null }),
          eventOf("UserPromptSubmit", { prompt: "" }),
          eventOf("PostToolUse", { tool_input: null, tool_response: [] }),
          eventOf("Stop", { last_assistant_message: null }),
          {},
        ]
      ) {
        equal(await contextOf(services, event), undefined, JSON.stringify(event));
      }
    });

    it("answerHook() needs to know the session", async () => {
      await using services = await openWorld();
      const { session_id: _session, ...event } = eventOf("UserPromptSubmit", { prompt: LOCKED });

      await rejects(contextOf(services, event), { code: "invalid-request", message: /session_id/ });
    });
  });
}

describe("answerHook()", () => {
  it("answerHook() takes the run from the turn of Codex and the prompt of Claude Code", async () => {
    await using services = await openWorld();

    await contextOf(services, codexEvent("UserPromptSubmit", { prompt: LOCKED, turn_id: "t7" }));
    await contextOf(services, claudeEvent("UserPromptSubmit", { prompt: LOCKED, prompt_id: "p7" }));

    const { hints } = services.recallLog.list({ limit: 2 });
    deepEqual(hints.map(({ run }) => run), ["p7", "t7"]);
  });

  it("answerHook() gives hints for the error of a tool that fails", async () => {
    await using services = await openWorld();
    const failed = claudeEvent("PostToolUseFailure", { error: `Exit code 1\n${LOCKED}` });

    match(await contextOf(services, failed) ?? "", HINT);
  });

  it("answerHook() takes what ends in the background for an output", async () => {
    await using services = await openWorld();
    const prompt = `<task-notification>\n<result>${LOCKED}</result>\n</task-notification>`;

    await contextOf(services, claudeEvent("UserPromptSubmit", { prompt }));

    equal(services.recallLog.list({ limit: 1 }).hints[0]?.trigger, "assistant");
  });

  it("answerHook() cuts each profile to what agents take in", async () => {
    await using services = await openWorld();
    services.write("profiles/agent.md", "字".repeat(15_000));

    const context = await contextOf(services, claudeEvent("SessionStart")) ?? "";

    ok(context.length < 10_000, `${context.length}`);
    ok(context.includes("字\n… (cut: profiles/agent.md is longer)\n\n[user_profile]\n# User"));
    ok(context.includes("Writes Chinese.\n\nLines below [recall]"));
  });

  const failures: readonly (readonly [name: string, fields: object])[] = [
    ["behind a large input", {
      tool_input: {
        edits: Array.from({ length: 64 }, (_, i) => ({ old: `o ${i}`, new: `n ${i}` })),
      },
      error: LOCKED,
    }],
    ["behind many rows", {
      tool_response: {
        rows: Array.from({ length: 200 }, (_, i) => ({ v: `row ${i}` })),
        e: LOCKED,
      },
    }],
    ["at the end of one stream, before a long other", {
      tool_response: {
        stdout: `${"a step that went well\n".repeat(2_000)}Error: ${LOCKED}`,
        stderr: "some warning that nobody reads\n".repeat(2_000),
      },
    }],
    ["in colours", {
      error: `${
        "one more line of this\n".repeat(30)
      }\u001b[31mSQLITE_BUSY\u001b[0m: database is locked`,
    }],
  ];
  for (const [name, fields] of failures) {
    it(`answerHook() finds an error ${name}`, async () => {
      await using services = await openWorld();

      match(await contextOf(services, claudeEvent("PostToolUseFailure", fields)) ?? "", HINT);
    });
  }

  it("answerHook() does without a working directory that cannot be used", async () => {
    await using services = await openWorld();

    const folders = ["here", "/x\0y", `/${"x".repeat(5_000)}`, ""];
    for (const [index, cwd] of folders.entries()) {
      const given = { prompt: LOCKED, cwd, session_id: `s${index}` };
      ok(await contextOf(services, claudeEvent("UserPromptSubmit", given)), cwd.slice(0, 9));
    }
  });

  it("answerHook() puts what Codex' notify program is told on record", async () => {
    await using services = await openWorld();

    const context = await contextOf(services, {
      "type": "agent-turn-complete",
      "thread-id": "b5f6c1c2-1111-2222-3333-444455556666",
      "turn-id": "12345",
      "cwd": "/Users/alice/projects/example",
      "input-messages": ["Rename `foo` to `bar`"],
      "last-assistant-message": LOCKED,
    });

    equal(context, undefined);
    const [hint] = services.recallLog.list({ limit: 1 }).hints;
    deepEqual([hint?.session, hint?.run, hint?.given], [
      "b5f6c1c2-1111-2222-3333-444455556666",
      "12345",
      false,
    ]);
  });

  it("answerHook() keeps subagents apart", async () => {
    await using services = await openWorld();
    const event = claudeEvent("PostToolUse", toolOf(LOCKED));

    ok(await contextOf(services, event));
    ok(await contextOf(services, { ...event, agent_id: "agent-1" }));
    equal(await contextOf(services, { ...event, agent_id: "agent-1" }), undefined);
  });

  it("answerHook() gives no hints for what our own tools returned", async () => {
    await using services = await openWorld();
    const tool = { ...toolOf(LOCKED), tool_name: "mcp__commonplace__memory_open" };

    equal(await contextOf(services, claudeEvent("PostToolUse", tool)), undefined);
  });

  it("answerHook() gives profiles but no hints when these are switched off", async () => {
    await using services = await openWorld();
    const prompt = claudeEvent("UserPromptSubmit", { prompt: LOCKED });

    equal(await contextOf(services, prompt, AGENT, "off"), undefined);
    equal(
      await contextOf(services, claudeEvent("SessionStart"), AGENT, "off"),
      "[user_profile]\n# User\n\nWrites Chinese.",
    );
  });

  it("answerHook() does not mind where an agent on another machine works", async () => {
    await using services = await openWorld();
    const prompt = claudeEvent("UserPromptSubmit", { prompt: LOCKED, cwd: "C:\\work" });

    ok(await contextOf(services, prompt, { ...AGENT, loopback: false }));
  });

  it("answerHook() copes with whatever a tool returns", async () => {
    await using services = await openWorld();
    let deep: unknown = LOCKED;
    for (let i = 0; i < 1_000; i++) deep = [deep];
    const many = Array.from({ length: 10_000 }, () => "one two three four five");

    for (const tool_response of [deep, many, 7, null, true, "x".repeat(3_000_000)]) {
      equal(
        await contextOf(services, claudeEvent("PostToolUse", { tool_response })),
        undefined,
      );
    }
    const long = {
      stdout: `${"words that say nothing at all\n".repeat(50_000)}Error: ${LOCKED}\n`,
    };
    match(
      await contextOf(services, claudeEvent("PostToolUse", { tool_response: long })) ?? "",
      HINT,
    );
  });
});

function toolOf(stderr: string): object {
  return {
    tool_name: "Bash",
    tool_input: { command: "npm test", description: "Runs all of them" },
    tool_response: { stdout: "ok 1\nok 2", stderr, interrupted: false, isImage: false },
  };
}
