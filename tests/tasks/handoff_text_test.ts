import {
  deepStrictEqual as deepEqual,
  fail,
  ok,
  strictEqual as equal,
  throws,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { runAtOnce } from "@/lib/seams.ts";
import {
  addHandoff,
  branchFileName,
  type Handoff,
  readHandoffs,
} from "@/lib/tasks/handoff_text.ts";
import { readFrontmatter } from "@/lib/vault/frontmatter.ts";
import { decodeNote } from "@/lib/vault/note_text.ts";
import { parseVaultPath } from "@/lib/vault/vault_path.ts";

const first: Handoff = { updatedAt: "2026-05-14T10:30:00.000Z", actor: "ann", body: "Half done." };
const second: Handoff = { updatedAt: "2026-05-15T08:00:00.000Z", body: "# 还差\n\n- 测试" };
const markerOf = ({ updatedAt, actor }: Handoff) =>
  `<!-- handoff ${updatedAt}${actor ? ` ${actor}` : ""} -->`;
const headOf = ({ updatedAt }: Handoff, branch = "main") =>
  `---\nbranch: "${branch}"\nupdated_at: "${updatedAt}"\n---\n`;

/** What `addHandoff()` may take from a body. */
const trimmed = (body: string) => {
  const lines = body.split(/(?<=\r\n|\n|\r(?!\n))/);
  const isBlank = (line: string) => /^[ \t\r\n]*$/.test(line);
  const start = lines.findIndex((line) => !isBlank(line));
  if (start < 0) return "";
  const end = lines.findLastIndex((line) => !isBlank(line));
  return lines.slice(start, end + 1).join("").replace(/[\r\n]+$/, "");
};

const anyBody = fc.array(
  fc.oneof(
    fc.constantFrom(
      ...["\n", "\r\n", "\r", "\n\n", " ", "\t", "---\n", "```\n", "\\", "<!-- handoff", " -->"],
      ...[markerOf(first), `\n${markerOf(second)}\n`, `\n\\${markerOf(first)}`, "\u2028", "\ufeff"],
    ),
    fc.string({ unit: "binary", maxLength: 10 }),
  ),
  { maxLength: 12 },
).map((parts) => parts.join(""));
const anyActor = fc.oneof(
  fc.constantFrom("claude-code", "Claude Code 2.1", "a --> b", "&gt; & &amp;", "-->", "智能体"),
  fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 20 }),
).map((actor) => actor.trim().replace(/ +/g, " ")).filter((actor) => actor !== "");
const anyHandoff: fc.Arbitrary<Handoff> = fc.record({
  updatedAt: fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) })
    .map((date) => date.toISOString()),
  body: anyBody,
}).chain((handoff) =>
  fc.oneof(fc.constant(handoff), anyActor.map((actor) => ({ ...handoff, actor })))
);

/** Ends an entry, with the blank line before the next one. */
const END = "\n\n<!-- /handoff -->\n\n";

describe("addHandoff()", () => {
  it("addHandoff() begins a file", () => {
    const text = addHandoff(undefined, first, "main");

    equal(text, `${headOf(first)}\n${markerOf(first)}\n\nHalf done.${END}`);
    equal(addHandoff("", first, "main"), text);
  });

  it("addHandoff() puts the newest first, and its time into the frontmatter", () => {
    const text = addHandoff(addHandoff(undefined, first, "main"), second, "main");

    const entries = `${markerOf(second)}\n\n# 还差\n\n- 测试${END}${
      markerOf(first)
    }\n\nHalf done.${END}`;
    equal(text, `${headOf(second)}\n${entries}`);
    deepEqual(readHandoffs(text), [second, first]);
  });

  it("addHandoff() keeps ten", () => {
    let text: string | undefined;
    for (let number = 1; number <= 12; number++) {
      text = addHandoff(text, { ...first, body: `body ${number}` }, "main");
    }

    const bodies = readHandoffs(text ?? "").map(({ body }) => body);
    deepEqual(bodies, Array.from({ length: 10 }, (_, at) => `body ${12 - at}`));
    ok(!text?.includes("body 2\n"));
  });

  it("addHandoff() keeps what a person wrote behind a handoff, when that goes too", () => {
    let text = addHandoff(undefined, first, "main") + "My own words.\n";
    for (let number = 1; number <= 25; number++) {
      text = addHandoff(text, { ...first, body: `body ${number}` }, "main");
    }

    equal(readHandoffs(text).length, 10);
    equal(text.split("My own words.\n").length, 2);
    ok(!readHandoffs(text).some(({ body }) => body.includes("My own words")));
  });

  it("addHandoff() keeps what a person wrote before the first handoff and inside of one", () => {
    const note = "\n# Handoffs\n\nMine.\n\n";
    const edited = `${markerOf(first)}\r\n\r\nHalf   done,\nby me.\n<!-- note -->\n\n\n\n`;
    const before = `${headOf(first)}${note}${edited}`;

    const after = addHandoff(before, second, "main");

    equal(after, `${headOf(second)}${note}${markerOf(second)}\n\n${second.body}${END}${edited}`);
    equal(readHandoffs(after)[1]?.body, "Half   done,\nby me.\n<!-- note -->");
  });

  it("addHandoff() takes a file without any handoff as a person's text", () => {
    const marker = `${markerOf(first)}\n\nHalf done.${END}`;

    equal(addHandoff("Mine.", first, "main"), `${headOf(first)}Mine.\n\n${marker}`);
    equal(addHandoff("Mine.\n", first, "main"), `${headOf(first)}Mine.\n${marker}`);
    equal(addHandoff("\ufeffMine.\n\n", first, "main"), `\ufeff${headOf(first)}Mine.\n\n${marker}`);
    equal(addHandoff("---\nopen\n", first, "main"), `${headOf(first)}---\nopen\n${marker}`);
  });

  it("addHandoff() changes two keys of the frontmatter and no other line", () => {
    const head = [
      "---",
      "# mine",
      "tags: [a, 'b']",
      "branch: old",
      "",
      "'updated_at': >-",
      "  2020",
      "nested:",
      "  branch: stays",
      "...",
    ];
    const text = addHandoff(`\ufeff${head.join("\n")}`, first, "main");

    const kept = "# mine\ntags: [a, 'b']\n\nnested:\n  branch: stays\n...\n";
    const keys = `branch: "main"\nupdated_at: "${first.updatedAt}"\n`;
    equal(text, `\ufeff---\n${keys}${kept}\n${markerOf(first)}\n\nHalf done.${END}`);
  });

  it("addHandoff() does not take a rule inside a handoff for the end of an open frontmatter", () => {
    const rest = `title: x\n\n${markerOf(first)}\n\na\n\n---\n\nb\n\n`;

    const text = addHandoff(`---\n${rest}`, second, "main");

    ok(text.startsWith(`${headOf(second)}---\ntitle: x\n\n${markerOf(second)}\n`));
    deepEqual(readHandoffs(text), [second, { ...first, body: "a\n\n---\n\nb" }]);
  });

  it("addHandoff() understands CRLF, and goes on with it", () => {
    const before = addHandoff(undefined, first, "main").replaceAll("\n", "\r\n");

    const after = addHandoff(before, { ...second, body: "one line" }, "main");

    deepEqual(readHandoffs(after), [{ ...second, body: "one line" }, first]);
    equal(after.replaceAll("\r\n", "").match(/[\r\n]/), null);
  });

  it("addHandoff() writes branch names that are valid YAML, whatever they hold", () => {
    const names = [
      'a"b',
      "a\\b",
      "a: b # c",
      "缓存",
      "\u0085\u2028\ufeff\u007f",
      "𠮷",
      "a\nb",
      "~",
    ];
    for (const name of names) {
      const text = addHandoff(undefined, first, name);
      const note = runAtOnce(decodeNote(new TextEncoder().encode(text)));
      const { fields } = runAtOnce(readFrontmatter(note ?? fail(name)));

      ok(!/[\x7f-\x9f\u2028\ufeff]/.test(text), name);
      equal(fields.get("branch"), name);
      equal(fields.get("updated_at"), first.updatedAt);
    }
  });

  it("addHandoff() refuses a time that is none", () => {
    for (const updatedAt of ["", "now", "2026-05-14 10:30", "2026-05-14T10:30:00Z -->"]) {
      throws(() => addHandoff(undefined, { ...first, updatedAt }, "main"), RangeError, updatedAt);
    }
  });

  it("addHandoff() keeps the actor on its line", () => {
    const cases: [string, string | undefined][] = [
      [" Claude\n Code ", "Claude Code"],
      ["a --> b", "a --> b"],
      ["&gt;", "&gt;"],
      ["x".repeat(200), "x".repeat(100)],
      [" \n", undefined],
    ];
    for (const [actor, expected] of cases) {
      const text = addHandoff(undefined, { ...first, actor }, "main");
      const [read] = readHandoffs(text);

      equal(text.split("-->").length, 3);
      equal(read?.actor, expected);
      equal(read?.body, first.body);
    }
  });
});

describe("readHandoffs()", () => {
  it("readHandoffs() finds none where there are none", () => {
    const texts = [
      "",
      "Mine.\n",
      headOf(first),
      " <!-- handoff 2026-05-14 -->",
      "<!-- handoff x -->",
    ];
    for (const text of texts) deepEqual(readHandoffs(text), []);
  });

  it("readHandoffs() gives a body back that holds such a file itself", () => {
    const inner = addHandoff(addHandoff(undefined, first, "main"), second, "main");
    const handoff = { ...first, body: inner.trimEnd() };
    const outer = addHandoff(undefined, handoff, "main");

    deepEqual(readHandoffs(outer), [handoff]);
    const twice = { ...first, body: outer.trimEnd() };
    deepEqual(readHandoffs(addHandoff(outer, twice, "main")), [twice, handoff]);
  });

  it("readHandoffs() gives back what addHandoff() was given, but for blank lines at the ends", () => {
    const any = fc.array(anyHandoff, { minLength: 1, maxLength: 12 });
    fc.assert(fc.property(any, fc.string(), anyBody, (handoffs, branch, note) => {
      const mine = readHandoffs(note).length === 0 ? note : "";
      const text = handoffs.reduce((text, it) => addHandoff(text, it, branch), mine);

      const expected = handoffs.map((it) => ({ ...it, body: trimmed(it.body) })).reverse();
      deepEqual(readHandoffs(text), expected.slice(0, 10));
    }));
  });
});

describe("branchFileName()", () => {
  const cases: [string, string][] = [
    ["main", "main.md"],
    ["feature/login", "feature%2Flogin.md"],
    ["release-1.2_x", "release-1.2_x.md"],
    ["功能/缓存", "功能%2F缓存.md"],
    ["Ünïcode", "Ünïcode.md"],
    ["100%", "100%25.md"],
    ["a%2Fb", "a%252Fb.md"],
    ["a b#c@d", "a%20b%23c%40d.md"],
    ["🎉", "%F0%9F%8E%89.md"],
    ["e\u0301", "e%CC%81.md"],
    ["\u212b\u7f13", "%E2%84%AB%E7%BC%93.md"],
    ["\u1100\u1161", "%E1%84%80%E1%85%A1.md"],
    [".hidden", "%2Ehidden.md"],
    [".", "%2E.md"],
    ["..", "%2E..md"],
    ["con", "%63on.md"],
    ["COM1", "%43OM1.md"],
    ["nul.x", "%6Eul.x.md"],
    ["console", "console.md"],
    ["_index", "%5Findex.md"],
    ["_INDEX", "%5FINDEX.md"],
    ["a".repeat(197), `${"a".repeat(197)}.md`],
  ];
  for (const [branch, expected] of cases) {
    it(`branchFileName() makes ${expected.slice(0, 40)} of ${branch.slice(0, 40)}`, () => {
      equal(branchFileName(branch), expected);
      equal(decodeURIComponent(expected.slice(0, -3)), branch);
    });
  }

  it("branchFileName() ends in a hash where the name cannot say it all", () => {
    const long = ["a".repeat(198), "缓".repeat(100), "/".repeat(100), "a".repeat(197) + "b/"];
    const strange = ["", "/etc/passwd", "a/../b", "a\nb", "c:d", "\\x"];
    const names = [...long, ...strange].map(branchFileName);

    for (const name of names) ok(/^[^%]+-[0-9a-f]{12}\.md$/.test(name), name);
    equal(new Set(names).size, names.length);
    ok(branchFileName("缓".repeat(100)).startsWith("缓".repeat(60)));
    equal(branchFileName("a".repeat(198)), branchFileName("a".repeat(198)));
  });

  it("branchFileName() gives any two branches two names that the vault takes", () => {
    const piece = fc.constantFrom(
      "/",
      ".",
      "..",
      "%",
      "%2F",
      "con",
      "_",
      "a",
      "缓",
      "\u1100",
      "\u1161",
    );
    const any = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: "grapheme", maxLength: 80 }),
      fc.array(piece).map((parts) => parts.join("")),
    );
    fc.assert(fc.property(any, any, (branch, other) => {
      const name = branchFileName(branch);

      equal(parseVaultPath(name), name);
      equal(name, name.normalize("NFC"));
      ok(new TextEncoder().encode(name).length <= 200);
      ok(/^[^.].*\.md$/su.test(name) && !/[^\p{L}\p{N}%._-]/u.test(name), name);
      if (!/-[0-9a-f]{12}\.md$/.test(name)) equal(decodeURIComponent(name.slice(0, -3)), branch);
      if (branch !== other) ok(name !== branchFileName(other));
    }));
  });
});
