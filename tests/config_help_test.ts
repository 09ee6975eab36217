import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { SETTINGS } from "@/lib/config_fields.ts";
import { describeConfig, formatConfigTable, formatHelp } from "@/lib/config_help.ts";
import { loadOn, TOKEN } from "./_support/config_machine.ts";

describe("formatHelp()", () => {
  it("formatHelp() names each flag, its variables and its default within 80 columns", () => {
    const help = formatHelp();
    const flowing = help.replace(/\s+/g, " ");

    for (const { flag, env, aliases, defaultText, kind } of SETTINGS) {
      ok(help.includes(`\n  ${kind === "switch" ? `--[no-]${flag}` : `--${flag} `}`), flag);
      ok(flowing.includes(`Default: ${defaultText}.`), flag);
      for (const name of [env, ...aliases]) ok(help.includes(name), name);
    }
    deepEqual(help.split("\n").filter((line) => line.length > 80), []);
  });

  it("formatHelp() names each command with its own flags", () => {
    const commands = formatHelp().split("Flags (each")[0] ?? "";

    const flags = commands.split(/\n {2}(?=\w)/).slice(1).map((block) => [
      /^\w+/.exec(block)?.[0],
      ...(block.match(/--[\w-]+/g) ?? []),
    ]);
    deepEqual(flags, [
      ["serve"],
      ["install", "--project", "--dry-run"],
      ["uninstall", "--project", "--dry-run"],
      ["status", "--json"],
      ["project", "--project", "--file", "--watch", "--undo", "--refresh", "--dry-run"],
      ["embeddings", "--dry-run", "--untested", "--json"],
      ["stdio"],
      ["audit", "--apply", "--json"],
      ["doctor", "--json"],
      ["help"],
      ["version"],
    ]);
  });
});

describe("formatConfigTable()", () => {
  it("formatConfigTable() has a row of four cells for each setting", () => {
    const rows = formatConfigTable().split("\n");

    equal(rows.length, SETTINGS.length + 2);
    deepEqual(rows.filter((row) => row.split(/(?<!\\)\|/).length !== 6), []);
    ok(rows.includes(
      "| `--port` | `COMMONPLACE_PORT` | 8787 | The port to listen on; 0 takes any free one |",
    ));
  });

  it("formatConfigTable() shows a placeholder as text, not as HTML", () => {
    const table = formatConfigTable();

    ok(table.includes("~/.commonplace/state/&lt;hash of the vault's real path&gt;"));
    ok(!table.includes("<"));
  });
});

describe("describeConfig()", () => {
  it("describeConfig() shows every setting in use and hides the token", () => {
    const described = describeConfig(loadOn({ args: ["--token", TOKEN, "--exclude", "a,b"] }));

    equal(described.token, "***");
    equal(described.exclude, "a, b");
    equal(described["memories-folder"], "memories");
    ok(!JSON.stringify(described).includes(TOKEN));
    equal(describeConfig(loadOn()).token, "none");
  });

  it("describeConfig() shows the model as it works, and where its key is", () => {
    const args = ["--embedding", "openai", "--embedding-timeout", "500"];

    const remote = describeConfig(loadOn({ args }));
    const own = describeConfig(loadOn());

    const ofModel = (all: Record<string, string>) =>
      Object.fromEntries(Object.entries(all).filter(([flag]) => flag.startsWith("embedding")));
    deepEqual(ofModel(remote), {
      "embedding": "openai",
      "embedding-model": "text-embedding-3-small",
      "embedding-base-url": "https://api.openai.com/v1",
      "embedding-credential": "env:OPENAI_API_KEY",
      "embedding-dimensions": "1536",
      "embedding-timeout": "500",
    });
    deepEqual(ofModel(own), { embedding: "static" });
  });
});
