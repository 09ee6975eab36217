/** The hook scripts as agents run them: a shell, the event on stdin, a server on a socket. */
import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, it } from "@std/testing/bdd";
import type { Config } from "@/lib/config.ts";
import { startServer } from "@/routes/server.ts";
import { canRun } from "@/tests/_support/can_run.ts";
import { claudeEvent, codexEvent } from "@/tests/_support/hook_events.ts";
import { testWorld, type World } from "@/tests/_support/world.ts";

const HOOKS = fileURLToPath(new URL("../../examples/hooks", import.meta.url));
const TOKEN = 'a"token"\\of-many-letters';

/** On machines without a shell or curl there is nothing to run. */
const describeWithCurl = canRun("sh", "-c", "curl --version") ? describe : describe.skip;
/** What `sh` is on one system or another; they do not agree on when they redirect. */
const SHELLS: readonly (readonly string[])[] = [
  ["sh"],
  ["dash"],
  ["bash"],
  ["bash", "--posix"],
  ["busybox", "sh"],
  ["zsh"],
].filter(([program = "", ...args]) => canRun(program, ...args, "-c", ":"));
/** Gives a program a socket for its stdin, as Claude Code does; a pipe is what Deno gives. */
const WITH_SOCKET = `
  const { spawn } = require("node:child_process");
  const [program, ...args] = process.argv.slice(1);
  const child = spawn(program, args, { stdio: ["pipe", "inherit", "inherit"] });
  process.stdin.pipe(child.stdin);
  child.on("close", (code) => process.exit(code));
`;
const itWithNode = canRun("node", "--version") ? it : it.skip;

const FILES = {
  "memories/busy.md": `---
id: busy
name: 数据库 "busy"
description: "SQLITE_BUSY: database is locked, $(rm -rf) \`x\` \\\\ 先开 IMMEDIATE"
---
`,
  "profiles/agent.md": 'Answers "briefly".\nNo \\ lies.\n',
};

interface HookWorld extends AsyncDisposable {
  readonly world: World;
  readonly url: string;
  run(script: string, event: string, options?: RunOptions): Promise<HookResult>;
}

interface RunOptions {
  readonly env?: Record<string, string>;
  readonly shell?: readonly string[];
  /** True for a socket as stdin. */
  readonly withSocket?: boolean;
}

interface HookResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function serveHooks(config: Partial<Config> = {}): Promise<HookWorld> {
  const world = await testWorld(FILES, { port: 0, ...config });
  const server = await startServer(world);
  return {
    world,
    url: server.url,
    run: (script, event, options = {}) => {
      const env = { COMMONPLACE_URL: server.url, ...options.env };
      return runHook(script, event, { ...options, env });
    },
    [Symbol.asyncDispose]: async () => {
      await server.stop();
      await world[Symbol.asyncDispose]();
    },
  };
}

/** Runs a script as agents do: by a shell, with the event on stdin or as the last argument. */
async function runHook(
  script: string,
  event: string,
  { env = {}, shell = ["sh"], withSocket = false }: RunOptions,
): Promise<HookResult> {
  const isNotify = script === "codex-notify.sh";
  const command = [...shell, join(HOOKS, script), ...(isNotify ? [event] : [])];
  const [program = "", ...args] = withSocket ? ["node", "-e", WITH_SOCKET, ...command] : command;
  const child = new Deno.Command(program, {
    args,
    env,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  // A script that reads nothing closes its end.
  if (!isNotify) await writer.write(new TextEncoder().encode(event)).catch(() => {});
  await writer.close().catch(() => {});
  const { code, stdout, stderr } = await child.output();
  return {
    code,
    stdout: new TextDecoder().decode(stdout),
    stderr: new TextDecoder().decode(stderr),
  };
}

const SCRIPT = "commonplace-hook.sh";
const LOCKED = "SQLITE_BUSY: database is locked";
const SILENT: HookResult = { code: 0, stdout: "", stderr: "" };

function contextOf({ code, stdout, stderr }: HookResult, name: string): string {
  deepEqual([code, stderr], [0, ""]);
  const { hookSpecificOutput, ...rest } = JSON.parse(stdout);
  deepEqual([hookSpecificOutput.hookEventName, rest], [name, {}]);
  return hookSpecificOutput.additionalContext;
}

describeWithCurl("commonplace-hook.sh", () => {
  for (const [agent, eventOf] of [["Claude Code", claudeEvent], ["Codex", codexEvent]] as const) {
    it(`commonplace-hook.sh serves a session of ${agent}`, async () => {
      await using hooks = await serveHooks();
      const fire = (name: string, given: object = {}) =>
        hooks.run(SCRIPT, JSON.stringify(eventOf(name, given)));
      const start = contextOf(await fire("SessionStart"), "SessionStart");
      const prompt = contextOf(
        await fire("UserPromptSubmit", { prompt: LOCKED, turn_id: "1" }),
        "UserPromptSubmit",
      );
      const again = await fire("PostToolUse", { tool_response: LOCKED, turn_id: "1" });
      const tool = contextOf(
        await fire("PostToolUse", {
          session_id: "another",
          tool_response: { stdout: "", stderr: `one\ntwo\n${LOCKED}\n` },
        }),
        "PostToolUse",
      );
      const stop = await fire("Stop", { session_id: "third", last_assistant_message: LOCKED });

      ok(start.startsWith('[agent_profile]\nAnswers "briefly".\nNo \\ lies.\n\nLines below'));
      const hint =
        /^\[recall\]\n- busy \| score=0\.\d\d \| 数据库 "busy" \| SQLITE_BUSY: .* IMMEDIATE$/;
      ok(hint.test(prompt), prompt);
      deepEqual([again, stop], [SILENT, SILENT]);
      ok(hint.test(tool), tool);
      const { hints } = hooks.world.recallLog.list({ limit: 10 });
      deepEqual(hints.map(({ given }) => given), [false, true, true]);
    });
  }

  for (const shell of SHELLS) {
    for (const [token, kind] of [[undefined, "no token"], [TOKEN, "a token"]] as const) {
      const config = token === undefined ? {} : { token };
      const env = token === undefined ? {} : { COMMONPLACE_TOKEN: token };
      const event = JSON.stringify(claudeEvent("UserPromptSubmit", { prompt: LOCKED }));

      it(`commonplace-hook.sh reads a pipe under ${shell.join(" ")} with ${kind}`, async () => {
        await using hooks = await serveHooks(config);

        contextOf(await hooks.run(SCRIPT, event, { env, shell }), "UserPromptSubmit");
      });

      itWithNode(`commonplace-hook.sh reads a socket under ${shell} with ${kind}`, async () => {
        await using hooks = await serveHooks(config);

        const result = await hooks.run(SCRIPT, event, { env, shell, withSocket: true });

        contextOf(result, "UserPromptSubmit");
      });
    }

    it(`commonplace-hook.sh ends well under ${shell.join(" ")} without any stdin`, async () => {
      const script = join(HOOKS, SCRIPT);
      const [program = "", ...args] = shell;
      const command = `exec ${[program, ...args].join(" ")} "${script}" <&-`;
      const env = { COMMONPLACE_URL: "http://127.0.0.1:1" };

      const { code, stdout } = await new Deno.Command("sh", { args: ["-c", command], env })
        .output();

      deepEqual([code, stdout.length], [0, 0]);
    });
  }

  it("commonplace-hook.sh gives hints for a tool that fails", async () => {
    await using hooks = await serveHooks();
    const event = claudeEvent("PostToolUseFailure", { error: `Exit code 1\n${LOCKED}` });

    contextOf(await hooks.run(SCRIPT, JSON.stringify(event)), "PostToolUseFailure");
  });

  it("commonplace-hook.sh says nothing when it is switched off", async () => {
    await using hooks = await serveHooks();
    const event = JSON.stringify(claudeEvent("UserPromptSubmit", { prompt: "database is locked" }));

    deepEqual(await hooks.run(SCRIPT, event, { env: { COMMONPLACE_RECALL: "off" } }), SILENT);
    ok((await hooks.run(SCRIPT, event)).stdout !== "");
  });

  it("commonplace-hook.sh shows the token, if it has one", async () => {
    await using hooks = await serveHooks({ token: TOKEN });
    const event = JSON.stringify(claudeEvent("UserPromptSubmit", { prompt: "database is locked" }));

    deepEqual(await hooks.run(SCRIPT, event), SILENT);
    const withToken = (token: string) =>
      hooks.run(SCRIPT, event, { env: { COMMONPLACE_TOKEN: token } });
    deepEqual(await withToken("another token"), SILENT);
    deepEqual(await withToken(TOKEN.slice(0, -1)), SILENT);
    ok((await withToken(`${TOKEN}\r\n`)).stdout !== "");
  });

  const failing: readonly [name: string, event: string][] = [
    ["what is no JSON", "not JSON"],
    ["nothing", ""],
    ["an event without a session", '{"hook_event_name":"Stop"}'],
    ["more than the server takes", `{"prompt":"${"x".repeat(5 * 1024 * 1024)}"}`],
  ];
  for (const [name, event] of failing) {
    it(`commonplace-hook.sh is silent about ${name}`, async () => {
      await using hooks = await serveHooks();

      deepEqual(await hooks.run(SCRIPT, event), SILENT);
    });
  }

  it("commonplace-hook.sh is silent when the server is away", async () => {
    const event = JSON.stringify(claudeEvent("UserPromptSubmit"));

    for (const url of ["http://127.0.0.1:1", "http://no.such.host.invalid", "nonsense", ""]) {
      const { code, stdout, stderr } = await runHook(SCRIPT, event, {
        env: { COMMONPLACE_URL: url },
      });
      deepEqual([code, stdout, stderr], [0, "", ""], url);
    }
  });

  it("commonplace-hook.sh does not wait for a server that does not answer", async () => {
    // It takes the connection and says nothing.
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const url = `http://127.0.0.1:${listener.addr.port}`;

    const result = await runHook(SCRIPT, JSON.stringify(claudeEvent("Stop")), {
      env: { COMMONPLACE_URL: url },
    });

    deepEqual(result, SILENT);
    const script = await Deno.readTextFile(join(HOOKS, SCRIPT));
    ok(script.includes(" --max-time 2 "));
  });
});

describeWithCurl("codex-notify.sh", () => {
  it("codex-notify.sh puts the last message on record", async () => {
    await using hooks = await serveHooks();
    const event = JSON.stringify({
      "type": "agent-turn-complete",
      "thread-id": "t",
      "turn-id": "1",
      "input-messages": ["it's $HOME"],
      "last-assistant-message": "database is LOCKED, SQLITE_BUSY",
    });

    deepEqual(await hooks.run("codex-notify.sh", event), SILENT);

    const { hints } = hooks.world.recallLog.list({ limit: 10 });
    deepEqual(hints.map(({ id, run, given }) => [id, run, given]), [["busy", "1", false]]);
  });
});

describe("settings for hooks", () => {
  for (const name of ["claude-code.settings.json", "codex.hooks.json"]) {
    it(`${name} names the script for each event, with a time limit`, () => {
      const { hooks } = JSON.parse(Deno.readTextFileSync(join(HOOKS, name)));

      const common = ["SessionStart", "UserPromptSubmit", "PostToolUse"];
      const failure = name.startsWith("claude") ? ["PostToolUseFailure"] : [];
      deepEqual(Object.keys(hooks), [...common, ...failure, "Stop"]);
      for (const groups of Object.values<{ hooks: HookFile[] }[]>(hooks)) {
        for (const { type, command, timeout } of groups.flatMap((group) => group.hooks)) {
          equal(type, "command");
          ok(command.endsWith(`/${SCRIPT}`) && timeout <= 5);
        }
      }
    });
  }
});

interface HookFile {
  readonly type: string;
  readonly command: string;
  readonly timeout: number;
}
