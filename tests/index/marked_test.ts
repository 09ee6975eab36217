import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { parseVaultPath } from "@/lib/vault/vault_path.ts";
import { testServices } from "../_support/services.ts";

const path = parseVaultPath;

describe("VaultIndex.markChanged()", () => {
  it("has the next refresh look at a file, where the vault is not looked through", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 10_010 }, (_, i) => [`n/${i}.md`, "note"]),
    );
    await using world = await testServices(files);
    await world.ready();
    await world.index.refresh("always");

    world.write("a.md", "# Heard of\n");
    world.write("b.md", "# Not heard of\n");
    world.index.markChanged(path("a.md"));
    const freshness = await world.index.refresh();

    ok(!freshness.verified);
    equal(world.index.find(path("a.md"))?.name, "Heard of");
    equal(world.index.find(path("b.md")), undefined);
    world.remove("a.md");
    world.index.markChanged(path("a.md"));
    await world.index.refresh();
    equal(world.index.find(path("a.md")), undefined);
    await world.index.refresh("always");
    equal(world.index.find(path("b.md"))?.name, "Not heard of");
  });
});

describe("VaultIndex.onChanged()", () => {
  it("tells of notes and derived files that came, changed or went, and not of the first load", async () => {
    await using world = await testServices({ "a.md": "a", "b.md": "b", "memories/MEMORY.md": "" });
    const told: string[][] = [];
    const stop = world.index.onChanged((paths) => told.push([...paths].sort()));
    await world.ready();
    await world.index.refresh();

    world.write("a.md", "other");
    world.remove("b.md");
    world.write("c.md", "new");
    await world.index.refresh();
    await world.index.refresh();
    world.write("memories/MEMORY.md", "changed");
    await world.index.refresh();
    world.remove("memories/MEMORY.md");
    await world.index.refresh();
    stop();
    world.write("d.md", "new");
    await world.index.refresh();

    deepEqual(told, [["a.md", "b.md", "c.md"], ["memories/MEMORY.md"], ["memories/MEMORY.md"]]);
  });

  it("tells how notes were and are, once each, and nothing of those that stayed the same", async () => {
    const memory = (id: string, body: string) => `---\nid: ${id}\nname: N\n---\n${body}\n`;
    await using world = await testServices({ "a.md": memory("m1", "one"), "b.md": "b" });
    await world.ready();
    const told: unknown[][] = [];
    world.index.onChanged((_paths, edits) =>
      told.push(edits.map(({ path, before, after }) => [path, before?.id, after?.id]).sort())
    );

    world.write("a.md", memory("m2", "two"));
    world.write("c.md", memory("m3", "three"));
    await world.index.refresh();
    world.remove("a.md");
    world.write("moved.md", memory("m2", "two"));
    await world.index.refresh();
    world.write("b.md", "b");
    await world.index.refresh();

    deepEqual(told, [
      [["a.md", "m1", "m2"], ["c.md", undefined, "m3"]],
      [["a.md", "m2", undefined], ["moved.md", undefined, "m2"]],
    ]);
  });
});
