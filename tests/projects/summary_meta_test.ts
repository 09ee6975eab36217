import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { readSummaryMeta, type SummaryReading } from "@/lib/projects/summary_meta.ts";
import { runAtOnce } from "@/lib/seams.ts";
import { decodeNote } from "@/lib/vault/note_text.ts";
import { summaryOf } from "../_support/project_notes.ts";

function read(content: string | Uint8Array): SummaryReading {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const note = runAtOnce(decodeNote(bytes));
  if (note === undefined) throw new TypeError("is no text");
  return runAtOnce(readSummaryMeta(note));
}

const readLines = (...lines: readonly string[]) => read(summaryOf(...lines));

function metaOf(...lines: readonly string[]): Record<string, unknown> {
  const reading = readLines("project: p", ...lines);
  if (reading.state !== "canonical") throw new TypeError(JSON.stringify(reading));
  return { ...reading.meta };
}

function problemOf(...lines: readonly string[]): string {
  const reading = readLines(...lines);
  return reading.state === "incompatible" ? reading.problem : reading.state;
}

describe("readSummaryMeta()", () => {
  it("explains the whitelisted keys of frontmatter and no others", () => {
    const reading = readLines(
      "project: fly-oa",
      "repo_id: github.com/example/fly-oa",
      "aliases: [fly_oa]",
      "tags: [auth, invoice, admin]",
      "related: [tuding-old, fly-dashboard]",
      "depends_on: [feilianyun-infra]",
      "status: active",
      "updated: 2026-07-15",
      "secret: s3cret",
      "links: [elsewhere]",
    );

    deepEqual(reading, {
      state: "canonical",
      meta: {
        project: "fly-oa",
        repoId: "github.com/example/fly-oa",
        aliases: ["fly_oa"],
        tags: ["auth", "invoice", "admin"],
        related: ["tuding-old", "fly-dashboard"],
        dependsOn: ["feilianyun-infra"],
        status: "active",
        updated: "2026-07-15",
      },
    });
  });

  it("lets an old project be without repo_id, and invents none", () => {
    const empty = { project: "p", aliases: [], tags: [], related: [], dependsOn: [] };

    deepEqual(metaOf(), empty);
    deepEqual(metaOf("repo_id:", 'status: ""', "updated: ~"), empty);
  });

  it("takes a note without frontmatter for unmigrated, whatever links its body has", () => {
    for (const text of ["", "# Site\n", "text\n---\nproject: p\n---\n", "[[other]]\n"]) {
      deepEqual(read(text), { state: "unmigrated" }, JSON.stringify(text));
    }
  });

  it("marks what is no one-line inline array as incompatible, and guesses no relation", () => {
    const values = [
      "a",
      '"[a, b]"',
      "",
      "~",
      "{a: b}",
      "\n  - a\n  - b",
      "\n- a",
      "[a,\n  b]",
      '[a, "b\n  c"]',
      "\n  [a, b]",
      "&x [a]",
      "!!seq [a]",
      "|\n  [a]",
    ];

    for (const key of ["aliases", "tags", "related", "depends_on"]) {
      for (const value of values) {
        const problem = problemOf("project: p", `${key}: ${value}`);

        ok(problem.startsWith(`${key}: must be a list on one line`), `${key}: ${value} ${problem}`);
      }
      const viaAlias = problemOf("project: p", "x: &x [a]", `${key}: *x`);
      ok(viaAlias.startsWith(`${key}: must be a list`), viaAlias);
    }
  });

  it("marks items that are no texts as incompatible", () => {
    for (const key of ["aliases", "tags", "related", "depends_on"]) {
      for (const value of ["[[a]]", "[{a: b}]", "[a, ~]", '[a, ""]', '["  "]', "[null]"]) {
        equal(
          problemOf("project: p", `${key}: ${value}`),
          `${key}: must hold plain texts only, none of them empty`,
          value,
        );
      }
    }
  });

  it("marks a list that no person would write as incompatible", () => {
    const listOf = (count: number) => `tags: [${Array(count).fill("a").join(", ")}]`;

    equal(problemOf("project: p", listOf(201)), "tags: must hold at most 200 items");
    equal((metaOf(listOf(200)).tags as string[]).length, 200);
  });

  it("takes every spelling of a one-line array", () => {
    const spellings = [
      "tags: [a, b c]",
      "tags:   [ a , b c ]  ",
      "tags: [a, b c] # [c",
      "tags: ['a', \"b c\"]",
      "tags: [a, b c,]",
      '"tags": [a, b c]',
      "tags : [a, b c]",
    ];

    for (const line of spellings) deepEqual(metaOf(line).tags, ["a", "b c"], line);
    deepEqual(metaOf("tags: []").tags, []);
    deepEqual(metaOf("tags: [it's, 007, no, 1e3]").tags, ["it's", "007", "no", "1e3"]);
    const bom = read(`\ufeff${summaryOf("project: p", "tags: [a]").replaceAll("\n", "\r\n")}`);
    equal(bom.state, "canonical");
  });

  it("marks a wrong type of a single value as incompatible", () => {
    for (const key of ["project", "repo_id", "status", "updated"]) {
      for (const value of ["[a]", "{a: b}", "\n  - a"]) {
        equal(problemOf(`${key}: ${value}`), `${key}: must be one text, no list and no mapping`);
      }
    }
  });

  it("marks frontmatter that cannot be parsed reliably as incompatible, with what to do", () => {
    const blocks = [
      "---\nproject: p\n",
      "---\nproject: p\nproject: q\n---\n",
      "---\n- a\n---\n",
      '---\nproject: "p\n---\n',
      "---\nproject: p\nx:\n\ty: 1\n---\n",
      "---\nproject: !!js/function p\n---\n",
      `---\nproject: p\nx: ${"a".repeat(140_000)}\n---\n`,
      "+++\nproject = 'p'\n+++\n",
      '{\n"project": "p"}\n',
    ];

    for (const block of blocks) {
      const reading = read(block);

      equal(reading.state, "incompatible", block.slice(0, 60));
      ok(reading.problem.startsWith("frontmatter: "), reading.problem);
    }
    const broken = new TextEncoder().encode(summaryOf("project: p", "tags: [a?]"));
    broken[broken.indexOf("?".charCodeAt(0))] = 0xff;
    equal(read(broken).state, "incompatible");
  });

  it("marks a missing or unusable project name as incompatible", () => {
    for (const lines of [["title: T"], ["project:"], ['project: ""'], ["project: ~"], [""]]) {
      equal(problemOf(...lines), "project: add the name of the project", String(lines));
    }
  });

  it("takes no path, no line break and nothing unseen for a name of a project", () => {
    const hostile = [
      "../../etc",
      "..",
      ".",
      "a/b",
      "a\\\\b",
      "/",
      "a\\nb",
      "a\\u0007b",
      "a\\u2028b",
      " a",
      "a ",
      "\\u200b",
      "\\ud800",
      "x".repeat(101),
    ];

    for (const name of hostile) {
      ok(problemOf(`project: "${name}"`).startsWith("project: must be a name"), name);
      for (const key of ["aliases", "related", "depends_on"]) {
        const problem = problemOf("project: p", `${key}: ["${name}"]`);
        ok(problem.startsWith(`${key}: each item must be a name`) || /plain texts/.test(problem));
      }
    }
    equal(readLines(`project: ${"飞".repeat(100)}`).state, "canonical");
    ok(problemOf("project: p", 'repo_id: "a\\nb"').startsWith("repo_id: must be on one line"));
  });

  it("gives reasons that hold no text of the note", () => {
    const odd = ["[S3CRET, [S3CRET]]", '"S3CRET', "S3CRET", "{S3CRET: a}", "\n  - S3CRET"];

    for (const key of ["project", "aliases", "tags", "S3CRET"]) {
      for (const value of odd) {
        const reading = readLines(`${key}: ${value}`, 'repo_id: "S3CRET\\n"');
        ok(!JSON.stringify(reading).includes("S3CRET"), JSON.stringify(reading));
      }
    }
  });

  it("takes a day for updated only as YYYY-MM-DD, if there is such a day", () => {
    for (const day of ["2026-07-15", "2024-02-29"]) equal(metaOf(`updated: ${day}`).updated, day);
    const odd = ["2026-02-30", "2025-02-29", "2026-13-01", "2026-7-1", "20260715", "soon"];
    for (const day of [...odd, "2026-07-15T10:00:00Z", '"2026-07-15\\n"']) {
      deepEqual(metaOf(`updated: ${day}`), metaOf(), day);
    }
  });

  it("brings texts into one Unicode form", () => {
    const meta = metaOf("aliases: [re\u0301sume\u0301]", "repo_id: host/re\u0301");

    deepEqual([meta.aliases, meta.repoId], [["r\u00e9sum\u00e9"], "host/r\u00e9"]);
  });

  it("reads any names from one line, and none from several", () => {
    const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 })
      .filter((text) => /^[\p{L}\p{N}_-]+$/u.test(text));
    fc.assert(fc.property(fc.array(name, { minLength: 1, maxLength: 8 }), (names) => {
      const quoted = names.map((each) => JSON.stringify(each));

      deepEqual(
        metaOf(`related: [${quoted.join(", ")}]`).related,
        names.map((each) => each.normalize("NFC")),
      );
      for (const written of [`[${quoted.join(",\n  ")},\n]`, `\n  - ${quoted.join("\n  - ")}`]) {
        ok(problemOf("project: p", `related: ${written}`).startsWith("related: must be a list"));
      }
    }));
  });
});
