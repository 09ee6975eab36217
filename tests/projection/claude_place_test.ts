import {
  deepStrictEqual as deepEqual,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  claudeMemoryFolder,
  claudeSlug,
  readClaudeSettings,
} from "@/lib/projection/claude_place.ts";
import { claudeFolder, type Machine } from "@/lib/machine.ts";
import { tempVault } from "../_support/temp_vault.ts";

const machine = (env: Readonly<Record<string, string>> = {}, home = "/home/ada"): Machine => ({
  home,
  env: new Map(Object.entries(env)),
});

describe("claudeSlug()", () => {
  const LONG = `/home/ada/${"x".repeat(300)}`;
  const TABLE: readonly (readonly [root: string, slug: string])[] = [
    ["/home/ada/my.site", "-home-ada-my-site"],
    ["/home/ada/A_b c", "-home-ada-A-b-c"],
    ["/home/ada/缓存", "-home-ada---"],
    // A sign beyond the first plane counts twice.
    ["/home/ada/🎉", "-home-ada---"],
    ["/home/ada/e\u0301", "-home-ada--"],
    ["C:\\code\\site", "C--code-site"],
    ["/", "-"],
    [`/${"a".repeat(199)}`, `-${"a".repeat(199)}`],
    [LONG, `-home-ada-${"x".repeat(190)}-${hashOf(LONG)}`],
  ];
  for (const [root, slug] of TABLE) {
    it(`claudeSlug() names ${root.slice(0, 30)} as Claude Code does`, () => {
      equal(claudeSlug(root), slug);
    });
  }

  it("claudeSlug() tells long paths apart by their ends", () => {
    ok(claudeSlug(`${LONG}a`).length > 200);
    ok(claudeSlug(`${LONG}a`) !== claudeSlug(`${LONG}b`));
  });

  it("claudeSlug() hashes as a string's 31-polynomial, in 32 bits", () => {
    equal(claudeSlug("a".repeat(201)).slice(200), `-${hashOf("a".repeat(201))}`);
  });
});

/** The same hash by other means. */
function hashOf(text: string): string {
  let hash = 0n;
  for (let at = 0; at < text.length; at++) hash = hash * 31n + BigInt(text.charCodeAt(at));
  return Math.abs(Number(BigInt.asIntN(32, hash))).toString(36);
}

describe("claudeMemoryFolder()", () => {
  it("claudeMemoryFolder() lies where the environment says, under the name that it says", () => {
    equal(claudeFolder(machine()), "/home/ada/.claude");
    equal(claudeMemoryFolder(machine(), "/p"), "/home/ada/.claude/projects/-p/memory");
    equal(
      claudeMemoryFolder(machine({ CLAUDE_CONFIG_DIR: "/c" }), "/p"),
      "/c/projects/-p/memory",
    );
    const named = (name: string) => machine({ CLAUDE_CODE_PROJECT_DIR_NAME: name });
    equal(claudeMemoryFolder(named("own_1-x"), "/p"), "/home/ada/.claude/projects/own_1-x/memory");
    for (const name of ["", "../x", "a b", "x".repeat(65)]) {
      equal(claudeMemoryFolder(named(name), "/p"), "/home/ada/.claude/projects/-p/memory");
    }
  });
});

describe("readClaudeSettings()", () => {
  const read = async (settings: string | undefined, env = {}) => {
    await using home = await tempVault(
      settings === undefined ? {} : { ".claude/settings.json": settings },
    );
    const found = await readClaudeSettings(machine(env, home.root));
    return JSON.parse(JSON.stringify(found).replaceAll(home.root, "~"));
  };

  it("readClaudeSettings() says where memory is kept, and what has switched it off", async () => {
    deepEqual(await read(undefined), {});
    deepEqual(await read("{}"), {});
    deepEqual(await read('{"autoMemoryDirectory": "~/notes"}'), { elsewhere: "~/notes" });
    deepEqual(await read('{"autoMemoryDirectory": 1, "autoMemoryEnabled": true}'), {});
    deepEqual(await read('{"autoMemoryEnabled": false}'), {
      off: "autoMemoryEnabled in ~/.claude/settings.json",
    });
    const off = { off: "CLAUDE_CODE_DISABLE_AUTO_MEMORY" };
    deepEqual(await read(undefined, { CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1" }), off);
    deepEqual(await read(undefined, { CLAUDE_CODE_DISABLE_AUTO_MEMORY: "0" }), {});
  });

  it("readClaudeSettings() takes nothing from what is no JSON", async () => {
    deepEqual(await read('{"autoMemoryEnabled": false'), {});
    deepEqual(await read("[]"), {});
  });

  it("readClaudeSettings() refuses settings that cannot be read", async () => {
    await using home = await tempVault({ ".claude/settings.json/x": "" });

    await rejects(readClaudeSettings(machine({}, home.root)), /is no file/);
  });
});
