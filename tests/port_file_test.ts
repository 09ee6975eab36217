import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "@std/testing/bdd";
import { type PortFile, readPortFile, removePortFile, writePortFile } from "@/lib/port_file.ts";

const CONTENT: PortFile = {
  id: "a0",
  pid: 1,
  host: "127.0.0.1",
  port: 8787,
  version: "0.1.0",
  startedAt: "2026-01-01T00:00:00.000Z",
};

async function withFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await use(join(folder, "deep", "state"));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function read(folder: string): Promise<unknown> {
  return JSON.parse(await Deno.readTextFile(join(folder, "server.json")));
}

async function listNames(folder: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
}

describe("writePortFile()", () => {
  it("writePortFile() creates folder and file for this person alone", () =>
    withFolder(async (folder) => {
      await writePortFile(folder, CONTENT);

      deepEqual(await read(folder), CONTENT);
      deepEqual(await listNames(folder), ["server.json"]);
      if (Deno.build.os === "windows") return;
      equal(((await Deno.stat(join(folder, "server.json"))).mode ?? 0) & 0o777, 0o600);
      equal(((await Deno.stat(folder)).mode ?? 0) & 0o777, 0o700);
    }));

  it("writePortFile() replaces the file of an earlier server", () =>
    withFolder(async (folder) => {
      await writePortFile(folder, CONTENT);
      const later = { ...CONTENT, pid: 2, port: 9000 };

      await writePortFile(folder, later);

      deepEqual(await read(folder), later);
    }));

  it("writePortFile() is not stopped by what a crash left behind", () =>
    withFolder(async (folder) => {
      await writePortFile(folder, CONTENT);
      await Deno.writeTextFile(join(folder, "server.json.1.tmp"), "half", { mode: 0o644 });

      await writePortFile(folder, CONTENT);

      deepEqual(await listNames(folder), ["server.json"]);
    }));
});

describe("removePortFile()", () => {
  it("removePortFile() removes its own file, and may run twice", () =>
    withFolder(async (folder) => {
      await writePortFile(folder, CONTENT);

      await removePortFile(folder, CONTENT);
      await removePortFile(folder, CONTENT);

      deepEqual(await listNames(folder), []);
    }));

  it("removePortFile() leaves the file of a later server", () =>
    withFolder(async (folder) => {
      const later = { ...CONTENT, pid: 2 };
      await writePortFile(folder, later);

      await removePortFile(folder, CONTENT);

      deepEqual(await read(folder), later);
    }));
});

describe("readPortFile()", () => {
  it("readPortFile() returns what was written", () =>
    withFolder(async (folder) => {
      await writePortFile(folder, CONTENT);

      deepEqual(await readPortFile(folder), CONTENT);
    }));

  it("readPortFile() returns undefined where there is none, or none that can be used", () =>
    withFolder(async (folder) => {
      equal(await readPortFile(folder), undefined);
      await writePortFile(folder, CONTENT);
      const whole = JSON.stringify(CONTENT);
      const cases = ["", "{", "[]", "null", whole.slice(0, -3), whole.replace("8787", '"8787"')];
      for (const text of cases) {
        await Deno.writeTextFile(join(folder, "server.json"), text);

        equal(await readPortFile(folder), undefined, text);
      }
    }));
});
