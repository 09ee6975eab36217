import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { newJournalText } from "@/lib/journal/journal_templates.ts";

const FIXTURE = new URL("../fixtures/journal/template-zh/", import.meta.url);
const DAY = "2026-05-14";

/** The headings, comments, labels and end lines of a file: all but its entries. */
function frameOf(text: string): string[] {
  return text.split("\n").filter((line) => /^(?:#|<!--|\*\*|---)|^最后更新/.test(line))
    .map((line) => line.replace(/YYYY-MM-DD|\d{4}-\d\d-\d\d/g, "*"));
}

describe("newJournalText()", () => {
  const files = [
    ["profile.md", { kind: "profile" }],
    ["rules.md", { kind: "rules" }],
    ["projects/协作画板.md", { kind: "project", name: "协作画板" }],
    ["session-log.md", { kind: "session-log" }],
  ] as const;

  for (const [path, file] of files) {
    it(`has all of the template that ${path} follows, in its order`, async () => {
      const template = await Deno.readTextFile(new URL(path, FIXTURE));

      deepEqual(frameOf(newJournalText(file, { day: DAY, language: "zh" })), frameOf(template));
    });
  }

  it("is in English what the fixture of that name holds, which is what people start from", async () => {
    const english = new URL("../template-en/", FIXTURE);
    for (const [path, file] of files) {
      const name = file.kind === "project" ? "projects/board.md" : path;
      const own = file.kind === "project" ? { ...file, name: "Board" } : file;

      equal(
        newJournalText(own, { day: "2026-01-01", language: "en" }),
        await Deno.readTextFile(new URL(name, english)),
      );
    }
  });
});
