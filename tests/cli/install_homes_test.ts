import {
  deepStrictEqual as deepEqual,
  match,
  notStrictEqual,
  ok,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { parse as parseToml } from "smol-toml";
import { HOMES } from "../_support/homes.ts";
import { installWorld } from "./_install_world.ts";

const AGENTS = ["claude", "codex"];

describe("install and uninstall", () => {
  for (const home of HOMES) {
    for (const agent of AGENTS) {
      const refusal = home.refused?.[agent];
      if (refusal === undefined) {
        it(`${agent}: uninstall leaves every byte as it was: ${home.name}`, async () => {
          await using world = await installWorld(home);
          const before = await world.tree();

          const installed = await world.run(["install", agent]);
          const between = await world.tree();
          const uninstalled = await world.run(["uninstall", agent]);

          equal(installed.code, 0, installed.errors);
          notStrictEqual(JSON.stringify(between), JSON.stringify(before));
          equal(uninstalled.code, 0, uninstalled.errors);
          deepEqual(await world.tree(), before);
        });
      } else {
        it(`${agent}: install changes nothing: ${home.name}`, async () => {
          await using world = await installWorld(home);
          const before = await world.tree();

          const { code, errors } = await world.run(["install", agent]);

          equal(code, 1);
          match(errors, refusal);
          match(errors, /Nothing was changed\.$/);
          deepEqual(await world.tree(), before);
        });
      }
    }
  }

  it("has homes enough to be sure", () => {
    ok(HOMES.length >= 30);
    equal(new Set(HOMES.map(({ name }) => name)).size, HOMES.length);
  });

  for (const home of HOMES.filter(({ refused }) => refused === undefined)) {
    it(`both agents, in any order, leave every byte as it was: ${home.name}`, async () => {
      await using world = await installWorld(home);
      const before = await world.tree();

      for (
        const args of ["install claude", "install codex", "uninstall claude", "uninstall codex"]
      ) {
        equal((await world.run(args.split(" "))).code, 0, args);
      }

      deepEqual(await world.tree(), before);
    });

    it(`--dry-run changes nothing and says what it would: ${home.name}`, async () => {
      await using world = await installWorld(home);
      const before = await world.tree();

      const { code, output } = await world.run(["install", "claude", "--dry-run"]);

      equal(code, 0);
      match(output, /^ {4}\+ mcpServers\.commonplace: \{/m);
      deepEqual(await world.tree(), before);
    });
  }

  for (const home of HOMES.filter(({ refused, env }) => refused === undefined && !env)) {
    it(`what somebody wrote in between stays, and nothing else: ${home.name}`, async () => {
      await using world = await installWorld(home);
      const json = await valuesOf(world, ".claude/settings.json");
      const toml = await tablesOf(world);
      await world.run(["install", "claude"]);
      await world.run(["install", "codex"]);
      const settings = await world.read(".claude/settings.json");
      await world.write(".claude/settings.json", settings.replace("{", '{"later": [1],'));
      await world.write(
        ".codex/config.toml",
        `${await world.read(".codex/config.toml")}\n# late\n[later]\nx = 1\n`,
      );

      const [claude, codex] = [
        await world.run(["uninstall", "claude"]),
        await world.run(["uninstall", "codex"]),
      ];

      equal(claude.code, 0, claude.errors);
      equal(codex.code, 0, codex.errors);
      deepEqual(await valuesOf(world, ".claude/settings.json"), { ...json, later: [1] });
      deepEqual(await tablesOf(world), { ...toml, later: { x: 1 } });
      match(await world.read(".codex/config.toml"), /\n# late\n\[later\]\nx = 1\n$/);
      ok(!JSON.stringify(await world.tree()).includes("commonplace/agents"));
    });
  }
});

async function valuesOf(
  world: { read(name: string): Promise<string> },
  name: string,
): Promise<Record<string, unknown>> {
  const text = await world.read(name).catch(() => "{}");
  const bare = text.replace(/^\ufeff/, "").replace(/^\s*\/\/.*$|\/\*.*?\*\/|\/\/ .*$/gm, "")
    .replace(/,(\s*[\]}])/g, "$1");
  return JSON.parse(bare.trim() === "" ? "{}" : bare);
}

async function tablesOf(world: { read(name: string): Promise<string> }): Promise<object> {
  const text = await world.read(".codex/config.toml").catch(() => "");
  return structuredClone({ ...parseToml(text.replace(/^\ufeff/, "")) });
}
