import { createHash } from "node:crypto";
import { deepStrictEqual as deepEqual, ok, strictEqual as equal, throws } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { type Config, ENV_NAMES } from "@/lib/config.ts";
import { loadOn, problemsOn, TOKEN, type World } from "./_support/config_machine.ts";
import { WRITE_TRIGGERS } from "@/lib/write_triggers.ts";

describe("loadConfig()", () => {
  it("loadConfig() answers with the defaults when nothing is set", () => {
    const config = loadOn();

    const hash = createHash("sha256").update("/home/ada/.commonplace/vault").digest("hex");
    deepEqual(config, {
      vault: "/home/ada/.commonplace/vault",
      vaultWasGiven: false,
      init: false,
      state: `/home/ada/.commonplace/state/${hash.slice(0, 16)}`,
      memoriesFolder: "memories",
      index: "all",
      exclude: [],
      recall: "on",
      recallMinScore: 0.5,
      freshness: "auto",
      host: "127.0.0.1",
      port: 8787,
      token: undefined,
      ownerToken: undefined,
      allowedHosts: [],
      allowedOrigins: [],
      access: "open",
      embedding: "static",
      remoteModel: undefined,
      denseWeight: undefined,
      mcpLegacy: "sessions",
      mcpSse: "on",
      mcpElicitation: "on",
      mcpAliases: "off",
      writeTriggers: WRITE_TRIGGERS,
      journalLogArchive: true,
      toolsets: ["core", "journal", "reading"],
      log: "info",
    });
  });

  it("loadConfig() takes the threshold for hints by either of its names, ours first", () => {
    const name = "MARCH_MEMORY_RECALL_MIN_SCORE";
    const own = "COMMONPLACE_RECALL_MIN_SCORE";

    equal(loadOn({ env: { [name]: "0.62" } }).recallMinScore, 0.62);
    equal(loadOn({ env: { [name]: "0.62", [own]: "0" } }).recallMinScore, 0);
    equal(loadOn({ env: { [own]: "1" }, args: ["--recall-min-score", ".7"] }).recallMinScore, 0.7);
    equal(loadOn({ args: ["--recall", "off"] }).recall, "off");
  });

  it("loadConfig() has agents ask where others can reach the server, unless it is told otherwise", () => {
    const token = ["--token", "0123456789abcdef"];
    const far = ["--host", "192.0.2.1", ...token];

    equal(loadOn({ args: far }).access, "ask");
    equal(loadOn({ args: [...far, "--access", "open"] }).access, "open");
    equal(loadOn({ args: ["--access", "ask"] }).access, "ask");
    equal(loadOn({ env: { COMMONPLACE_ACCESS: "ask" } }).access, "ask");
    // Under `deno serve`, which binds every address, with a token others may come.
    equal(loadOn({ args: token, bindsAnywhere: true }).access, "ask");
    equal(loadOn({ bindsAnywhere: true }).access, "open");
  });

  it("loadConfig() takes the owner's token as it takes the other, and never the same one", () => {
    const env = { MINE: "owner-token-of-mine", COMMONPLACE_OWNER_TOKEN: "env:MINE" };
    const same = ["--token", "0123456789abcdef", "--owner-token", "0123456789abcdef"];

    equal(loadOn({ env }).ownerToken, "owner-token-of-mine");
    throws(() => loadOn({ args: ["--owner-token", "short"] }), {
      message: /^--owner-token must be at least 16 visible ASCII characters/,
    });
    throws(() => loadOn({ args: same }), { message: /agents could decide what they may do/ });
  });

  it("loadConfig() freezes the result, lists included", () => {
    const config = loadOn({ args: ["--exclude", "Work"] });

    ok(Object.isFrozen(config));
    ok(Object.isFrozen(config.exclude));
    ok(Object.isFrozen(config.allowedHosts));
    ok(Object.isFrozen(config.allowedOrigins));
    ok(Object.isFrozen(config.toolsets));
  });

  it("loadConfig() takes a flag before the environment, that before the file, that before the default", () => {
    const file = {
      "/home/ada/.commonplace/config.json": '{"port": 1, "log": "warn", "host": "::1"}',
    };
    const env = { COMMONPLACE_PORT: "2", COMMONPLACE_LOG: "error" };

    const config = loadOn({ files: file, env, args: ["--port", "3"] });

    deepEqual([config.port, config.log, config.host, config.index], [3, "error", "::1", "all"]);
  });

  it("loadConfig() reads flags in every spelling", () => {
    const cases: [string[], Partial<Config>][] = [
      [["--port", "0"], { port: 0 }],
      [["--port=65535"], { port: 65535 }],
      [["serve", "--init"], { init: true }],
      [["--init=false"], { init: false }],
      [["--init=true"], { init: true }],
      [["--no-init"], { init: false }],
      [["--exclude", "a, b", "--exclude=c/d"], { exclude: ["a", "b", "c/d"] }],
      [["--memories-folder", "./deep//down/"], { memoriesFolder: "deep/down" }],
      [["--memories-folder=."], { memoriesFolder: "." }],
      [["--index", "memories"], { index: "memories" }],
      [["--host", "[::1]"], { host: "::1" }],
      [["--host", "LOCALHOST"], { host: "localhost" }],
      [["--token", TOKEN], { token: TOKEN }],
      [["--allowed-hosts", "Notes.Example,[fd00::1]"], {
        allowedHosts: ["notes.example", "fd00::1"],
      }],
      [["--allowed-origins", "app://obsidian.md,https://A.example:8443"], {
        allowedOrigins: ["app://obsidian.md", "https://a.example:8443"],
      }],
      [["--vault", "../vault"], { vault: "/vault", vaultWasGiven: true }],
      [["--state=~/cache"], { state: "/home/ada/cache" }],
      [["--log", "debug"], { log: "debug" }],
    ];
    for (const [args, expected] of cases) {
      const config = loadOn({ args });

      deepEqual({ ...config, ...expected }, config, args.join(" "));
    }
  });

  it("loadConfig() reads the environment, where an empty variable counts as not set", () => {
    const config = loadOn({
      env: { COMMONPLACE_INIT: "1", COMMONPLACE_EXCLUDE: "a,b", COMMONPLACE_PORT: "" },
    });

    deepEqual([config.init, config.exclude, config.port], [true, ["a", "b"], 8787]);
  });

  it("loadConfig() reads the file that --config names, paths in it being relative to it", () => {
    const files = {
      "/etc/cp/c.json":
        '\uFEFF{"vault": "notes", "state": "../cache", "init": true, "exclude": ["a, b", "c"]}',
    };

    const config = loadOn({ args: ["--config", "/etc/cp/c.json"], files });

    deepEqual(
      [config.vault, config.state, config.exclude],
      ["/etc/cp/notes", "/etc/cache", ["a, b", "c"]],
    );
  });

  it("loadConfig() takes the file's place from COMMONPLACE_CONFIG", () => {
    const files = { "/home/ada/c.json": '{"port": 5}' };

    const config = loadOn({ env: { COMMONPLACE_CONFIG: "~/c.json" }, files });

    equal(config.port, 5);
  });

  it("loadConfig() takes the vault from the first name that is set", () => {
    const soul = { "/here/SOUL.md": "# Me\n\n- OBSIDIAN_MEMORY_PATH: ../soul\n" };
    const folders = ["/a", "/b", "/c", "/d", "/soul"];
    const names = {
      OBSIDIAN_MEMORY_PATH: "/d",
      STARKS_MEMORY_DIR: "/c",
      MARCH_MEMORY_ROOT: "/b",
      COMMONPLACE_VAULT: "/a",
    };
    const cases: [string[], string[], string][] = [
      [["COMMONPLACE_VAULT", "MARCH_MEMORY_ROOT", "STARKS_MEMORY_DIR"], [], "/a"],
      [["MARCH_MEMORY_ROOT", "STARKS_MEMORY_DIR", "OBSIDIAN_MEMORY_PATH"], [], "/b"],
      [["STARKS_MEMORY_DIR", "OBSIDIAN_MEMORY_PATH"], [], "/c"],
      [["OBSIDIAN_MEMORY_PATH"], [], "/d"],
      [[], ["--soul", "SOUL.md"], "/soul"],
      [["COMMONPLACE_VAULT"], ["--soul", "SOUL.md"], "/soul"],
      [[], ["--soul", "SOUL.md", "--vault", "/vault"], "/vault"],
    ];
    for (const [set, args, expected] of cases) {
      const env = Object.fromEntries(Object.entries(names).filter(([name]) => set.includes(name)));

      const config = loadOn({ args, env, folders, files: soul });

      deepEqual([config.vault, config.vaultWasGiven], [expected, true], `${set} ${args}`);
    }
  });

  it("loadConfig() makes the vault of MARCH_MEMORY_ROOT its own store of memories", () => {
    const env = { MARCH_MEMORY_ROOT: "/vault" };
    const cases: [World, string][] = [
      [{ env }, "."],
      [{ env, args: ["--memories-folder", "m"] }, "m"],
      [{ env: { ...env, COMMONPLACE_MEMORIES_FOLDER: "m" } }, "m"],
      // another name won: the rule does not apply
      [{ env, args: ["--vault", "/vault"] }, "memories"],
      [{ env: { ...env, COMMONPLACE_VAULT: "/vault" } }, "memories"],
    ];
    for (const [world, expected] of cases) {
      const config = loadOn(world);

      equal(config.memoriesFolder, expected, JSON.stringify(world));
    }
  });

  it("loadConfig() names the state after the vault's real path", () => {
    const links = { "/link": "/vault" };

    const linked = loadOn({ args: ["--vault", "/link"], folders: ["/link"], links });

    equal(linked.vault, "/link");
    equal(linked.state, loadOn({ args: ["--vault", "/vault"] }).state);
  });

  it("loadConfig() lists every problem at once", () => {
    const problems = problemsOn({
      args: ["--prot", "1", "--port", "x", "--vault", "/gone", "--log"],
      env: { COMMONPLACE_ACESS: "open", COMMONPLACE_HOST: "0.0.0.0" },
    });

    deepEqual(problems, [
      '"--prot" is not a known flag; did you mean --port?',
      '--log needs a value (write --log=… for one that begins with "-")',
      '"COMMONPLACE_ACESS" is not a known environment variable; did you mean COMMONPLACE_ACCESS?',
      '--port must be a whole number from 0 to 65535, not "x"',
      "--vault: there is no folder /gone; pass --init to create a vault there",
      "--host 0.0.0.0 can be reached from other machines, so it needs a token: pass " +
      "--token file:PATH or --token env:NAME, or --host 127.0.0.1",
    ]);
  });

  it("loadConfig() refuses arguments that cannot be meant", () => {
    const cases: [string[], RegExp][] = [
      [["--port", "1", "--port", "2"], /^--port is given more than once$/],
      [["--init", "--no-init"], /^--init is given more than once$/],
      [["--no-init=true"], /^--no-init takes no value$/],
      [["--init=maybe"], /^--init must be true or false, not "maybe"$/],
      [["--init="], /^--init must be true or false$/],
      [["--vault"], /^--vault needs a value/],
      [["--vault", "--init"], /^--vault needs a value/],
      [["--vault="], /^--vault must not be empty$/],
      [["-x"], /^"-x" is not a known flag$/],
      [["--no-vault"], /^"--no-vault" is not a known flag; did you mean --vault\?$/],
      [["--__proto__"], /^"--__proto__" is not a known flag$/],
      [["serve", "more"], /^"more" is one argument too many$/],
      [["serve", "--", "--init"], /^"--init" is one argument too many$/],
      [["--port", "65536"], /^--port must be a whole number/],
      [["--port", "1.5"], /^--port must be a whole number/],
      [["--port=-1"], /^--port must be a whole number/],
      [["--index", "most"], /^--index must be one of all, memories, not "most"$/],
      [["--access", "constructor"], /^--access must be one of open, ask, not "constructor"$/],
      [["--embedding", "opnai"], /^--embedding must be one of static, none, openai, .*"opnai"$/],
      [["--dense-weight", "1.01"], /^--dense-weight must be a number from 0 to 1, not "1.01"$/],
      [["--dense-weight=-0.1"], /^--dense-weight must be a number from 0 to 1/],
      [["--recall-min-score", "50"], /^--recall-min-score must be a number from 0 to 1, not "50"$/],
      [["--recall", "maybe"], /^--recall must be one of on, off, not "maybe"$/],
      [["--dense-weight", "much"], /^--dense-weight must be a number from 0 to 1, not "much"$/],
      [["--mcp-legacy", "on"], /^--mcp-legacy must be one of sessions, stateless, off, not "on"$/],
      [["--mcp-aliases", "yes"], /^--mcp-aliases must be one of on, off, not "yes"$/],
      [["--mcp-sse", "yes"], /^--mcp-sse must be one of on, off, not "yes"$/],
      [["--toolsets", "core,jurnal"], /^--toolsets must be one of core, .*, not "jurnal"$/],
      [["--memories-folder", "../out"], /^--memories-folder must not leave the vault/],
      [["--memories-folder", "/abs"], /^--memories-folder must be relative to the vault/],
      [["--memories-folder", "a/.b"], /^--memories-folder must not lie in a folder whose name/],
      [["--exclude", "a,w*rk"], /^--exclude must be names of folders, not patterns, not "w\*rk"$/],
      [["--exclude", "a/../b"], /^--exclude must not leave the vault/],
      [["--exclude", "./"], /^--exclude must not be the whole vault/],
      [["--host", "http://x"], /^--host must be a host name or an IP address/],
      [["--allowed-hosts", "*.example"], /^--allowed-hosts must be exact host names/],
      [["--allowed-hosts", "a.example:80"], /^--allowed-hosts must be exact host names/],
      [["--allowed-origins", "*"], /^--allowed-origins must be exact origins/],
      [["--allowed-origins", "https://a.example/"], /^--allowed-origins must be exact origins/],
      [["--allowed-origins", "null"], /^--allowed-origins must be exact origins/],
      [["--state", "/vault/.state"], /^--state must not lie inside the vault: /],
      [["--state", "/vault"], /^--state must not lie inside the vault: /],
      [["--config", "/gone.json"], /^--config: there is no file \/gone\.json$/],
      [["--soul", "/gone.md"], /^--soul: there is no file \/gone\.md$/],
    ];
    for (const [args, expected] of cases) {
      const problems = problemsOn({ args: [...args, ...defaultVault(args)] });

      equal(problems.length, 1, `${args.join(" ")}: ${problems.join("\n")}`);
      ok(expected.test(problems[0] ?? ""), `${args.join(" ")}: ${problems[0]}`);
    }
  });

  it("loadConfig() lets a state lie beside a vault whose name begins alike", () => {
    const config = loadOn({ args: ["--vault=/vault", "--state=/vault2"], folders: ["/vault2"] });

    equal(config.state, "/vault2");
  });

  it("loadConfig() finds a state inside the vault behind a link", () => {
    const problems = problemsOn({
      args: ["--vault", "/vault", "--state", "/alias/state"],
      folders: ["/alias"],
      links: { "/alias": "/vault/deep" },
    });

    ok(problems[0]?.startsWith("--state must not lie inside the vault"), problems[0]);
  });

  it("loadConfig() refuses a vault that holds the default state", () => {
    const problems = problemsOn({ args: ["--vault", "~"] });

    equal(problems.length, 1);
    ok(problems[0]?.startsWith("The default state must not lie inside the vault: "), problems[0]);
  });

  it("loadConfig() accepts a missing vault with --init, and never a file", () => {
    const config = loadOn({ args: ["--vault", "/new/one", "--init"] });
    const problems = problemsOn({ args: ["--vault", "/f", "--init"], files: { "/f": "" } });

    equal(config.vault, "/new/one");
    deepEqual(problems, ["--vault: /f is no folder"]);
  });

  it("loadConfig() takes USERPROFILE where HOME is not set", () => {
    const config = loadOn({ env: { HOME: "", USERPROFILE: "/home/ada" } });

    equal(config.vault, "/home/ada/.commonplace/vault");
  });

  it("loadConfig() needs a home only for what lies in it", () => {
    const homeless = { HOME: "" };
    const both = ["--vault", "/vault", "--state", "/state"];

    equal(loadOn({ env: homeless, args: both }).state, "/state");
    deepEqual(problemsOn({ env: homeless }), [
      "There is no vault: neither HOME nor USERPROFILE is set; pass --vault DIR",
    ]);
    deepEqual(problemsOn({ env: homeless, args: ["--vault", "/vault"] }), [
      "There is no state: neither HOME nor USERPROFILE is set; pass --state DIR",
    ]);
    deepEqual(problemsOn({ env: homeless, args: ["--vault", "~/v"] }), [
      '--vault: "~" stands for nothing, as neither HOME nor USERPROFILE is set',
    ]);
  });

  it("loadConfig() refuses what it does not know in the configuration file", () => {
    const cases: [string, string][] = [
      ['{"prot": 1}', '"prot" in /c.json is not a known setting; did you mean port?'],
      ['{"config": "x"}', '"config" in /c.json is not a known setting'],
      ['{"__proto__": 1}', '"__proto__" in /c.json is not a known setting'],
      ['{"port": []}', '"port" in /c.json must be a text or a number'],
      ['{"init": 1}', '"init" in /c.json must be true or false'],
      ['{"exclude": ["a", 1]}', '"exclude" in /c.json must be a list of texts'],
      ['{"port": 70000}', '"port" in /c.json must be a whole number from 0 to 65535, not "70000"'],
      ["[]", "/c.json must hold one JSON object"],
      ["null", "/c.json must hold one JSON object"],
    ];
    for (const [text, expected] of cases) {
      const problems = problemsOn({ args: ["--config", "/c.json"], files: { "/c.json": text } });

      deepEqual(problems, [expected], text);
    }
  });

  it("loadConfig() tells where the file's JSON breaks and quotes nothing of it", () => {
    const files = { "/c.json": `{\n  "token": "${TOKEN}" "port": 1\n}` };

    const [problem = ""] = problemsOn({ args: ["--config", "/c.json"], files });

    ok(/^\/c\.json is not valid JSON \(line 2 column \d+\)$/.test(problem), problem);
  });
});

/** Keeps the case at hand the only problem. */
function defaultVault(args: readonly string[]): string[] {
  return args.some((arg) => arg.startsWith("--vault") || arg === "--" || arg === "--soul")
    ? []
    : ["--vault", "/vault"];
}

describe("ENV_NAMES", () => {
  it("ENV_NAMES lists each name that may be read, once", () => {
    equal(new Set(ENV_NAMES).size, ENV_NAMES.length);
    for (const name of ["COMMONPLACE_MEMORIES_FOLDER", "MARCH_MEMORY_ROOT", "HOME", "PATH"]) {
      ok(ENV_NAMES.includes(name), name);
    }
  });
});
