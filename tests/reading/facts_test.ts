import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import {
  type Fact,
  type FactNote,
  parseFacts,
  type RankedFact,
  rankFacts,
} from "@/lib/reading/facts.ts";
import { runAtOnce } from "@/lib/seams.ts";
import { parseNote } from "@/lib/vault/note.ts";

const TODAY = "2026-07-15";

const HEAD =
  "| key | fact | status | verified_at | source | expires |\n|---|---|---|---|---|---|\n";

function parse(markdown: string): FactNote {
  const note = runAtOnce(parseNote("memory.md", new TextEncoder().encode(markdown)));
  ok(note);
  return runAtOnce(parseFacts(note));
}

const rank = (facts: readonly Fact[], today = TODAY): readonly RankedFact[] =>
  runAtOnce(rankFacts(facts, today));

const fact = (key: string, extra: Partial<Fact> = {}): Fact => ({
  key,
  fact: `about ${key}`,
  status: "verified",
  verified_at: "2026-07-01",
  source: "README",
  ...extra,
});

const keysOf = (facts: readonly Fact[]): string[] => facts.map(({ key }) => key);

describe("parseFacts()", () => {
  it("parseFacts() keeps a fact's own key, fact, status, verified_at, source and expires as written", () => {
    const { facts, text } = parse(
      HEAD + "| db.port | 5432, *not* 5433 | Verified | 2026-7-1 | `.env` | soon |\n",
    );

    deepEqual(facts, [{
      key: "db.port",
      fact: "5432, *not* 5433",
      status: "Verified",
      verified_at: "2026-7-1",
      source: "`.env`",
      expires: "soon",
    }]);
    equal(text, "");
  });

  const heads: [string, string, string][] = [
    ["in any order", "|source|status|fact|key|verified_at|", "|s|verified|f|k|2026-07-01|"],
    ["in any case", "|KEY|Fact|Status|Verified_At|SOURCE|", "|k|f|verified|2026-07-01|s|"],
    ["bold or code", "|**key**|`fact`|status|verified\\_at|source|", "|k|f|verified|2026-07-01|s|"],
    ["without pipes around", "key|fact|status|verified_at|source", "k|f|verified|2026-07-01|s"],
    [
      "with others between, which are kept out",
      "|key|owner|fact|status|verified_at|source|",
      "|k|me|f|verified|2026-07-01|s|",
    ],
    [
      "twice, of which the first counts",
      "|key|fact|status|verified_at|source|key|",
      "|k|f|verified|2026-07-01|s|other|",
    ],
  ];
  for (const [name, head, row] of heads) {
    it(`parseFacts() reads columns ${name}`, () => {
      const rule = head.replace(/^\||\|$/g, "").split("|").map(() => "---").join("|");

      const { facts } = parse(`${head}\n|${rule}|\n${row}\n`);

      deepEqual(facts, [
        { key: "k", fact: "f", status: "verified", verified_at: "2026-07-01", source: "s" },
      ]);
    });
  }

  it("parseFacts() takes an escaped pipe as part of its cell", () => {
    const { facts } = parse(HEAD + "| k | `a \\| b` \\| c | verified | 2026-07-01 | s\\|t | |\n");

    equal(facts[0]?.fact, "`a | b` | c");
    equal(facts[0]?.source, "s|t");
  });

  it("parseFacts() takes cells that are missing for empty ones", () => {
    deepEqual(parse(HEAD + "| k | f |\n").facts, [
      { key: "k", fact: "f", status: "", verified_at: "", source: "" },
    ]);
  });

  it("parseFacts() reads lines that end in CR LF", () => {
    const { facts, text } = parse(
      `# A\r\n\r\n${
        HEAD.replaceAll("\n", "\r\n")
      }| k | f | verified | | s | 2026-08-01 |\r\n\r\nend\r\n`,
    );

    equal(facts[0]?.expires, "2026-08-01");
    equal(text, "# A\r\n\r\n\r\nend\r\n");
  });

  const row = "| k | f | verified | 2026-07-01 | s | |\n";
  const texts: [string, string][] = [
    ["a table in a fence", "```md\n" + HEAD + row + "```\n"],
    ["a table in a comment", `<!--\n${HEAD}${row}-->\n`],
    ["a table in a quote", `> ${(HEAD + row).trimEnd().replaceAll("\n", "\n> ")}\n`],
    [
      "a table without one of the columns",
      "| key | fact | status | source |\n|-|-|-|-|\n| a | b | c | d |\n",
    ],
    ["rows without a head", row + row],
    ["a table in a list", `- a\n\n  ${(HEAD + row).trimEnd().replaceAll("\n", "\n  ")}\n`],
    ["a head that is not parted from its rows", HEAD.split("\n")[0] + "\n" + row],
  ];
  for (const [name, markdown] of texts) {
    it(`parseFacts() leaves ${name} as text`, () => {
      deepEqual(parse(markdown), { facts: [], text: markdown });
    });
  }

  it("parseFacts() leaves what is no fact table as text, and rows that are no facts", () => {
    const { facts, text } = parse(
      `---\nid: m1\n---\n# Facts\n\n${HEAD}${row}| | no key | | | | |\nA line too much\n\n` +
        `Between\n${HEAD}${row}\n## End\n`,
    );

    equal(facts.length, 2);
    equal(text, "# Facts\n\n| | no key | | | | |\nA line too much\n\nBetween\n\n## End\n");
  });

  it("parseFacts() leaves a row as text that is longer than any answer", () => {
    const long = `| k | ${"x".repeat(40_000)} | verified | | s | |\n`;

    deepEqual(parse(HEAD + long), { facts: [], text: long });
  });

  it("parseFacts() says nothing of a note without a body", () => {
    deepEqual(parse(""), { facts: [], text: "" });
    deepEqual(parse("---\nid: m1\n---\n"), { facts: [], text: "" });
  });

  it("parseFacts() loses no line of a body, whatever it holds", () => {
    const line = fc.constantFrom(
      ...HEAD.trim().split("\n"),
      row.trim(),
      "| a |",
      "",
      "text",
      "```",
      "> q",
      "- i",
      "# h",
    );
    fc.assert(fc.property(fc.array(line, { maxLength: 30 }), (lines) => {
      const markdown = lines.join("\n");

      const { facts, text } = parse(markdown);

      const isKept = (one: string) => one !== row.trim() && !HEAD.includes(one);
      deepEqual(
        text.split("\n").filter((one) => isKept(one)),
        markdown.split("\n").filter((one) => isKept(one)),
      );
      equal(
        text.split("\n").filter((one) => one === row.trim()).length +
          // A head among the rows is a row.
          facts.filter(({ key }) => key === "k").length,
        lines.filter((one) => one === row.trim()).length,
      );
    }));
  });
});

describe("rankFacts()", () => {
  it("rankFacts() puts unexpired verified before assumption before deprecated", () => {
    const ranked = rank([
      fact("old", { status: "deprecated", verified_at: "2026-07-14" }),
      fact("maybe", { status: "assumption", verified_at: "2026-07-13" }),
      fact("sure", { verified_at: "2020-01-01" }),
    ]);

    deepEqual(ranked.map(({ key, countsAs }) => [key, countsAs]), [
      ["sure", "verified"],
      ["maybe", "assumption"],
      ["old", "deprecated"],
    ]);
    ok(ranked.every(({ because, overruled }) => because === undefined && overruled === undefined));
  });

  it("rankFacts() puts the newer verified_at first among equals, undated last, then as they came", () => {
    const ranked = rank([
      fact("none", { verified_at: "" }),
      fact("older", { verified_at: "2026-06-01" }),
      fact("bad", { verified_at: "2026-02-30" }),
      fact("newer", { verified_at: "2026-07-01" }),
      fact("later", { verified_at: "2026-07-01T08:00:00Z" }),
      fact("words", { verified_at: "yesterday" }),
    ]);

    deepEqual(keysOf(ranked), ["later", "newer", "older", "none", "bad", "words"]);
  });

  it("rankFacts() uses an expired verified fact as an assumption, and says so", () => {
    const [sure, worn] = rank([
      fact("worn", { expires: "2026-07-14" }),
      fact("sure", { verified_at: "" }),
    ]);

    equal(sure?.key, "sure");
    deepEqual(worn, {
      ...fact("worn", { expires: "2026-07-14" }),
      countsAs: "assumption",
      because: "expired",
    });
  });

  const days: [string, string, string | undefined][] = [
    ["2026-07-15", "verified", undefined],
    ["2026-07-16", "verified", undefined],
    ["2026-07-15T23:00", "verified", undefined],
    ["`2027-01-01`", "verified", undefined],
    ["", "verified", undefined],
    ["-", "verified", undefined],
    ["—", "verified", undefined],
    ["2026-07-14", "assumption", "expired"],
    ["0001-01-01", "assumption", "expired"],
    ["2026-13-01", "assumption", "expires-unreadable"],
    ["2027-02-29", "assumption", "expires-unreadable"],
    ["9999-99-99", "assumption", "expires-unreadable"],
    ["never", "assumption", "expires-unreadable"],
    ["15.07.2027", "assumption", "expires-unreadable"],
    ["2027-01-01 or so", "assumption", "expires-unreadable"],
  ];
  for (const [expires, countsAs, because] of days) {
    it(`rankFacts() counts a verified fact that expires "${expires}" as ${because ?? countsAs}`, () => {
      const [ranked] = rank([fact("k", { expires })]);

      equal(ranked?.countsAs, countsAs);
      equal(ranked.because, because);
      equal(ranked.expires, expires);
    });
  }

  for (const status of ["", "certain", "已验证", "verified?"]) {
    it(`rankFacts() counts the status "${status}", which it does not know, as an assumption`, () => {
      const [ranked] = rank([fact("k", { status })]);

      equal(ranked?.countsAs, "assumption");
      equal(ranked.because, "status-unknown");
      equal(ranked.status, status);
    });
  }

  it("rankFacts() knows a status in any case, bold or not", () => {
    equal(rank([fact("k", { status: "**Verified**" })])[0]?.countsAs, "verified");
    equal(rank([fact("k", { status: "DEPRECATED" })])[0]?.countsAs, "deprecated");
  });

  it("rankFacts() never takes what is deprecated for positive evidence, however new or alone", () => {
    const ranked = rank([
      fact("k", { status: "deprecated", verified_at: "2026-07-15" }),
      fact("k", { status: "assumption", verified_at: "" }),
    ]);

    deepEqual(ranked.map(({ countsAs, overruled }) => [countsAs, overruled]), [
      ["assumption", undefined],
      ["deprecated", true],
    ]);
  });

  it("rankFacts() lets the best fact of a key lead, and marks the others as overruled", () => {
    const ranked = rank([
      fact("port", { fact: "1", verified_at: "2026-01-01" }),
      fact("`port`", { fact: "2", verified_at: "2026-05-01" }),
      fact("other"),
      fact("port", { fact: "3", status: "assumption", verified_at: "2026-07-01" }),
    ]);

    deepEqual(ranked.map((one) => [one.key, one.fact, one.overruled]), [
      ["other", "about other", undefined],
      ["`port`", "2", undefined],
      ["port", "1", true],
      ["port", "3", true],
    ]);
  });

  it("rankFacts() ranks many facts as a plain sort does, and keeps the best", () => {
    const some = fc.record({
      status: fc.constantFrom("verified", "assumption", "deprecated", "x"),
      verified_at: fc.constantFrom("2026-01-01", "2026-02-01", ""),
    });
    fc.assert(
      fc.property(fc.array(some, { minLength: 2_500, maxLength: 5_000 }), (extras) => {
        const facts = extras.map((extra, at) => fact(`k${at}`, extra));

        const ranked = rank(facts);

        const worth = ({ status, verified_at }: Fact) =>
          `${{ verified: 0, deprecated: 2 }[status] ?? 1}${
            verified_at === "" ? 9 : 9 - Number(verified_at[6])
          }`;
        const sorted = facts.toSorted((a, b) =>
          worth(a) < worth(b) ? -1 : worth(a) > worth(b) ? 1 : 0
        );
        deepEqual(keysOf(ranked), keysOf(sorted).slice(0, 3_000));
      }),
      { numRuns: 20 },
    );
  });
});
