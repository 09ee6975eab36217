import { deepStrictEqual as deepEqual, match, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { BeginTaskInput } from "@/lib/contracts_journal.ts";
import { beginTask } from "@/lib/tasks/begin_task.ts";
import { testServices } from "@/tests/_support/services.ts";
import { change, leaveRecord } from "@/tests/_support/together_world.ts";

const AGENT = { kind: "agent", loopback: true } as const;

describe("notices of begin_task", () => {
  it("tell once of a write that a crash had cut off, and what became of it", async () => {
    await using services = await testServices({ "profile.md": "old", "rules.md": "mine by now" });
    await leaveRecord(services, {
      changes: [change("profile.md", "# P\n", "old"), change("rules.md", "# R\n", "as it was")],
      moves: [],
    });
    services.start();
    const begin = () => beginTask(services, AGENT, BeginTaskInput.parse({}));

    const [first, second] = [await begin(), await begin()];

    equal(await Deno.readTextFile(services.pathOf("profile.md")), "# P\n");
    equal(await Deno.readTextFile(services.pathOf("rules.md")), "mine by now");
    const [notice = ""] = first.notices ?? [];
    match(
      notice,
      /^A write that was cut off has been finished: profile\.md; somebody had changed .* is in rules \(conflict .*\)\.md$/,
    );
    deepEqual(second.notices?.filter((text) => text === notice) ?? [], []);
  });
});
