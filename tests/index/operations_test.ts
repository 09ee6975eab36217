import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import type { Caller } from "@/lib/contracts.ts";
import { readDiagnostics, readHealth, reindex } from "@/lib/index/operations.ts";
import { testServices } from "../_support/services.ts";

const caller: Caller = { kind: "agent", loopback: true };
const FILES = {
  "ok.md": "fine",
  "broken.md": "---\na: b: c\n---\nzebra\n",
  "twice.md": "---\na: 1\na: 2\n---\nzebra\n",
  "memories/m.md": "---\nid: m\nname: n\n---\nno description\n",
};

describe("readHealth()", () => {
  it("readHealth() tells progress while the vault is read, and counts afterwards", async () => {
    await using world = await testServices(FILES);
    world.start();

    const early = readHealth(world, caller);
    await world.ready();
    const late = readHealth(world, caller);

    deepEqual(Object.keys(early.indexing ?? {}), ["done", "total"]);
    deepEqual([late.notes, late.memories, late.indexing, late.status], [4, 1, null, "ok"]);
  });

  it("readHealth() is degraded while the vault cannot be read", async () => {
    await using world = await testServices(FILES);
    await world.ready();

    await Deno.rename(world.root, `${world.root}-away`);
    await world.index.refresh();
    const health = readHealth(world, caller);
    await Deno.rename(`${world.root}-away`, world.root);

    equal(health.status, "degraded");
    equal(health.notes, 4);
  });
});

describe("readDiagnostics()", () => {
  it("readDiagnostics() lists what is wrong by path, with line and reason", async () => {
    await using world = await testServices(FILES);
    await world.ready();

    const all = await readDiagnostics(world, caller, { limit: 10 });
    const one = await readDiagnostics(world, caller, { limit: 1 });
    const some = await readDiagnostics(world, caller, { limit: 9, reason: "missing-description" });

    deepEqual(all.diagnostics.map(({ path, reason }) => [path, reason]), [
      ["broken.md", "frontmatter-bad-yaml"],
      ["memories/m.md", "missing-description"],
      ["twice.md", "frontmatter-duplicate-key"],
    ]);
    equal(all.diagnostics[0]?.line, 2);
    deepEqual([one.total, one.diagnostics.length], [3, 1]);
    deepEqual(some.diagnostics.map(({ path }) => path), ["memories/m.md"]);
    equal(all.byReason["frontmatter-bad-yaml"], 1);
  });
});

describe("reindex()", () => {
  it("reindex() reads every note again and keeps the index whole", async () => {
    await using world = await testServices(FILES);
    await world.ready();

    world.write("ok.md", "other");
    world.write("new.md", "new");
    world.remove("twice.md");
    const answer = await reindex(world, caller);

    deepEqual({ ...answer, tookMs: 0 }, { notes: 4, added: 1, changed: 1, removed: 1, tookMs: 0 });
    equal((await world.index.search({ text: "zebra", filter: {}, limit: 9 })).total, 1);
  });
});
