import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { json, serveAsking } from "@/tests/_support/ask_world.ts";
import { audit, begin, projectNote, write } from "@/tests/_support/journal_world.ts";
import { writingWorld } from "@/tests/_support/writing.ts";

const TRIGGER = "更新记忆";

describe("the project of a write-back", () => {
  it("is not another one whose name differs in a number, or has the same file", async () => {
    await using world = await writingWorld({
      "projects/phase 1-2.md": projectNote("phase 1-2"),
      "projects/a-b.md": projectNote("a-b"),
    });
    const writeOf = (project: string) => write(world, { trigger: TRIGGER, project, status: "new" });

    const numbered = await writeOf("phase 12");
    const taken = await writeOf("a/b");
    const named = await writeOf("foo.md");

    deepEqual(numbered.body.written, ["projects/phase 12.md"]);
    equal(taken.status, 400);
    match(taken.body.detail, /the note of another project has that file/);
    deepEqual(named.body.written, ["projects/foo.md"]);
  });

  it("tells a task that may only write no names", async () => {
    await using world = await serveAsking({
      "projects/SecretPlan.md": projectNote("x"),
      "projects/secretplan.md": projectNote("y"),
    });
    const task = await world.grant("write");
    const body = { trigger: TRIGGER, project: "SECRETPLAN", status: "x" };

    const init = json("POST", body, { "x-commonplace-task": task });
    const answer = await (await world.request("/api/journal/write-back", init)).json();

    match(answer.detail, /pass the exact name/);
    ok(!/SecretPlan/.test(JSON.stringify(answer)));
  });
});

describe("files that are too large for a journal", () => {
  const cases: readonly [name: string, text: string, reason: RegExp][] = [
    [
      "many bytes",
      `# P\n\n## 写作风格\n${"- a line of it\n".repeat(20_000)}`,
      /too large for a journal/,
    ],
    ["a long line", `# P\n\n## 写作风格\n- x${" ".repeat(100_000)}x\n`, /longer than 10000/],
  ];
  for (const [name, text, reason] of cases) {
    it(`are left alone and reported: ${name}`, async () => {
      await using world = await writingWorld({ "profile.md": text });

      const begun = await begin(world);
      const { body } = await write(world, {
        trigger: TRIGGER,
        profile: [{ text: "short" }],
        summary: "s",
      });

      match(begun.body.notices[0], reason);
      deepEqual(body.written, ["session-log.md"]);
      match(body.notWritten[0].reason, reason);
      equal(world.text("profile.md"), text);
    });
  }
});

describe("projects/ that is no folder of the vault", () => {
  it("is told when a task begins, by an audit and a write-back, which writes the rest", async () => {
    for (const kind of ["link", "file"] as const) {
      await using world = await writingWorld({ "elsewhere/a.md": "# a\n" });
      const place = world.pathOf("projects");
      if (kind === "link") await Deno.symlink(world.pathOf("elsewhere"), place);
      else await Deno.writeTextFile(place, "x");

      const begun = await begin(world);
      const report = await audit(world);
      const written = await write(world, {
        trigger: TRIGGER,
        project: "a",
        status: "x",
        summary: "s",
      });

      match(begun.body.notices[0], /projects/);
      equal(report.notUnderstood[0].path, "projects");
      match(report.text, /projects 无法识别，未做检查：projects/);
      deepEqual(written.body.written, ["session-log.md"], JSON.stringify(written.body));
      match(written.body.message, /projects\/a\.md 未写入：projects.*[链文]/);
    }
  });
});
