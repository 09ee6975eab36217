import { ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { formatEntry, type ManifestEntry, renderManifest } from "@/lib/memories/manifest_text.ts";
import { runAtOnce } from "@/lib/seams.ts";

/** @param foreign What a person's links of our shape point to. */
function render(
  existing: string | undefined,
  entries: readonly ManifestEntry[],
  foreign: readonly string[] = [],
): string {
  const list = {
    lines: entries.map(formatEntry),
    isForeign: (path: string) => foreign.includes(path),
  };
  return runAtOnce(renderManifest(existing, list));
}

const cache: ManifestEntry = { name: "Cache", path: "2026/05/cache.md", description: "It costs." };
const zone: ManifestEntry = { name: "时区", path: "时区.md", description: "夏令时。" };
const cacheLine = "- [Cache](2026/05/cache.md) — It costs.";
const zoneLine = "- [时区](时区.md) — 夏令时。";

describe("renderManifest()", () => {
  it("renderManifest() lists the entries in their order", () => {
    equal(render(undefined, [cache, zone]), `${cacheLine}\n${zoneLine}\n`);
    equal(render("", [zone, cache]), `${zoneLine}\n${cacheLine}\n`);
  });

  it("renderManifest() keeps a line of our shape that points to a person's file", () => {
    const lines = "- [a](b%20c.md) — mine\n- [d](e.md) — ours\n";

    equal(render(lines, [cache], ["b c.md"]), `${cacheLine}\n\n- [a](b%20c.md) — mine\n`);
  });

  it("renderManifest() gives an empty text when there is nothing to say", () => {
    const texts = [undefined, "", "\n \n", "- [a](b.md) — c\n", "\ufeff- [a](b.md)\n\n- [c](d)"];
    for (const text of texts) equal(render(text, []), "", text);
  });

  const ours = [
    "- [a](b.md) — c",
    "* [a](b.md) — c",
    "- [a](b.md) – c",
    "- [a](b.md) - c",
    "- [a](b.md) -- c",
    "-  [a](b.md)  —  c ",
    "- [a](b.md)",
    "- [a](b.md) —",
    "- [](b.md)",
    "- [a](./b.md)",
    "- [a](folder/b) — c",
    "- [中 文](2026/中文.md) — 说明",
    "- [a \\] \\[ \\\\](b.md) — c",
    "- [a [b] c](b.md) — c",
    "- [a](b%20c.md) — c",
    "- [a](b c.md) — c",
    "- [a](b (c).md) — c",
    "- [a](<b c.md>) — c",
  ];
  for (const line of ours) {
    it(`renderManifest() replaces ${JSON.stringify(line)}`, () => {
      equal(render(`${line}\nmine\n`, [cache]), `${cacheLine}\n\nmine\n`);
      equal(render(`mine\n${line}`, []), "mine\n");
    });
  }

  const others = [
    "# Title",
    "text",
    "- plain item",
    "- [ ] task",
    "- [a] (b.md) — c",
    "- [a](b.md) and more",
    "- [a](b.md): c",
    "- [a](b.md) —c",
    "- [a](b.md) · [c](d.md)",
    "-[a](b.md)",
    "+ [a](b.md) — c",
    "1. [a](b.md) — c",
    "  - [a](b.md) — c",
    "> - [a](b.md) — c",
    "- see [a](b.md) — c",
    "- **[a](b.md)** — c",
    "- [[wiki link]] — c",
    "- [a](https://example.com/b) — c",
    "- [a](mailto:ann@example.com)",
    "- [a](obsidian://open?vault=x) — c",
    "- [a](//example.com/b) — c",
    "- [a](#heading) — c",
    "- [a]() — c",
    "- [a](b.md) — c\r- [d](e.md) — f",
  ];
  for (const line of others) {
    it(`renderManifest() keeps ${JSON.stringify(line)} after the list`, () => {
      equal(render(`${line}\n`, [cache]), `${cacheLine}\n\n${line}\n`);
      equal(render(`${line}\n${zoneLine}\n`, [cache]), `${cacheLine}\n\n${line}\n`);
      equal(render(line, []), line);
    });
  }

  it("renderManifest() keeps a person's lines byte for byte, blank ones too", () => {
    const before = `# Mine \t\n\n- [old](old.md) — x\n\n\ntext  \n${zoneLine}\n   \nlast`;

    const after = render(before, [cache]);

    equal(after, `${cacheLine}\n\n# Mine \t\n\n\n\ntext  \n   \nlast`);
  });

  for (const fence of ["```", "````md", "~~~", "   ```"]) {
    it(`renderManifest() takes nothing from a fence that opens with ${fence}`, () => {
      const close = fence.replace("md", "");
      const block = `${fence}\n- [a](b.md) — c\n\`\` \n${close}\n`;

      equal(render(`${block}- [d](e.md)\n`, [cache]), `${cacheLine}\n\n${block}`);
      const open = `${fence}\n- [a](b.md) — c\n`;
      equal(render(`- [d](e.md)\n${open}`, [cache]), `${cacheLine}\n\n${open}`);
    });
  }

  it("renderManifest() sees that a shorter or other fence closes nothing", () => {
    const block = "````\n```\n- [a](b.md) — c\n~~~~\n- [a](b.md)\n`````\n";

    equal(render(`${block}- [d](e.md)\n`, [cache]), `${cacheLine}\n\n${block}`);
    equal(render("```a`b\n- [d](e.md)\n", [cache]), `${cacheLine}\n\n\`\`\`a\`b\n`);
  });

  it("renderManifest() leaves byte order mark and frontmatter at the top", () => {
    const head = "\ufeff---\ntitle: x\n- [a](b.md) — c\n---\n";

    equal(render(`${head}- [a](b.md)\ntext\n`, [cache]), `${head}${cacheLine}\n\ntext\n`);
    equal(render(`${head}\ntext\n`, [cache]), `${head}${cacheLine}\n\ntext\n`);
    equal(render(`${head}- [a](b.md)\n`, []), head);
    equal(render("---\na: b\n---", [cache]), `---\na: b\n---\n${cacheLine}\n`);
    equal(render("---\na: b\n---", []), "---\na: b\n---");
    equal(render("---\nnever closed\n", [cache]), `${cacheLine}\n\n---\nnever closed\n`);
  });

  it("renderManifest() lets no rule become the frontmatter", () => {
    const rule = "---\n```\n---\n- [c](d.md)\n```\n";

    equal(render(`- [a](b.md)\n${rule}`, []), `\n${rule}`);
    equal(render("- [a](b.md)\n\ufeff- [c](d.md)\n", []), "\n\ufeff- [c](d.md)\n");
  });

  it("renderManifest() writes the line ends that most lines of the person have", () => {
    const crlf = `${cacheLine}\r\n${zoneLine}\r\n`;

    equal(render("a\r\nb\r\nc\n", [cache, zone]), `${crlf}\r\na\r\nb\r\nc\n`);
    equal(render("- [a](b.md)\r\n", [cache, zone]), crlf);
    equal(render("a\nb\r\n- [a](b)\r\n", [cache]), `${cacheLine}\n\na\nb\r\n`);
  });

  const lines: [string, Partial<ManifestEntry>, string][] = [
    ["escapes brackets", { name: "a [b] \\c" }, "- [a \\[b\\] \\\\c](p.md) — d"],
    ["puts a name on one line", { name: " a\n\tb\u0000\u2028c " }, "- [a b c](p.md) — d"],
    ["ends after the link", { description: " \n " }, "- [n](p.md)"],
    ["puts a description on one line", { description: " a\r\nb\tc " }, "- [n](p.md) — a b c"],
    [
      "clips a description",
      { description: "长".repeat(300) },
      `- [n](p.md) — ${"长".repeat(199)}…`,
    ],
    [
      "encodes what would break a link",
      { path: "a b/(c)<d>100%.md" },
      "- [n](a%20b/%28c%29%3Cd%3E100%25.md) — d",
    ],
    ["keeps Chinese", { path: "记忆/缓存，三件事.md" }, "- [n](记忆/缓存，三件事.md) — d"],
    ["encodes other blanks", { path: "a\u3000b\u0085.md" }, "- [n](a%E3%80%80b%C2%85.md) — d"],
    ["makes no scheme", { path: "Q: why.md" }, "- [n](Q%3A%20why.md) — d"],
    ["makes no heading, query or entity", { path: "C#?&lt;.md" }, "- [n](C%23%3F%26lt;.md) — d"],
  ];
  for (const [does, entry, expected] of lines) {
    it(`renderManifest() ${does}`, () => {
      const whole = { name: "n", path: "p.md", description: "d", ...entry };

      equal(render(undefined, [whole]), `${expected}\n`);
    });
  }

  const anyEntry = fc.record({
    name: fc.string({ unit: "binary" }),
    path: fc.string({ unit: "binary", minLength: 1 }).map((path) =>
      path.replace(/^\/+/, "") || "a"
    ),
    description: fc.string({ unit: "binary", maxLength: 300 }),
  });
  const anyLine = fc.oneof(
    fc.constantFrom(...ours, ...others, "---", "```", "~~~", "", " ", "\ufeff", "...", "\ufeff---"),
    fc.string({ unit: "grapheme-ascii" }),
    fc.string({ unit: "binary" }),
  );
  const anyFile = fc.array(fc.tuple(anyLine, fc.constantFrom("\n", "\r\n", "\n", "\r")))
    .chain((pairs) => fc.tuple(fc.constant(pairs), fc.constantFrom("", "\ufeff"), anyLine))
    .map(([pairs, bom, last]) => bom + pairs.map(([line, end]) => line + end).join("") + last);

  it("renderManifest() changes nothing of what it made before", () => {
    fc.assert(fc.property(anyFile, fc.array(anyEntry, { maxLength: 4 }), (file, entries) => {
      const once = render(file, entries);

      equal(render(once, entries), once);
    }));
  });

  it("renderManifest() loses no line of a person, and takes back all that it added", () => {
    const mine = fc.array(fc.constantFrom(...others, "", "  ")).map((lines) =>
      lines.map((line) => `${line}\n`).join("")
    );
    fc.assert(fc.property(mine, fc.array(anyEntry, { maxLength: 4 }), (text, entries) => {
      const listed = render(text, entries);

      ok(text.trim() === "" || listed.endsWith(text));
      equal(render(listed, []).trimStart(), text.trimStart());
    }));
  });
});
