import {
  deepStrictEqual as deepEqual,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { join } from "node:path";
import { type CredentialSeams, parseCredential, readCredential } from "@/lib/embed/credential.ts";
import { EmbeddingUnavailable } from "@/lib/embed/embedder.ts";
import { type ProgramResult, type ProgramRun, runProgram } from "@/lib/embed/run_program.ts";

const KEY = "sk-test-12345";

function seamsOf(seams: Partial<CredentialSeams> = {}): CredentialSeams {
  return { env: new Map(), platform: "linux", run: () => Promise.resolve(undefined), ...seams };
}

/** The message, after it is sure that it shows no key. */
async function failureOf(reading: Promise<string>): Promise<string> {
  let message = "";
  await rejects(reading, (error: Error) => {
    ok(error instanceof EmbeddingUnavailable);
    message = error.message;
    return true;
  });
  ok(!message.includes("sk-test"), message);
  return message;
}

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** A folder for `PATH` that holds one program. */
async function putProgram(folder: string, name: string, lines: readonly string[]): Promise<void> {
  const path = join(folder, name);
  await Deno.writeTextFile(path, ["#!/bin/sh", ...lines].join("\n"));
  await Deno.chmod(path, 0o755);
}

describe("credential", () => {
  const references: readonly [string, ReturnType<typeof parseCredential>][] = [
    ["env:OPENAI_API_KEY", { from: "env", name: "OPENAI_API_KEY" }],
    ["env:sk-test-12345", undefined],
    ["env:", undefined],
    ["file:/home/ada/key", { from: "file", path: "/home/ada/key" }],
    ["file:key", undefined],
    ["keychain:api.openai.com/ada", {
      from: "keychain",
      service: "api.openai.com",
      account: "ada",
    }],
    ["keychain:voyage/team/ada", { from: "keychain", service: "voyage", account: "team/ada" }],
    ["keychain:voyage", undefined],
    ["keychain:/ada", undefined],
    ["keychain:voyage/", undefined],
    ["keychain:--help/ada", undefined],
    ["keychain:voyage/--help", undefined],
    ["keychain:voy\nage/ada", undefined],
    ["sk-test-12345", undefined],
    ["", undefined],
  ];
  for (const [text, credential] of references) {
    it(`parseCredential() reads ${JSON.stringify(text)}`, () => {
      deepEqual(parseCredential(text), credential);
    });
  }

  it("readCredential() refuses what is no reference without showing it", async () => {
    const message = await failureOf(readCredential(KEY, seamsOf()));

    ok(message.includes("--embedding-credential"));
  });

  it("readCredential() takes a variable, without the line end", async () => {
    const env = new Map([["VOYAGE_API_KEY", `${KEY}\n`]]);

    const key = await readCredential("env:VOYAGE_API_KEY", seamsOf({ env }));

    equal(key, KEY);
  });

  for (const value of [undefined, ""]) {
    it(`readCredential() names a variable that is ${value === "" ? "empty" : "missing"}`, async () => {
      const env = new Map(value === undefined ? [] : [["VOYAGE_API_KEY", value]]);

      const message = await failureOf(readCredential("env:VOYAGE_API_KEY", seamsOf({ env })));

      ok(message.includes("VOYAGE_API_KEY is not set"));
    });
  }

  for (const value of [`${KEY} `, `${KEY}\r\nx: y`, `${KEY}\0`, `${KEY}ü`, "\n", `${KEY}\n\n`]) {
    it(`readCredential() refuses ${JSON.stringify(value)}, which fits in no header`, async () => {
      const env = new Map([["KEY", value]]);

      const message = await failureOf(readCredential("env:KEY", seamsOf({ env })));

      ok(message.includes("the variable KEY is no key"));
    });
  }

  const isUnix = Deno.build.os !== "windows";

  it("readCredential() takes a file that is its owner's alone", async () => {
    await withFolder(async (folder) => {
      const path = join(folder, "key");
      await Deno.writeTextFile(path, `${KEY}\r\n`, { mode: 0o600 });

      equal(await readCredential(`file:${path}`, seamsOf()), KEY);
    });
  });

  for (const mode of [0o640, 0o604, 0o620, 0o602]) {
    it(`readCredential() says how to close a file of mode ${mode.toString(8)}`, {
      skip: !isUnix,
    }, async () => {
      await withFolder(async (folder) => {
        const path = join(folder, "the key");
        await Deno.writeTextFile(path, KEY);
        await Deno.chmod(path, mode);

        const message = await failureOf(readCredential(`file:${path}`, seamsOf()));

        ok(message.includes(`run chmod 600 '${path}'`), message);
      });
    });
  }

  it("readCredential() says that a file is missing, a folder, or far too long", async () => {
    await withFolder(async (folder) => {
      const long = join(folder, "long");
      await Deno.writeTextFile(long, "x".repeat(20_000), { mode: 0o600 });

      const missing = await failureOf(readCredential(`file:${folder}/none`, seamsOf()));
      const isFolder = await failureOf(readCredential(`file:${folder}`, seamsOf()));
      const tooLong = await failureOf(readCredential(`file:${long}`, seamsOf()));

      ok(missing.includes("is not there"));
      ok(isFolder.includes("is no key"));
      ok(tooLong.includes("is no key"));
    });
  });

  const platforms: readonly [CredentialSeams["platform"], string, readonly string[]][] = [
    ["darwin", "security", ["find-generic-password", "-s", "voyage", "-a", "team/ada", "-w"]],
    ["linux", "secret-tool", ["lookup", "service", "voyage", "account", "team/ada"]],
  ];
  for (const [platform, program, args] of platforms) {
    it(`readCredential() asks ${program} on ${platform}`, { skip: !isUnix }, async () => {
      await withFolder(async (folder) => {
        await putProgram(folder, program, []);
        const runs: ProgramRun[] = [];
        const run = (each: ProgramRun) => {
          runs.push(each);
          return Promise.resolve({ code: 0, stdout: `${KEY}\n` });
        };
        const env = new Map([["PATH", folder], ["HOME", "/home/ada"]]);

        const key = await readCredential(
          "keychain:voyage/team/ada",
          seamsOf({ env, platform, run }),
        );

        equal(key, KEY);
        equal(runs.length, 1);
        equal(runs[0]?.path, join(folder, program));
        deepEqual(runs[0]?.args, args);
        equal(runs[0]?.env.HOME, "/home/ada");
      });
    });
  }

  it("readCredential() hands service and account to PowerShell in the environment", {
    skip: !isUnix,
  }, async () => {
    await withFolder(async (folder) => {
      await putProgram(folder, "powershell", []);
      const runs: ProgramRun[] = [];
      const run = (each: ProgramRun) => {
        runs.push(each);
        return Promise.resolve({ code: 0, stdout: KEY });
      };
      const env = new Map([["Path", folder]]);

      const key = await readCredential(
        "keychain:voyage/$(whoami)",
        seamsOf({ env, platform: "windows", run }),
      );

      equal(key, KEY);
      equal(runs[0]?.env.COMMONPLACE_KEY_SERVICE, "voyage");
      equal(runs[0]?.env.COMMONPLACE_KEY_ACCOUNT, "$(whoami)");
      ok(!runs[0]?.args.join(" ").includes("whoami"));
    });
  });

  const results: readonly [string, ProgramResult | undefined, RegExp][] = [
    ["does not end", undefined, /secret-tool did not give the key within 10 s/],
    ["finds nothing", { code: 1, stdout: "" }, /finds no key in the key chain as "voyage\/ada"/],
    ["fails over a key", { code: 1, stdout: KEY }, /finds no key/],
    ["gives two lines", { code: 0, stdout: `${KEY}\n${KEY}\n` }, /is no key/],
  ];
  for (const [name, result, words] of results) {
    it(`readCredential() says so when the key chain ${name}`, { skip: !isUnix }, async () => {
      await withFolder(async (folder) => {
        await putProgram(folder, "secret-tool", []);
        const env = new Map([["PATH", folder]]);
        const run = () => Promise.resolve(result);

        const message = await failureOf(
          readCredential("keychain:voyage/ada", seamsOf({ env, run })),
        );

        ok(words.test(message), message);
      });
    });
  }

  it("readCredential() says which program is missing, and what else can be done", async () => {
    const message = await failureOf(readCredential("keychain:voyage/ada", seamsOf()));

    ok(/secret-tool is not on the search path: install libsecret-tools/.test(message));
  });

  it("runProgram() returns what a program prints, and gives it no more than it should see", {
    skip: !isUnix,
  }, async () => {
    await withFolder(async (folder) => {
      await putProgram(folder, "tell", ['echo "$1 ${HOME:-no home} $WHO"', "exit 3"]);

      const result = await runProgram({
        path: join(folder, "tell"),
        args: ["a; b"],
        env: { WHO: "ada" },
        limitMs: 5_000,
      });

      deepEqual(result, { code: 3, stdout: "a; b no home ada\n" });
    });
  });

  it("runProgram() gives up a program that does not end, and one that is not there", {
    skip: !isUnix,
  }, async () => {
    await withFolder(async (folder) => {
      // The child of it holds the output open.
      await putProgram(folder, "wait", ["sleep 2"]);
      const run = (name: string) =>
        runProgram({
          path: join(folder, name),
          args: [],
          env: { PATH: "/usr/bin:/bin" },
          limitMs: 50,
        });

      equal(await run("wait"), undefined);
      equal(await run("none"), undefined);
    });
  });
});
