import { deepStrictEqual as deepEqual, rejects, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { join } from "node:path";
import { AppError } from "@/lib/errors.ts";
import {
  dropProjection,
  type LinkRecord,
  listProjections,
  putProjection,
} from "@/lib/projection/projection_record.ts";
import { withProjectionLock } from "@/lib/projection/projection_lock.ts";
import { listAll, tempVault } from "../_support/temp_vault.ts";

const link = (target: string): LinkRecord => ({
  agent: "claude",
  mode: "SYMLINK",
  scope: "project",
  target,
  vault: "/vault",
  decidedAt: "2026-01-01T00:00:00.000Z",
  folders: [],
  store: "/vault/memories/projects/x",
  kept: [],
  isDone: true,
});
const PATH = ".commonplace/projections.json";

describe("putProjection()", () => {
  it("putProjection() replaces what is on record of the same agent and target", async () => {
    await using home = await tempVault({});
    await putProjection(home.root, link("/a"));
    await putProjection(home.root, link("/b"));

    await putProjection(home.root, { ...link("/a"), kept: ["/k"] });

    deepEqual(await listProjections(home.root), [link("/b"), { ...link("/a"), kept: ["/k"] }]);
    for (const [path, mode] of [[PATH, 0o600], [".commonplace", 0o700]] as const) {
      equal(((await Deno.stat(home.pathOf(path))).mode ?? 0) & 0o777, mode);
    }
  });

  it("putProjection() loses nothing where several write at once", async () => {
    await using home = await tempVault({});
    await putProjection(home.root, link("/first"));

    await Promise.all(
      ["/a", "/b", "/c"].map((target) =>
        withProjectionLock(home.root, () => putProjection(home.root, link(target)))
      ),
    );

    deepEqual(
      (await listProjections(home.root)).map(({ target }) => target).sort(),
      ["/a", "/b", "/c", "/first"],
    );
  });

  for (
    const [name, text] of [
      ["half a file", '{"format": 1, "projections": ['],
      ["a newer format", '{"format": 2, "projections": []}'],
      ["entries that are none", '{"format": 1, "projections": [{"agent": "claude"}]}'],
      ["another program's file", "[]"],
    ] as const
  ) {
    it(`putProjection() never writes over ${name}`, async () => {
      await using home = await tempVault({ [PATH]: text });
      const isRefused = (error: unknown) =>
        error instanceof AppError &&
        error.message.includes("is no record of what agents are shown");

      await rejects(listProjections(home.root), isRefused);
      await rejects(putProjection(home.root, link("/a")), isRefused);
      await rejects(dropProjection(home.root, link("/a")), isRefused);

      equal(await Deno.readTextFile(home.pathOf(PATH)), text);
    });
  }
});

describe("dropProjection()", () => {
  it("dropProjection() removes the file with the last one, and the folder if it is empty", async () => {
    await using home = await tempVault({ ".commonplace/config.json": "{}" });
    await putProjection(home.root, link("/a"));
    await dropProjection(home.root, link("/a"));
    deepEqual(listAll(home.root), [".commonplace/", ".commonplace/config.json"]);

    await Deno.remove(join(home.root, ".commonplace/config.json"));
    await putProjection(home.root, link("/a"));
    await dropProjection(home.root, link("/a"));
    deepEqual(listAll(home.root), []);
    await dropProjection(home.root, link("/a"));
  });
});
