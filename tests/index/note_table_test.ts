import { deepStrictEqual as deepEqual } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { parseVaultPath } from "@/lib/vault/vault_path.ts";
import { type TestServices, testServices } from "@/tests/_support/services.ts";
import type { Files } from "@/tests/_support/temp_vault.ts";

const SYNCTHING = "a.sync-conflict-20260101-101010-ABCDEFG.md";
const DROPBOX = "a (Ann's conflicted copy 2026-01-01).md";
const ICLOUD = "a 2.md";

const memory = (id: string) => `---\nid: ${id}\ndescription: D\n---\nbody\n`;

async function indexed(files: Files): Promise<TestServices> {
  const services = await testServices(files);
  await services.ready();
  return services;
}

describe("claimantsOf()", () => {
  const cases: Record<string, readonly [files: Files, expected: readonly string[]]> = {
    "one memory": [{ "a.md": memory("m1"), "b.md": memory("m2") }, ["a.md"]],
    "several, by path": [
      { "z.md": memory("m1"), "b/c.md": memory("m1"), "b.md": memory("m1") },
      ["b.md", "b/c.md", "z.md"],
    ],
    "not the copies of sync tools": [
      {
        "a.md": memory("m1"),
        [SYNCTHING]: memory("m1"),
        [DROPBOX]: memory("m1"),
        [ICLOUD]: memory("m1"),
      },
      ["a.md"],
    ],
    "not a copy whose original has moved": [
      { "z.md": memory("m1"), [DROPBOX]: memory("m1") },
      ["z.md"],
    ],
    "copies whose original is gone": [
      { [SYNCTHING]: memory("m1"), [DROPBOX]: memory("m1") },
      [DROPBOX, SYNCTHING],
    ],
    "a copy whose original has another id": [
      { "a.md": memory("m2"), [DROPBOX]: memory("m1") },
      [DROPBOX],
    ],
    "no plain note that has its path for an id": [{ "m1": "x", "m1.md": "x" }, []],
    "nothing": [{}, []],
  };
  for (const [what, [files, expected]] of Object.entries(cases)) {
    it(`claimantsOf() gives ${what}`, async () => {
      await using services = await indexed(files);

      deepEqual(services.index.claimantsOf("m1"), expected);
    });
  }

  it("claimantsOf() follows what changes", async () => {
    await using services = await indexed({ "a.md": memory("m1"), "b.md": memory("m1") });
    const claimants = async () => {
      await services.index.refresh();
      return services.index.claimantsOf("m1");
    };

    deepEqual(await claimants(), ["a.md", "b.md"]);
    services.write("a.md", memory("m2"));
    deepEqual(await claimants(), ["b.md"]);
    services.remove("b.md");
    deepEqual(await claimants(), []);
  });
});

describe("copiesOf()", () => {
  const cases: Record<string, readonly [files: Files, expected: readonly string[]]> = {
    "those of a memory, by path": [
      {
        "a.md": memory("m1"),
        [SYNCTHING]: memory("m1"),
        [DROPBOX]: memory("m9"),
        [ICLOUD]: memory("m1"),
      },
      [DROPBOX, ICLOUD, SYNCTHING],
    ],
    "those of a plain note": [{ "a.md": "x", [SYNCTHING]: "x", [ICLOUD]: "x" }, [SYNCTHING]],
    "nothing that only has a number": [{ "a.md": memory("m1"), [ICLOUD]: memory("m2") }, []],
    "nothing that lies elsewhere": [{ "a.md": memory("m1"), [`x/${SYNCTHING}`]: "x" }, []],
    "nothing for a copy": [{ [SYNCTHING]: memory("m1"), [DROPBOX]: memory("m1") }, []],
  };
  for (const [what, [files, expected]] of Object.entries(cases)) {
    it(`copiesOf() gives ${what}`, async () => {
      await using services = await indexed(files);

      deepEqual(services.index.copiesOf(parseVaultPath("a.md")), expected);
      deepEqual(services.index.copiesOf(parseVaultPath(SYNCTHING)), []);
    });
  }

  it("copiesOf() gives those of a memory that has moved away from them", async () => {
    await using services = await indexed({ "a.md": memory("m1"), [SYNCTHING]: memory("m1") });

    await Deno.mkdir(services.pathOf("x"));
    await Deno.rename(services.pathOf("a.md"), services.pathOf("x/b.md"));
    await services.index.refresh();

    deepEqual(services.index.copiesOf(parseVaultPath("x/b.md")), [SYNCTHING]);
    deepEqual(services.index.copiesOf(parseVaultPath("a.md")), []);
  });
});
