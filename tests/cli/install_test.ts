import {
  deepStrictEqual as deepEqual,
  doesNotMatch,
  match,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "@std/testing/bdd";
import { applyInstall } from "@/lib/connect/apply_install.ts";
import { claude } from "@/lib/connect/claude.ts";
import { planInstall } from "@/lib/connect/plan_install.ts";
import type { Home } from "../_support/homes.ts";
import { type InstallWorld, installWorld } from "./_install_world.ts";

const USED: Home = {
  name: "used",
  entries: {
    ".claude.json": '{"numStartups": 1}\n',
    ".claude/settings.json": '{"model": "opus"}\n',
    ".codex/config.toml": 'model = "o3"\n',
  },
};

const RECORD = ".commonplace/agents/claude/install.json";

/** Returns the texts of all files of a home. */
async function texts(world: InstallWorld): Promise<string[]> {
  return Object.values(await world.tree()).map((entry) => {
    const base64 = /^\d+ (.*)$/.exec(entry)?.[1];
    return base64 === undefined ? "" : new TextDecoder().decode(Uint8Array.fromBase64(base64));
  });
}

/** A program of an agent's name that does what a script says. */
async function fakeProgram(world: InstallWorld, name: string, script: string): Promise<void> {
  const path = join(world.home, "..", "bin", name);
  await Deno.mkdir(join(path, ".."), { recursive: true });
  await Deno.writeTextFile(path, `#!/bin/sh\n${script}\n`);
  await Deno.chmod(path, 0o755);
}

async function worldWithProgram(name: string, script: string): Promise<InstallWorld> {
  const folder = await Deno.makeTempDir();
  const world = await installWorld(USED, `${folder}/bin:/usr/bin:/bin`);
  await Deno.mkdir(`${folder}/bin`);
  await fakeProgram(world, name, script);
  await Deno.rename(join(world.home, "..", "bin", name), `${folder}/bin/${name}`);
  return world;
}

/** Does what `claude mcp add --scope user commonplace -- COMMAND …` does, behind its seventh word. */
const REGISTER = `shift 6; command=$1; shift; list=
for each in "$@"; do list="$list\${list:+,}\\"$each\\""; done
entry='{"type": "stdio", "command": "%s", "args": [%s], "env": {}}'
printf '{"by": "claude", "mcpServers": {"commonplace": '"$entry"'}}' "$command" "$list" > "$HOME/.claude.json"`;

describe("install", () => {
  it("puts the server, the hooks and their script where the agent looks", async () => {
    await using world = await installWorld(USED);

    await world.run(["install", "claude"]);

    const state = JSON.parse(await world.read(".claude.json"));
    const { command, args } = state.mcpServers.commonplace;
    equal(command, Deno.execPath());
    deepEqual(args.slice(-4), [
      world.main,
      "stdio",
      `--vault=${world.vault}`,
      `--state=${join(world.vault, "../state")}`,
    ]);
    const { hooks } = JSON.parse(await world.read(".claude/settings.json"));
    const script = hooks.Stop[0].hooks[0].command.replaceAll("'\\''", "\0").replaceAll("'", "")
      .replaceAll("\0", "'");
    equal(script, join(world.home, ".commonplace/agents/claude/hook.sh"));
    equal(((await Deno.stat(script)).mode ?? 0) & 0o777, 0o755);
  });

  it("runs its script by the command that it wrote, whatever the home is called", async () => {
    await using world = await installWorld(USED);
    await world.run(["install", "claude"]);
    const { hooks } = JSON.parse(await world.read(".claude/settings.json"));

    const shell = new Deno.Command("sh", {
      args: ["-c", hooks.UserPromptSubmit[0].hooks[0].command],
      env: { COMMONPLACE_URL: "http://127.0.0.1:1" },
      stdin: "null",
    });
    const { success, stderr } = await shell.output();

    ok(success);
    equal(new TextDecoder().decode(stderr), "");
  });

  it("tells the hook where the server is, if that is not the default", async () => {
    await using world = await installWorld(USED);

    await world.run(["install", "claude", "--port", "9000"]);

    match(await world.read(".claude/settings.json"), /COMMONPLACE_URL=http:\/\/127.0.0.1:9000 /);
    match(await world.read(".claude.json"), /"--port=9000"/);
  });

  it("does nothing the second time", async () => {
    await using world = await installWorld(USED);
    await world.run(["install", "claude"]);
    const before = await world.tree();

    const { code, output } = await world.run(["install", "claude"]);

    equal(code, 0);
    match(output, /is connected already/);
    deepEqual(await world.tree(), before);
  });

  it("connects anew for other settings, and uninstall still gives the first bytes back", async () => {
    await using world = await installWorld(USED);
    const before = await world.tree();
    await world.run(["install", "claude"]);

    const { code, output } = await world.run(["install", "claude", "--port", "9000"]);

    equal(code, 0);
    match(output, /that is undone first/);
    match(await world.read(".claude.json"), /"--port=9000"/);
    await world.run(["uninstall", "claude"]);
    deepEqual(await world.tree(), before);
  });

  it("mends what somebody has taken away, and uninstall still finds all of it", async () => {
    await using world = await installWorld(USED);
    await world.run(["install", "claude"]);
    await world.write(".claude/settings.json", '{"model": "haiku"}\n');
    equal((await world.run(["status"])).code, 1);

    await world.run(["install", "claude"]);

    match(await world.read(".claude/settings.json"), /haiku[^]*hook\.sh/);
    equal((await world.run(["status"])).code, 0);
    await world.run(["uninstall", "claude"]);
    equal(await world.read(".claude/settings.json"), '{"model": "haiku"}\n');
  });

  it("undoes nothing where what is wanted now is refused", async () => {
    await using world = await installWorld(USED);
    await world.run(["install", "claude"]);
    const settings = await world.read(".claude/settings.json");
    const named = settings.replace("{", '{"note": "commonplace-hook.sh",');
    await world.write(".claude/settings.json", named);
    const before = await world.tree();

    const { code, errors } = await world.run(["install", "claude", "--port", "9000"]);

    equal(code, 1);
    match(errors, /names commonplace-hook\.sh already[^]*Nothing was changed\./);
    deepEqual(await world.tree(), before);
  });

  it("is well when several run at once, and can be undone", async () => {
    await using world = await installWorld(USED);
    const before = await world.tree();

    const runs = await Promise.all([1, 2, 3].map(() => world.run(["install", "codex"])));

    deepEqual(runs.map(({ code, errors }) => [code, errors]), [[0, ""], [0, ""], [0, ""]]);
    equal((await world.run(["status"])).code, 0);
    await world.run(["uninstall", "codex"]);
    deepEqual(await world.tree(), before);
  });

  it("refuses a token that would stand in the agent's settings", async () => {
    await using world = await installWorld(USED);
    const before = await world.tree();

    await rejects(world.run(["install", "claude", "--token", "0123456789abcdef0123"]), {
      name: "ConfigError",
      message: /--token would stand in the agent's settings as it is/,
    });

    deepEqual(await world.tree(), before);
  });

  it("refuses no agent and an unknown one, and says which there are", async () => {
    await using world = await installWorld(USED);

    await rejects(world.run(["install"]), {
      message: "install needs the name of an agent: claude or codex",
    });
    await rejects(world.run(["install", "cluade"]), {
      message: /There is no agent "cluade"; did you mean claude/,
    });
  });

  it("puts everything back if a file changes while it works", async () => {
    await using world = await installWorld(USED);
    const machine = { home: world.home, env: world.env };
    const server = { command: "/bin/true", args: [] };
    const wanted = { server, refresh: server, url: undefined };
    const plan = await planInstall(machine, claude, wanted);
    await world.write(".claude/settings.json", '{"model": "sonnet"}\n');
    const before = await world.tree();

    const applying = applyInstall({
      machine,
      connection: claude,
      server,
      vault: world.vault,
      nowMs: 0,
      program: undefined,
      run: () => Promise.resolve(),
    }, plan.files);

    await rejects(applying, { name: "EditConflict", message: /Somebody has just changed/ });
    deepEqual(await world.tree(), before);
  });

  it("leaves the server to the agent's own program, and adds the rest itself", async () => {
    await using world = await worldWithProgram("claude", REGISTER);
    const before = await world.tree();

    const { code, errors } = await world.run(["install", "claude"]);

    equal(code, 0, errors);
    equal(JSON.parse(await world.read(".claude.json")).by, "claude");
    match(await world.read(".claude/settings.json"), /hook\.sh/);
    await world.run(["uninstall", "claude"]);
    deepEqual(await world.tree(), before);
  });

  it("leaves a file that the agent's own program has made, without what is ours", async () => {
    await using world = await worldWithProgram("claude", REGISTER);
    await Deno.remove(join(world.home, ".claude.json"));

    await world.run(["install", "claude"]);
    match(await world.read(".claude.json"), /commonplace/);
    await world.run(["uninstall", "claude"]);

    deepEqual(JSON.parse(await world.read(".claude.json")), { by: "claude" });
  });

  for (
    const [what, script] of [
      ["fails", "exit 1"],
      ["does nothing", "exit 0"],
      ["ruins the file", 'echo broken > "$HOME/.claude.json"'],
      ["writes something else", 'echo "{}" > "$HOME/.claude.json"'],
    ] as const
  ) {
    it(`does it itself where the agent's own program ${what}`, async () => {
      await using world = await worldWithProgram("claude", script);
      const before = await world.tree();

      const { code, errors } = await world.run(["install", "claude"]);

      equal(code, 0, errors);
      const state = JSON.parse(await world.read(".claude.json"));
      equal(state.numStartups, 1);
      equal(state.mcpServers.commonplace.type, "stdio");
      await world.run(["uninstall", "claude"]);
      deepEqual(await world.tree(), before);
    });
  }
});

describe("uninstall", () => {
  it("says so where nothing was installed", async () => {
    await using world = await installWorld(USED);
    const before = await world.tree();

    const { code, output } = await world.run(["uninstall", "claude"]);

    equal(code, 0);
    match(output, /was not connected by install/);
    deepEqual(await world.tree(), before);
  });

  it("leaves a server that somebody has put in our place", async () => {
    await using world = await installWorld(USED);
    await world.run(["install", "codex"]);
    const other = 'model = "o3"\n\n[mcp_servers.commonplace]\nurl = "x"\n';
    await world.write(".codex/config.toml", other);

    await world.run(["uninstall", "codex"]);

    equal(await world.read(".codex/config.toml"), other);
  });

  it("leaves memories on where somebody has switched them on meanwhile", async () => {
    await using world = await installWorld(USED);
    await world.run(["install", "codex"]);
    const text = await world.read(".codex/config.toml");
    await world.write(".codex/config.toml", text.replace("memories = false", "memories = true"));

    await world.run(["uninstall", "codex"]);

    match(await world.read(".codex/config.toml"), /\[features\]\nmemories = true/);
    doesNotMatch(await world.read(".codex/config.toml"), /commonplace/);
  });

  it("undoes the rest where one file cannot be, and finishes when that is mended", async () => {
    await using world = await installWorld(USED);
    const before = await world.tree();
    await world.run(["install", "claude"]);
    const settings = await world.read(".claude/settings.json");
    await world.write(".claude/settings.json", "{");

    const first = await world.run(["uninstall", "claude"]);

    equal(first.code, 1);
    match(first.errors, /settings\.json was left alone: it is no valid JSON/);
    equal(await world.read(".claude/settings.json"), "{");
    equal(await world.read(".claude.json"), '{"numStartups": 1}\n');
    await world.write(".claude/settings.json", settings);
    equal((await world.run(["uninstall", "claude"])).code, 0);
    deepEqual(await world.tree(), before);
  });

  it("takes a file that was made, and is gone, for undone", async () => {
    await using world = await installWorld({ name: "none", entries: {} });
    await world.run(["install", "claude"]);
    await Deno.remove(join(world.home, ".claude"), { recursive: true });

    const { code } = await world.run(["uninstall", "claude"]);

    equal(code, 0);
    deepEqual(await world.tree(), {});
  });

  it("gives every byte back after a crash before or behind any of the files", async () => {
    for (const isWritten of [true, false]) {
      await using world = await installWorld(USED);
      const before = await world.tree();
      const settings = await world.read(".claude/settings.json");
      await world.run(["install", "claude"]);
      const record = JSON.parse(await world.read(RECORD));
      // The last file was about to be written, and nothing noted down behind it.
      const { afterMode: _, ...last } = record.files.at(-1);
      const files = [...record.files.slice(0, -1), last];
      await world.write(RECORD, JSON.stringify({ ...record, files }));
      if (!isWritten) await world.write(".claude/settings.json", settings);

      const { code } = await world.run(["uninstall", "claude"]);

      equal(code, 0);
      deepEqual(await world.tree(), before);
    }
  });

  it("keeps a copy of what a file was where an agent's program was cut off", async () => {
    await using world = await installWorld(USED);
    await world.write(".codex/config.toml", "# precious\nmodel   =   'o3'\n");
    await world.run(["install", "codex"]);
    const path = ".commonplace/agents/codex/install.json";
    const record = JSON.parse(await world.read(path));
    const [{ after: _, ...first }, ...rest] = record.files;
    await world.write(path, JSON.stringify({ ...record, files: [first, ...rest] }));
    const text = await world.read(".codex/config.toml");
    await world.write(".codex/config.toml", text.replace("# precious\n", ""));

    const { output } = await world.run(["uninstall", "codex"]);

    match(output, /copies: .*config\.toml/);
    match(output, /✅ Codex is not connected any more/);
    ok((await texts(world)).some((each) => each.includes("# precious")));
  });

  it("loses nothing of a file that an agent's program has ruined", async () => {
    await using world = await worldWithProgram(
      "codex",
      'echo ruined > "$HOME/.codex/config.toml"; chmod 400 "$HOME/.codex/config.toml"',
    );

    const { code, errors } = await world.run(["install", "codex"]);

    equal(code, 1);
    match(errors, /is read-only/);
    ok((await texts(world)).some((each) => each === 'model = "o3"\n'));
  });

  it("finds its files from any folder, however their place was written", async () => {
    const home = { ...USED, env: { CODEX_HOME: "cx", CLAUDE_CONFIG_DIR: "cc" } };
    await using world = await installWorld(home);
    const before = await world.tree();

    for (const agent of ["claude", "codex"]) await world.run(["install", agent]);
    match(await world.read("cx/config.toml"), /commonplace/);
    match(await world.read("cc/.claude.json"), /commonplace/);
    for (const agent of ["claude", "codex"]) await world.run(["uninstall", agent]);

    deepEqual(await world.tree(), before);
  });

  it("takes its hook out of a group that somebody has changed", async () => {
    await using world = await installWorld(USED);
    await world.run(["install", "claude"]);
    const settings = JSON.parse(await world.read(".claude/settings.json"));
    settings.hooks.Stop[0].hooks.push({ type: "command", command: "mine" });
    settings.hooks.UserPromptSubmit[0].hooks[0].timeout = 9;
    await world.write(".claude/settings.json", JSON.stringify(settings));

    await world.run(["uninstall", "claude"]);

    deepEqual(JSON.parse(await world.read(".claude/settings.json")), {
      model: "opus",
      hooks: { Stop: [{ hooks: [{ type: "command", command: "mine" }] }] },
    });
  });

  it("keeps a copy of what somebody has written into our part", async () => {
    await using world = await installWorld(USED);
    await world.run(["install", "codex"]);
    const text = await world.read(".codex/config.toml");
    const more = '\n[mcp_servers.commonplace.env]\nKEY = "only"\n';
    await world.write(".codex/config.toml", text + more);

    const { output } = await world.run(["uninstall", "codex"]);

    match(output, /copies: /);
    ok((await texts(world)).some((each) => each.includes('"only"')));
  });

  it("leaves no link behind that leads to what it has removed", async () => {
    await using world = await installWorld({ name: "none", entries: { "dot/x": "x" } });
    await world.run(["install", "codex"]);
    const place = join(world.home, ".codex/hooks.json");
    const moved = join(world.home, "dot/hooks.json");
    await Deno.rename(place, moved);
    await Deno.symlink(moved, place);

    await world.run(["uninstall", "codex"]);

    deepEqual(Object.keys(await world.tree()).filter((name) => name.includes("hooks")), []);
    equal((await world.run(["install", "codex"])).code, 0);
  });

  it("keeps rights that somebody has given a file meanwhile", async () => {
    await using world = await installWorld(USED);
    const path = join(world.home, ".claude/settings.json");
    await world.run(["install", "claude"]);
    await Deno.chmod(path, 0o600);

    await world.run(["uninstall", "claude"]);

    equal(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
  });

  it("refuses a record that it cannot read, and changes nothing", async () => {
    await using world = await installWorld(USED);
    await world.run(["install", "claude"]);
    await world.write(".commonplace/agents/claude/install.json", '{"format": 2}');
    const before = await world.tree();

    const { code, errors } = await world.run(["uninstall", "claude"]);

    equal(code, 1);
    match(errors, /install\.json is no record of an installation/);
    deepEqual(await world.tree(), before);
  });
});

describe("status", () => {
  it("tells what is connected, and what is not", async () => {
    await using world = await installWorld(USED);
    await world.run(["install", "codex"]);

    const { output } = await world.run(["status"]);

    match(output, /^Claude Code: not connected$/m);
    match(output, /^Codex: connected to .*vault since \d{4}-\d\d-\d\d$/m);
  });

  it("tells as JSON what is wrong, and ends with 1", async () => {
    await using world = await installWorld({ name: "none", entries: {} });
    await world.run(["install", "codex"]);
    await world.write(".codex/config.toml", "");
    await Deno.remove(world.main);

    const { code, output } = await world.run(["status", "--json"]);

    equal(code, 1);
    const [first, second] = JSON.parse(output).agents;
    deepEqual([first.agent, first.isThere, first.isConnected], ["claude", false, false]);
    deepEqual([second.agent, second.isConnected], ["codex", true]);
    match(second.problems.join("\n"), /config\.toml does not hold all that install put there/);
    match(second.problems.join("\n"), /main\.ts, which is not there/);
  });
});
