import { deepStrictEqual as deepEqual } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { checkJournal } from "@/lib/cli/check_journal.ts";
import { testServices } from "../_support/services.ts";
import type { Files } from "../_support/temp_vault.ts";

async function faultsOf(files: Files): Promise<string[]> {
  await using services = await testServices(files);
  const faults = await checkJournal(services);
  return faults.map(({ path, line, message }) => `${path} ${line ?? "-"} ${message}`);
}

describe("checkJournal()", () => {
  it("checkJournal() finds nothing wrong with files that are missing, empty or well", async () => {
    deepEqual(await faultsOf({}), []);
    deepEqual(await faultsOf({ "profile.md": "", "session-log.md": "---\na: b\n---\n" }), []);
    deepEqual(
      await faultsOf({
        "profile.md": "# Profile\n\n## Writing\n- Short\n",
        "rules.md": "# Rules\n\n## Rule list\n\n- [R001] Test first\n",
        "session-log.md": "2025-01-01 | task | done\n",
        "audit-log.md": "# Audits\n",
        "projects/a.md": "# A\n\n## Status\nDone\n",
      }),
      [],
    );
  });

  it("checkJournal() says what is not understood, and where", async () => {
    const twice = "# P\n\n## Status\nDone\n\n## Status\nNot done\n";
    const faults = await faultsOf({
      "profile.md": "# Profile\n\n## Writing\n- Short\n\n## Writing\n- Long\n",
      "rules.md": "no heading\n",
      "session-log.md": "<<<<<<< HEAD\n2025-01-01 | task | done\n",
      "session-log.archive.md": "some text\n",
      "audit-log.md": new Uint8Array([0xff, 0xfe, 0x41]),
      "projects/a.md": twice,
      "projects/archive/b.md": twice,
      "projects/well.md": "# Well\n",
      "notes/profile.md": "no heading\n",
    });

    deepEqual(faults, [
      "profile.md 6 a second section of the same name: make one of the two",
      "rules.md - it has no heading: give it those that its kind has",
      "session-log.md 1 a merge is not finished: choose what is to stay",
      "session-log.archive.md - it has neither a heading nor a line such as 2026-05-14 | type | summary",
      "audit-log.md - it is no UTF-8 text: save it as UTF-8",
      "projects/a.md 6 a second section of the same name: make one of the two",
      "projects/archive/b.md 6 a second section of the same name: make one of the two",
    ]);
  });
});
