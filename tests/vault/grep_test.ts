import {
  deepStrictEqual as deepEqual,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { IndexNotReady, InvalidRequest } from "@/lib/errors.ts";
import { type Clock, systemClock } from "@/lib/seams.ts";
import { type GrepRequest, type GrepResult, grepVault } from "@/lib/vault/grep.ts";
import { findRipgrep } from "@/lib/vault/ripgrep_path.ts";
import { openVault } from "@/lib/vault/vault.ts";
import { randomSource } from "../_support/random.ts";
import { tempVault } from "../_support/temp_vault.ts";
import { watchOpenings } from "@/tests/_support/openings.ts";

type Ask = Partial<GrepRequest> & { readonly query: string };

/** Greps a folder as a vault with nothing configured. */
function grepIn(root: string, ask: Ask): Promise<GrepResult> {
  const vault = openVault({ root, memoriesFolder: "memories", exclude: [] });
  const defaults = { limit: 100, isWanted: () => true, excludedGlobs: vault.exclusions.globs };
  return grepVault({ vault, ...defaults, ...ask });
}

async function requireRipgrep(): Promise<string> {
  const path = await findRipgrep(Deno.env.get("PATH"));
  ok(path !== undefined, "ripgrep is neither on the PATH nor in Deno's cache");
  return path;
}

/** Runs both engines, compares all that they say, and returns it. */
async function grepTwice(root: string, ask: Ask): Promise<GrepResult> {
  const ripgrep = await grepIn(root, { ...ask, rgPath: await requireRipgrep() });
  const builtIn = await grepIn(root, ask);
  equal(ripgrep.engine, "ripgrep");
  equal(builtIn.engine, "built-in");
  deepEqual({ ...ripgrep, engine: "" }, { ...builtIn, engine: "" });
  return ripgrep;
}

/** `path:line` of each match, in order. */
function placesOf(result: GrepResult): string[] {
  return result.files.flatMap(({ path, matches }) => matches.map(({ line }) => `${path}:${line}`));
}

describe("grepVault()", () => {
  it("grepVault() shows each line that matches, with its neighbours", async () => {
    await using vault = await tempVault({
      "a.md": "# Cache\n\nThe cache is warm.\nLast line",
      "b/c.md": "one\r\nthe CACHE\r\ntwo\r\n",
      "b/d.md": "nothing",
    });

    const result = await grepTwice(vault.root, { query: "cache" });

    deepEqual(result, {
      engine: "ripgrep",
      files: [
        {
          path: "a.md",
          matches: [
            { line: 1, text: "# Cache", after: "" },
            { line: 3, text: "The cache is warm.", before: "", after: "Last line" },
          ],
          matchCount: 2,
        },
        {
          path: "b/c.md",
          matches: [{ line: 2, text: "the CACHE", before: "one", after: "two" }],
          matchCount: 1,
        },
      ],
      total: 2,
      truncated: false,
    });
  });

  it("grepVault() finds literals in any script, case counting only with a capital", async () => {
    await using vault = await tempVault({
      "n.md": [
        "记忆系统需要定期回收", // 1
        "a.b*c (x) [y] $z ^ \\d", // 2
        "-e --flag", // 3
        "Straße ΑΣΣ ÄPFEL", // 4
        "emoji 👩‍💻 and 𠮷野家", // 5
        "Kelvin and kelvin", // 6
        "nul \0 here", // 7
        "'quoted' \"double\" `tick`", // 8
      ].join("\n"),
    });
    const cases: [string, number[]][] = [
      ["记忆系统", [1]],
      ["回收", [1]],
      ["a.b*c (x) [y] $z ^ \\d", [2]],
      ["a.b", [2]],
      ["axb", []],
      ["-e", [3]],
      ["--flag", [3]],
      ["--pre=sh", []],
      ["ασς", [4]],
      ["äpfel", [4]],
      ["Äpfel", []],
      ["ÄPFEL", [4]],
      ["𠮷", [5]],
      ["👩‍💻 and", [5]],
      ["kelvin", [6]],
      ["KELVIN", []],
      ["here", [7]],
      ["'quoted' \"double\" `tick`", [8]],
      ["zebra", []],
    ];
    for (const [query, lines] of cases) {
      const result = await grepTwice(vault.root, { query });

      deepEqual(placesOf(result), lines.map((line) => `n.md:${line}`), query);
    }
  });

  it("grepVault() understands ripgrep's patterns, with and without ripgrep", async () => {
    await using vault = await tempVault({
      "n.md": [
        "第42章 缓存 cache_key", // 1
        "error E0308 at src/a-b.ts", // 2
        "ALL CAPS", // 3
        "", // 4
        "tail]", // 5
        "١٢٣ Straße", // 6
      ].join("\n"),
    });
    const cases: [string, number[]][] = [
      ["e\\d+", [2]],
      ["^第\\d+章", [1]],
      ["\\bcache", [1]],
      ["\\b缓存\\b", [1]],
      ["章 \\w+ \\w+$", [1]],
      ["\\p{Han}{2}", [1]],
      ["\\p{Lu}{3}", [3]],
      ["^\\P{L}+ ", [6]],
      ["^\\d{3}\\b", [6]],
      ["[\\w]+-[\\w]+\\.ts", [2]],
      ["^$", [4]],
      ["[]]$", [5]],
      ["l]", [5]],
      ["stra\\u{df}e", [6]],
      ["(?i)all caps", [3]],
      ["all CAPS", []],
      ["(?P<code>e0\\d+)", [2]],
      ["src\\/a\\-b", [2]],
      ["cache\\_key|caps", [1, 3]],
      ["x*", [1, 2, 3, 4, 5, 6]],
      ["\\S", [1, 2, 3, 5, 6]],
    ];
    for (const [query, lines] of cases) {
      const result = await grepTwice(vault.root, { query, regex: true });

      deepEqual(placesOf(result), lines.map((line) => `n.md:${line}`), query);
    }
  });

  it("grepVault() refuses a query that no line can hold, or that is no pattern", async () => {
    await using vault = await tempVault({ "a.md": "text" });
    const rgPath = await requireRipgrep();
    const cases: [Ask, RegExp][] = [
      [{ query: "" }, /must not be empty/],
      [{ query: "a\nb" }, /line break or a NUL/],
      [{ query: "a\r" }, /line break or a NUL/],
      [{ query: "a\0" }, /line break or a NUL/],
      [{ query: "(a", regex: true }, /as a regular expression: unclosed group$/],
      [{ query: "a{2,1}", regex: true }, /as a regular expression: invalid repetition/],
      [{ query: "(?=a)", regex: true }, /as a regular expression: look-around/],
      [{ query: "a\\nb", regex: true }, /as a regular expression: the literal/],
    ];
    for (const [ask, message] of cases) {
      await rejects(grepIn(vault.root, { ...ask, rgPath }), (error) => {
        ok(error instanceof InvalidRequest);
        ok(message.test(error.message), error.message);
        ok(!error.message.includes(vault.root));
        return true;
      }, ask.query);
    }
  });

  it("grepVault() without ripgrep refuses what it would misunderstand", async () => {
    await using vault = await tempVault({ "a.md": "text" });

    for (const query of ["(a", "[[:alpha:]]", "[a-z&&[^b]]", "[\\W]", "\\p{Nonsense}"]) {
      const refusal = grepIn(vault.root, { query, regex: true });

      await rejects(refusal, InvalidRequest, query);
    }
  });

  it("grepVault() without ripgrep gives up a pattern that would run for ever", async () => {
    await using vault = await tempVault({ "a.md": `${"a".repeat(60)}!` });
    const evil = { query: "^(a+)+$", regex: true };

    await rejects(grepIn(vault.root, evil), /it takes too long/);
    const withRipgrep = await grepIn(vault.root, { ...evil, rgPath: await requireRipgrep() });

    equal(withRipgrep.total, 0);
  });

  it("grepVault() reads notes only: no excluded, hidden, ignored-by-ending or linked file", async () => {
    await using outside = await tempVault({ "secret.md": "needle" });
    await using vault = await tempVault({
      "ok.md": "needle",
      "UPPER.MD": "needle",
      "long.markdown": "needle",
      "x.md/inner.md": "needle",
      ".gitignore": "*.md\n",
      ".ignore": "*.md\n",
      ".rgignore": "*.md\n",
      ".git/config": "",
      "text.txt": "needle",
      "md": "needle",
      "x.md/text.txt": "needle",
      ".hidden.md": "needle",
      ".folder/a.md": "needle",
      ".odd.md/a.md": "needle",
      "private/a.md": "needle",
      "deep/Private/b.md": "needle",
      "deep/模板/c.md": "needle",
      "Templates/d.md": "needle",
      "_index.md": "needle",
    });
    await Deno.symlink(`${outside.root}/secret.md`, vault.pathOf("link.md"));
    await Deno.symlink(outside.root, vault.pathOf("folder"));
    await Deno.symlink(vault.root, vault.pathOf("deep/loop"));

    const result = await grepTwice(vault.root, { query: "needle" });

    deepEqual(placesOf(result), ["UPPER.MD:1", "long.markdown:1", "ok.md:1", "x.md/inner.md:1"]);
    equal(result.total, 4);
  });

  it("grepVault() judges the path again, however little ripgrep was told to leave out", async () => {
    await using vault = await tempVault({ "private/a.md": "needle", "b.md": "needle" });
    const rgPath = await requireRipgrep();

    const result = await grepIn(vault.root, { query: "needle", rgPath, excludedGlobs: [] });

    deepEqual(placesOf(result), ["b.md:1"]);
    equal(result.total, 1);
  });

  it("grepVault() leaves out what is not wanted, and counts it nowhere", async () => {
    await using vault = await tempVault({ "a.md": "x", "b.md": "x", "c/b.md": "x" });

    const result = await grepTwice(vault.root, {
      query: "x",
      isWanted: (path) => path.endsWith("b.md"),
    });

    deepEqual([placesOf(result), result.total], [["b.md:1", "c/b.md:1"], 2]);
  });

  it("grepVault() copes with bytes that are no UTF-8, in texts and in names", async () => {
    await using vault = await tempVault({
      "lossy.md": Uint8Array.of(0xe4, 0x20, 0xff, 0xfe, ...bytesOf(" needle\nsecond needle"), 0xe4),
      "bom.md": Uint8Array.of(0xef, 0xbb, 0xbf, ...bytesOf("needle first\nneedle")),
      "wide.md": Uint8Array.of(0xff, 0xfe, ...bytesOf("n\0e\0e\0d\0l\0e\0")),
      "big5-记忆.md": "needle",
    });
    // The name is the two bytes "n\xff", which no path of ours can be.
    await new Deno.Command("sh", {
      args: ["-c", `printf needle > "$(printf 'n\\377.md')"`],
      cwd: vault.root,
    }).output();

    const literal = await grepTwice(vault.root, { query: "needle" });
    const pattern = await grepTwice(vault.root, { query: "ne+dle", regex: true });

    const expected = ["big5-记忆.md:1", "bom.md:1", "bom.md:2", "lossy.md:1", "lossy.md:2"];
    deepEqual([placesOf(literal), placesOf(pattern)], [expected, expected]);
    equal(pattern.files[1]?.matches[0]?.text, "needle first");
    equal(pattern.files[2]?.matches[1]?.text, "second needle\ufffd");
  });

  it("grepVault() counts lines as the rest of the server does", async () => {
    await using vault = await tempVault({ "old.md": "one\rtwo\r\nthree\nneedle here" });

    const literal = await grepTwice(vault.root, { query: "needle" });
    const pattern = await grepTwice(vault.root, { query: "need.e", regex: true });

    deepEqual(literal.files[0]?.matches, [{ line: 4, text: "needle here", before: "three" }]);
    deepEqual(pattern.files, literal.files);
  });

  it("grepVault() cuts a long line around its match and through no character", async () => {
    const wide = "𠮷".repeat(400);
    await using vault = await tempVault({
      "end.md": `${"x".repeat(5_000)} needle`,
      "middle.md": `${wide}a needle${wide}\n${wide}`,
      "start.md": `needle ${"y".repeat(5_000)}`,
    });

    for (const ask of [{ query: "needle" }, { query: "nee.le", regex: true }]) {
      const { files } = await grepTwice(vault.root, ask);

      for (const { path, matches: [match] } of files) {
        const text = match?.text ?? "";
        ok(text.includes("needle"), path);
        ok(text.length <= 300 && text.length >= 298, `${path}: ${text.length}`);
        ok(text.isWellFormed(), path);
      }
      const cuts = files.map(({ matches: [match] }) => match?.text.replace(/[^…]+/, "-"));
      deepEqual(cuts, ["…-", "…-…", "-…"]);
      ok((files[1]?.matches[0]?.after ?? "").isWellFormed());
    }
  });

  it("grepVault() finds the end of a line that is as long as a note may be", async () => {
    const text = "ab ".repeat(3_400_000);
    await using vault = await tempVault({ "one.md": `${text}needle tail`, "z.md": "needle" });

    for (const ask of [{ query: "needle" }, { query: "ne{2}dle tail$", regex: true }]) {
      const { files } = await grepTwice(vault.root, ask);

      const [one] = files;
      equal(one?.path, "one.md");
      ok(one.matches[0]?.text.endsWith("ab needle tail"));
    }
  });

  it("grepVault() counts all lines of a file and shows the first twenty", async () => {
    await using vault = await tempVault({ "many.md": "needle\n".repeat(1_000) });

    for (const ask of [{ query: "needle" }, { query: "need.e", regex: true }]) {
      const { files: [file] } = await grepTwice(vault.root, ask);

      equal(file?.matchCount, 1_000);
      deepEqual(file.matches.map(({ line }) => line), Array.from({ length: 20 }, (_, i) => i + 1));
    }
  });

  it("grepVault() skips a file above the size limit", async () => {
    const large = new Uint8Array(10 * 1024 * 1024 + 1).fill(0x78);
    large.set(bytesOf("needle"));
    await using vault = await tempVault({ "large.md": large, "small.md": "needle" });

    const result = await grepTwice(vault.root, { query: "needle" });

    deepEqual(placesOf(result), ["small.md:1"]);
  });

  it("grepVault() sorts folder by folder, or by the number of lines, before it cuts", async () => {
    await using vault = await tempVault({
      "a.md": "x\nx",
      "a/b.md": "x\nx\nx",
      "a/c.md": "x",
      "a/b/d.md": "x\nx",
      "b.md": "x",
    });
    const cases: [Partial<GrepRequest>, string[]][] = [
      [{ limit: 9 }, ["a/b/d.md", "a/b.md", "a/c.md", "a.md", "b.md"]],
      [{ limit: 2 }, ["a/b/d.md", "a/b.md"]],
      [{ limit: 9, order: "match-count" }, ["a/b.md", "a/b/d.md", "a.md", "a/c.md", "b.md"]],
      [{ limit: 2, order: "match-count" }, ["a/b.md", "a/b/d.md"]],
    ];
    for (const [ask, expected] of cases) {
      const result = await grepTwice(vault.root, { query: "x", ...ask });

      deepEqual(result.files.map(({ path }) => path), expected, JSON.stringify(ask));
      equal(result.total, 5);
    }
  });

  it("grepVault() gives in pages what it gives at once", async () => {
    const random = randomSource(5);
    const files = Array.from({ length: 60 }, (_, i) => [
      `${"ab"[random(2)]}/${random(2) === 0 ? "deep/" : ""}${i}.md`,
      "needle\n".repeat(random(4)),
    ]);
    await using vault = await tempVault(Object.fromEntries(files));
    const isWanted = (path: string) => !path.endsWith("7.md");
    const confirm = (path: string) => Promise.resolve(!path.endsWith("3.md"));
    const asks: readonly Ask[] = [
      { query: "needle", order: "match-count" },
      { query: "needle", order: "path", isWanted },
      { query: "nee.le", regex: true, order: "match-count", isWanted, confirm },
    ];
    for (const ask of asks) {
      const whole = await grepTwice(vault.root, ask);
      const paged = [];
      for (let skip = 0; skip < whole.total;) {
        const limit = 1 + random(20);
        const page = await grepTwice(vault.root, { ...ask, skip, limit });
        ok(page.total === whole.total || (ask.confirm && page.total > whole.total));
        paged.push(...page.files);
        skip += limit;
      }

      deepEqual(paged, whole.files);
    }
  });

  it("grepVault() counts what it skips, and behind the last file shows none", async () => {
    await using vault = await tempVault({ "a.md": "x", "b.md": "x", "c.md": "x" });

    const second = await grepTwice(vault.root, { query: "x", skip: 1, limit: 1 });
    const behind = await grepTwice(vault.root, { query: "x", skip: 9, limit: 1 });

    deepEqual([placesOf(second), second.total], [["b.md:1"], 3]);
    deepEqual([placesOf(behind), behind.total], [[], 3]);
  });

  it("grepVault() with ripgrep opens no file that it skips", async () => {
    await using vault = await tempVault({ "a.md": "x", "b.md": "x", "c.md": "x", "d.md": "x" });
    const rgPath = await requireRipgrep();
    using openings = watchOpenings();

    for (const ask of [{ query: "x" }, { query: "[x]", regex: true }]) {
      await grepIn(vault.root, { ...ask, rgPath, skip: 2, limit: 1 });
    }

    deepEqual(openings.paths, [vault.pathOf("c.md"), vault.pathOf("c.md")]);
  });

  it("grepVault() has files confirmed in order, down to the last one that it shows", async () => {
    const paths = ["a.md", "b.md", "c.md", "d.md", "e.md", "f.md"];
    await using vault = await tempVault(Object.fromEntries(paths.map((path) => [path, "x"])));
    const asked: string[] = [];

    const result = await grepTwice(vault.root, {
      query: "x",
      skip: 1,
      limit: 2,
      confirm: (path) => {
        asked.push(path);
        return Promise.resolve(path !== "a.md" && path !== "c.md");
      },
    });

    deepEqual(placesOf(result), ["d.md:1", "e.md:1"]);
    equal(result.total, 4);
    deepEqual(asked, [...paths.slice(0, 5), ...paths.slice(0, 5)]);
  });

  it("grepVault() stops asking for files to be confirmed when that takes too long, or nobody waits", async () => {
    await using vault = await tempVault({ "a.md": "x", "b.md": "x", "c.md": "x" });
    let nowMs = 0;
    const clock: Clock = { ...systemClock, monotonicMs: () => nowMs };
    const client = new AbortController();
    const asked: string[] = [];

    const result = await grepIn(vault.root, {
      query: "x",
      clock,
      confirm: () => Promise.resolve((nowMs += 1_500) > 0),
    });
    const left = grepIn(vault.root, {
      query: "x",
      signal: client.signal,
      confirm: (path) => {
        asked.push(path);
        client.abort("gone");
        return Promise.resolve(path !== "");
      },
    });

    deepEqual([placesOf(result), result.truncated, result.total], [["a.md:1", "b.md:1"], true, 3]);
    await rejects(left, (reason) => reason === "gone");
    deepEqual(asked, ["a.md"]);
  });
});

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

describe("grepVault() with a ripgrep that misbehaves", () => {
  /** Writes a program that stands in for ripgrep, into a folder that is no vault. */
  async function fakeRipgrep(script: string) {
    const folder = await tempVault({ rg: `#!/bin/sh\n${script}\n` });
    await Deno.chmod(folder.pathOf("rg"), 0o755);
    return { ...folder, rgPath: folder.pathOf("rg") };
  }

  it("grepVault() falls back to the built-in engine when it does not start or answer", async () => {
    await using vault = await tempVault({ "a.md": "needle" });
    await using old = await fakeRipgrep("echo 'rg: unrecognized flag --crlf' >&2; exit 2");
    await using broken = await fakeRipgrep("kill -SEGV $$");
    await using plain = await tempVault({ rg: "not executable" });
    const paths = [old.rgPath, broken.rgPath, plain.pathOf("rg"), "/no/such/rg"];

    for (const rgPath of paths) {
      for (const regex of [false, true]) {
        const result = await grepIn(vault.root, { query: "needle", regex, rgPath });

        deepEqual([result.engine, placesOf(result)], ["built-in", ["a.md:1"]], rgPath);
      }
    }
  });

  it("grepVault() stops it when time is up and tells what it had until then", async () => {
    await using vault = await tempVault({ "a.md": "needle" });
    await using slow = await fakeRipgrep("printf './a.md\\0001\\n'; exec sleep 600");

    const result = await grepIn(vault.root, {
      query: "needle",
      rgPath: slow.rgPath,
      timeLimitMs: 1_000,
    });

    deepEqual([result.engine, result.truncated], ["ripgrep", true]);
    deepEqual(placesOf(result), ["a.md:1"]);
  });

  it("grepVault() stops it when the caller gives up", async () => {
    await using vault = await tempVault({ "a.md": "needle" });
    await using slow = await fakeRipgrep("exec sleep 600");
    const giveUp = new AbortController();

    const pending = grepIn(vault.root, {
      query: "needle",
      rgPath: slow.rgPath,
      signal: giveUp.signal,
    });
    giveUp.abort(new Error("gone"));

    await rejects(pending, /gone/);
  });

  it("grepVault() hands it no environment and more than one thread, which opens no excluded folder", async () => {
    await using vault = await tempVault({ "a.md": "needle" });
    await using spy = await fakeRipgrep('{ env; echo "$@"; } > "${0%/*}/seen"');

    await grepIn(vault.root, { query: "needle", rgPath: spy.rgPath, excludedGlobs: ["private"] });

    const seen = await Deno.readTextFile(spy.pathOf("seen"));
    ok(!/^(HOME|USER|RIPGREP_CONFIG_PATH)=/m.test(seen), seen);
    ok(/ --threads=[2-9] /.test(seen));
    ok(/ --iglob=!private /.test(seen));
  });

  it("grepVault() drops a file that is not there any more, and a path that is none", async () => {
    await using vault = await tempVault({ "a.md": "needle" });
    await using liar = await fakeRipgrep(
      "printf './gone.md\\0001\\n./../up.md\\0001\\n./n\\377.md\\0001\\n./a.md\\0001\\n'",
    );

    const result = await grepIn(vault.root, { query: "needle", rgPath: liar.rgPath });

    deepEqual([placesOf(result), result.total], [["a.md:1"], 1]);
  });
});

describe("grepVault() without ripgrep", () => {
  it("grepVault() tells what it found until time was up", async () => {
    await using vault = await tempVault({ "a.md": "needle", "b.md": "needle" });
    let asked = 0;
    // Time stands still until the first file has been searched.
    const clock: Clock = { ...systemClock, monotonicMs: () => (asked > 0 ? 10_000 : 0) };

    const result = await grepIn(vault.root, {
      query: "needle",
      clock,
      isWanted: () => {
        asked++;
        return true;
      },
    });

    deepEqual([result.truncated, placesOf(result)], [true, ["a.md:1"]]);
  });

  it("grepVault() ends when the caller gives up", async () => {
    await using vault = await tempVault({ "a.md": "needle" });

    const pending = grepIn(vault.root, { query: "needle", signal: AbortSignal.abort("gone") });

    await rejects(pending, (reason) => reason === "gone");
  });

  it("grepVault() says when the vault has gone", async () => {
    const gone = await tempVault({ "a.md": "needle" });
    const vault = openVault({ root: gone.root, memoriesFolder: ".", exclude: [] });
    await gone[Symbol.asyncDispose]();
    const ask = { vault, query: "needle", limit: 1, isWanted: () => true, excludedGlobs: [] };

    await rejects(grepVault(ask), IndexNotReady);
    await rejects(grepVault({ ...ask, rgPath: await requireRipgrep() }), IndexNotReady);
  });
});
