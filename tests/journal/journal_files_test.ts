import { deepStrictEqual as deepEqual, match, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { listProjectNotes, PROFILE_PATH, readJournalFile } from "@/lib/journal/journal_files.ts";
import { testServices } from "../_support/services.ts";

describe("readJournalFile()", () => {
  it("tells what is absent, what is read and what is left alone, and why", async () => {
    await using services = await testServices();
    const read = () => readJournalFile(services, PROFILE_PATH);

    const absent = await read();
    services.write("profile.md", "# A\n");
    const there = await read();
    services.write("profile.md", new Uint8Array([0xff, 0xfe, 0x61, 0]));
    const binary = await read();
    services.write("profile.md", "# A\n```\n");
    const open = await read();
    services.remove("profile.md");
    await Deno.mkdir(services.pathOf("profile.md"));
    const folder = await read();

    deepEqual([absent, there, binary, open, folder].map(({ state }) => state), [
      "absent",
      "read",
      "unread",
      "unread",
      "unread",
    ]);
    match(open.state === "unread" ? open.reason : "", /line 2: what begins here is never closed/);
    equal(typeof there.etag, "string");
  });
});

describe("listProjectNotes()", () => {
  it("lists notes, and no conflict copies, folders, hidden or other files", async () => {
    await using services = await testServices({
      "projects/b.md": "",
      "projects/a.MD": "",
      "projects/a (conflict 2026-05-14 10.30.00).md": "",
      "projects/.hidden.md": "",
      "projects/c.txt": "",
      "projects/archive/d.md": "",
    });

    deepEqual(await listProjectNotes(services.vault), ["projects/a.MD", "projects/b.md"]);
  });

  it("lists none where there is no such folder", async () => {
    await using services = await testServices();

    deepEqual(await listProjectNotes(services.vault), []);
  });
});
