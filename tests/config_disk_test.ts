import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { loadConfig } from "@/lib/config.ts";
import { systemDisk } from "@/lib/config_disk.ts";
import { loadOn, problemsOn, TOKEN, type World } from "./_support/config_machine.ts";

describe("loadConfig() with a token", () => {
  it("loadConfig() reads it from a variable or a file and trims it", () => {
    const variable = loadOn({
      args: ["--token", "env:AGENT_KEY"],
      env: { AGENT_KEY: ` ${TOKEN}\n` },
    });
    const file = loadOn({
      args: ["--token", "file:~/key"],
      files: { "/home/ada/key": `${TOKEN}\n` },
    });

    deepEqual([variable.token, file.token], [TOKEN, TOKEN]);
  });

  it("loadConfig() knows a COMMONPLACE_ variable that the token names", () => {
    const config = loadOn({
      args: ["--token", "env:COMMONPLACE_AGENT_KEY"],
      env: { COMMONPLACE_AGENT_KEY: TOKEN },
    });

    equal(config.token, TOKEN);
  });

  it("loadConfig() refuses a token that is none and never shows it", () => {
    const secrets = [
      "short",
      "0123456789 abcdef",
      "密码密码密码密码密码密码密码密码",
      `${TOKEN}\n${TOKEN}`,
    ];
    for (const secret of secrets) {
      const problems = problemsOn({ args: ["--token", secret] });

      equal(problems.length, 1, secret);
      ok(problems[0]?.startsWith("--token must be at least 16 visible ASCII characters"));
      ok(!problems[0]?.includes(secret));
    }
  });

  it("loadConfig() refuses a reference that leads to no token", () => {
    const cases: [World, string][] = [
      [
        { args: ["--token", "env:NONE"] },
        '--token: the environment variable "NONE" is not set or empty',
      ],
      [{ args: ["--token", "file:/gone"] }, "--token: there is no file /gone"],
      [
        { args: ["--token", "file:/empty"], files: { "/empty": " \n" } },
        "--token: the file /empty is empty",
      ],
      [{ env: { COMMONPLACE_TOKEN: "" } }, "COMMONPLACE_TOKEN must not be empty"],
    ];
    for (const [world, expected] of cases) {
      const problems = problemsOn(world);

      ok(problems.includes(expected), problems.join("\n"));
    }
  });

  it("loadConfig() refuses a file that others may read, with the way out", () => {
    for (const mode of [0o640, 0o604, 0o620, 0o777]) {
      const problems = problemsOn({
        args: ["--token", "file:/key"],
        files: { "/key": TOKEN },
        modes: { "/key": 0o100000 | mode },
      });

      deepEqual(problems, ["--token: others may read or write /key: run chmod 600 /key"]);
    }
  });

  it("loadConfig() refuses a plain token in a configuration file that others may read", () => {
    const world = { args: ["--config", "/c.json"], modes: { "/c.json": 0o100644 } };
    const plain = { "/c.json": `{"token": "${TOKEN}"}` };
    const reference = { "/c.json": '{"token": "env:KEY"}' };

    deepEqual(problemsOn({ ...world, files: plain }), [
      "/c.json holds a token and others may read it: run chmod 600 /c.json",
    ]);
    equal(loadOn({ ...world, files: reference, env: { KEY: TOKEN } }).token, TOKEN);
  });

  it("loadConfig() needs one exactly for a host beyond loopback", () => {
    const remote = ["0.0.0.0", "::", "192.168.1.4", "notes.example", "127.0.0.1.example"];
    const local = ["127.0.0.1", "127.8.9.10", "::1", "localhost"];
    for (const host of remote) {
      const [problem = ""] = problemsOn({ args: ["--host", host] });

      ok(problem.startsWith(`--host ${host} can be reached from other machines`), problem);
      equal(loadOn({ args: ["--host", host, "--token", TOKEN] }).host, host);
    }
    for (const host of local) equal(loadOn({ args: ["--host", host] }).host, host);
  });
});

describe("systemDisk", () => {
  it("systemDisk serves loadConfig() with what is on the disk", async () => {
    const home = await Deno.makeTempDir();
    try {
      await Deno.mkdir(`${home}/vault`);
      await Deno.symlink(`${home}/vault`, `${home}/alias`);
      await Deno.writeTextFile(`${home}/key`, TOKEN, { mode: 0o600 });
      const env = new Map([["HOME", home]]);
      const args = ["--vault=~/alias", "--token=file:~/key"];

      const config = loadConfig({ ...systemDisk, args, env, cwd: home });
      const direct = loadConfig({ ...systemDisk, args: ["--vault=~/vault"], env, cwd: home });

      deepEqual([config.vault, config.token], [`${home}/alias`, TOKEN]);
      equal(config.state, direct.state);
    } finally {
      await Deno.remove(home, { recursive: true });
    }
  });

  it("systemDisk answers undefined below a file as for what is missing", async () => {
    const file = await Deno.makeTempFile();
    try {
      equal(systemDisk.stat(`${file}/below`), undefined);
      equal(systemDisk.readTextFile(`${file}/below`), undefined);
      equal(systemDisk.realPath(`${file}.gone`), undefined);
    } finally {
      await Deno.remove(file);
    }
  });
});
