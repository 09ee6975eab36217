import { deepStrictEqual as deepEqual, rejects } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { type Caller, GLOBAL_SCOPE_ID } from "@/lib/contracts.ts";
import { IndexNotReady } from "@/lib/errors.ts";
import { readStores } from "@/lib/memories/stores.ts";
import { testServices } from "../_support/services.ts";

const caller: Caller = { kind: "agent", loopback: true };
const ULID = "01M5F8NPFPTHR0BP2HWPM2GVCZ";

describe("readStores()", () => {
  it("readStores() counts notes, memories, chunks, files and bytes of each store", async () => {
    const memory = "---\nid: m\ndescription: d\n---\nbody\n";
    await using world = await testServices({
      "memories/a.md": memory,
      "memories/MEMORY.md": "- [a](a.md) — d\n",
      [`memories/projects/${ULID}/b.md`]: "plain\n",
      "note.md": "plain\n",
    });
    await world.ready();

    const { stores } = await readStores(world, caller);

    const byId = new Map(stores.map((store) => [store.id, store]));
    deepEqual(byId.get(GLOBAL_SCOPE_ID), {
      scope: "global",
      id: GLOBAL_SCOPE_ID,
      folder: "memories",
      notes: 1,
      memories: 1,
      chunks: 1,
      files: 2,
      bytes: memory.length + new TextEncoder().encode("- [a](a.md) — d\n").length,
    });
    deepEqual([byId.get(ULID)?.scope, byId.get(ULID)?.notes], ["project", 1]);
    deepEqual([byId.get("")?.scope, byId.get("")?.files], ["vault", 1]);
  });

  it("readStores() fails clearly when the vault is away", async () => {
    await using world = await testServices({ "a.md": "x" });
    await world.ready();

    await Deno.rename(world.root, `${world.root}-away`);
    const reading = rejects(readStores(world, caller), IndexNotReady);
    await reading;
    await Deno.rename(`${world.root}-away`, world.root);
  });
});
