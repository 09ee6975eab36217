/**
 * With the agents themselves, where they are on the search path:
 * `npm install --prefix DIR @anthropic-ai/claude-code @openai/codex`, and `DIR/node_modules/.bin` in PATH.
 */
import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "@std/testing/bdd";
import { findProgram } from "@/lib/find_program.ts";
import { claudeSlug } from "@/lib/projection/claude_place.ts";
import type { Home } from "../_support/homes.ts";
import { type InstallWorld, installWorld } from "./_install_world.ts";

const PATH = Deno.env.get("PATH") ?? "";
const HOMES: readonly Home[] = [
  { name: "empty", entries: {} },
  {
    name: "used",
    entries: {
      ".claude.json": '{\n    "numStartups": 3,\n    "mcpServers": {"x": {"command": "true"}}\n}\n',
      ".claude/settings.json": '{"model": "opus"}\n',
      ".codex/config.toml": '# mine\nmodel = "o3" # best\n\n[mcp_servers.x]\ncommand = "true"\n',
    },
  },
];

/** What these write anew at every start: records for their makers, copies, times, random numbers. */
const THEIR_OWN = /^(?:\.cache|\.claude\/(?:backups|telemetry)|\.codex\/(?:log|tmp|.*\.sqlite))/;

const isThere = (name: string) =>
  PATH.split(":").some((folder) => {
    try {
      return Deno.statSync(join(folder, name)).isFile;
    } catch {
      return false;
    }
  });
const unlessThere = (name: string) => isThere(name) ? {} : { skip: `${name} is not in PATH` };

async function runAgent(
  world: InstallWorld,
  name: string,
  args: readonly string[],
  { cwd = world.home, more = {} }: {
    readonly cwd?: string;
    readonly more?: Readonly<Record<string, string>>;
  } = {},
): Promise<string> {
  const path = await findProgram(name, PATH);
  ok(path);
  const command = new Deno.Command(path, {
    args: [...args],
    cwd,
    env: { ...Object.fromEntries(world.env), DISABLE_AUTOUPDATER: "1", ...more },
    clearEnv: true,
    stdin: "null",
  });
  const { stdout } = await command.output();
  return new TextDecoder().decode(stdout);
}

/** Returns the home without what differs between any two. */
async function stateOf(world: InstallWorld): Promise<Record<string, unknown>> {
  const tree: Record<string, unknown> = await world.tree();
  for (const name of Object.keys(tree)) if (THEIR_OWN.test(name)) delete tree[name];
  if (".claude.json" in tree) {
    const { firstStartTime: _t, userID: _u, machineID: _m, ...rest } = JSON.parse(
      await world.read(".claude.json"),
    );
    tree[".claude.json"] = rest;
  }
  return tree;
}

/** Answers every question to a model with one word, and keeps what was asked. */
function fakeModel(): { url: string; asked: string[]; close(): Promise<void> } {
  const asked: string[] = [];
  const event = (type: string, data: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
  const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [] };
  const usage = { input_tokens: 1, output_tokens: 1 };
  const answer = [
    event("message_start", { message: { ...message, stop_reason: null, usage } }),
    event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    event("content_block_delta", { index: 0, delta: { type: "text_delta", text: "done" } }),
    event("content_block_stop", { index: 0 }),
    event("message_delta", { delta: { stop_reason: "end_turn", stop_sequence: null }, usage }),
    event("message_stop", {}),
  ].join("");
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      asked.push(await request.text());
      return new Response(answer, { headers: { "content-type": "text/event-stream" } });
    },
  );
  return { url: `http://127.0.0.1:${server.addr.port}`, asked, close: () => server.shutdown() };
}

describe("Claude Code", () => {
  it("tells its model what the store says, through the link", {
    ...unlessThere("claude"),
  }, async () => {
    await using world = await installWorld({ name: "empty", entries: {} }, PATH);
    const folder = join(world.home, "repo");
    await new Deno.Command("git", { args: ["init", "-q", folder] }).output();
    const memory = `.claude/projects/${claudeSlug(await Deno.realPath(folder))}/memory`;
    await Deno.mkdir(join(world.home, memory), { recursive: true });
    await world.write(`${memory}/MEMORY.md`, "- [Tides](tides.md) — when the harbour is dry\n");
    const { code, errors } = await world.run(["install", "claude", "--project", folder]);
    const model = fakeModel();

    const more = { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "sk-ant-none" };
    const said = await runAgent(world, "claude", ["-p", "hello"], { cwd: folder, more });
    await model.close();

    equal(code, 0, errors);
    ok((await Deno.lstat(join(world.home, memory))).isSymlink);
    equal(said.trim(), "done");
    ok(model.asked.some((body) => body.includes("when the harbour is dry")));
  });
});

describe("the agents' own command lines", () => {
  for (const home of HOMES) {
    it(`claude sees the server, and uninstall leaves what it would have without (${home.name})`, {
      ...unlessThere("claude"),
    }, async () => {
      await using world = await installWorld(home, PATH);
      await using control = await installWorld(home, PATH);
      for (const each of [world, control]) await runAgent(each, "claude", ["mcp", "list"]);

      const { code, errors } = await world.run(["install", "claude"]);
      const shown = await runAgent(world, "claude", ["mcp", "get", "commonplace"]);
      await runAgent(control, "claude", ["mcp", "get", "commonplace"]);
      await world.run(["uninstall", "claude"]);
      for (const each of [world, control]) await runAgent(each, "claude", ["mcp", "list"]);

      equal(code, 0, errors);
      match(shown, /Scope: User config/);
      match(shown, /stdio --vault=/);
      deepEqual(await stateOf(world), await stateOf(control));
    });

    it(`codex sees the server, and uninstall leaves what it would have without (${home.name})`, {
      ...unlessThere("codex"),
    }, async () => {
      await using world = await installWorld(home, PATH);
      await using control = await installWorld(home, PATH);
      for (const each of [world, control]) await runAgent(each, "codex", ["mcp", "list"]);

      const { code, errors } = await world.run(["install", "codex"]);
      const shown = await runAgent(world, "codex", ["mcp", "get", "commonplace"]);
      const features = await runAgent(world, "codex", ["features", "list"]);
      for (const args of [["mcp", "get", "commonplace"], ["features", "list"]]) {
        await runAgent(control, "codex", args);
      }
      await world.run(["uninstall", "codex"]);
      for (const each of [world, control]) await runAgent(each, "codex", ["mcp", "list"]);

      equal(code, 0, errors);
      match(shown, /args: .*stdio --vault=/);
      match(features, /^memories\s+\w+\s+false$/m);
      deepEqual(await stateOf(world), await stateOf(control));
    });
  }
});
