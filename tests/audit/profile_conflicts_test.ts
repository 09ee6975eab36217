import { deepStrictEqual as deepEqual, ok, rejects } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { findConflicts } from "@/lib/audit/profile_conflicts.ts";
import { readModelFile } from "@/lib/embed/model_file.ts";
import { StaticEmbedder } from "@/lib/embed/static_embedder.ts";
import { SLICE_MS, systemClock as clock } from "@/lib/seams.ts";
import { countTurns } from "@/tests/_support/count_turns.ts";

const embedder = new StaticEmbedder({ clock, read: readModelFile });
const withModel = { clock, embedder };
const withoutModel = { clock, embedder: undefined };

const OTHERS = [
  "Keep a changelog",
  "周三下午不开会",
  "The office plant is watered on Mondays",
  "图片压缩后再上传",
];

const toEntries = (texts: readonly string[], section = "writing") =>
  texts.map((text) => ({ section, text }));

/** Returns the pairs that are reported, best first, by the texts of their entries. */
async function pairsOf(deps: typeof withModel | typeof withoutModel, texts: readonly string[]) {
  const found = await findConflicts(deps, toEntries(texts));
  return found.map(({ first, second }) => [texts[first], texts[second]]);
}

describe("findConflicts()", () => {
  const contradictions: Record<string, readonly [string, string]> = {
    "by a denial": ["Use emoji in release notes", "Never use emoji in release notes"],
    "by a denial in Chinese": ["回复里多用表情符号", "回复里不要用表情符号"],
    "by a number": ["每段不超过 80 字", "每段写到 200 字左右"],
    "by a name": ["编辑器默认用 Vim", "编辑器统一用 Emacs"],
    "by opposite values": ["变量名用下划线", "变量名用驼峰"],
    "by opposite values of any matter": ["先写结论", "结论放到最后写"],
    "across languages": ["注释一律用英文写", "Comments are written in Chinese, always"],
    "by a contrast": ["Prefer tables over diagrams", "Use diagrams instead of tables"],
  };
  for (const [how, [one, other]] of Object.entries(contradictions)) {
    it(`findConflicts() puts first what contradicts ${how}`, async () => {
      const [best] = await pairsOf(withModel, [one, ...OTHERS, other]);

      deepEqual(best, [one, other]);
    });
  }

  const agreements: Record<string, readonly [string, string]> = {
    "other matters": ["Use short sentences", "图表用深蓝色"],
    "an exception": ["少用感叹号", "除非是祝贺信，感叹号不用管"],
    "cases apart": ["In Go code, indent with tabs", "In YAML files, indent with spaces"],
    "the same text": ["Use tabs, never spaces", "use tabs — never spaces."],
  };
  for (const [what, [one, other]] of Object.entries(agreements)) {
    it(`findConflicts() puts ${what} below a contradiction`, async () => {
      const [clear, against] = ["标题最多 15 个字", "标题最多 30 个字"];

      const found = await pairsOf(withModel, [one, clear, against, other]);

      deepEqual(found[0], [clear, against]);
    });
  }

  it("findConflicts() leaves out what is said twice in the same words", async () => {
    deepEqual(await pairsOf(withModel, ["Never use tabs", "never use tabs."]), []);
  });

  it("findConflicts() compares within a section only", async () => {
    const entries = [
      ...toEntries(["Use emoji in release notes"], "writing"),
      ...toEntries(["Never use emoji in release notes"], "other"),
    ];

    deepEqual(await findConflicts(withModel, entries), []);
  });

  it("findConflicts() gives indexes among all entries, the lower first, best first", async () => {
    const entries = [
      ...toEntries(["Keep a changelog"], "pace"),
      ...toEntries(["Never use emoji in release notes", "图片压缩后再上传"], "writing"),
      ...toEntries(["每段不超过 80 字"], "other"),
      ...toEntries(["Use emoji in release notes"], "writing"),
      ...toEntries(["每段写到 200 字左右"], "other"),
    ];

    const found = await findConflicts(withModel, entries);

    deepEqual(found.map(({ first, second }) => `${first} ${second}`).sort(), ["1 4", "3 5"]);
    ok(found.every(({ score }) => score > 0 && score <= 1));
    deepEqual(found, found.toSorted((a, b) => b.score - a.score));
  });

  it("findConflicts() does with words alone where there is no embedder", async () => {
    const said = ["Use emoji in release notes", "Never use emoji in release notes"];

    deepEqual(await pairsOf(withoutModel, [...said, ...OTHERS]), [said]);
  });

  it("findConflicts() finds nothing in too few entries", async () => {
    for (const deps of [withModel, withoutModel]) {
      for (const texts of [[], ["Use tabs"], ["", "。"]]) {
        deepEqual(await findConflicts(deps, toEntries(texts)), []);
      }
    }
  });

  it("findConflicts() lets others have the event loop between pairs", async () => {
    let nowMs = 0;
    // A slice is over at every look.
    const hasty = { nowMs: () => nowMs, monotonicMs: () => nowMs += SLICE_MS };
    const texts = Array.from({ length: 40 }, (_, index) => `Rule ${index}: ${OTHERS[index % 4]}`);

    const turns = await countTurns(
      findConflicts({ clock: hasty, embedder: undefined }, toEntries(texts)),
    );

    ok(turns >= texts.length, `${turns}`);
  });

  it("findConflicts() stops when it is told to", async () => {
    const aborted = AbortSignal.abort(new RangeError("enough"));

    await rejects(findConflicts(withModel, toEntries(OTHERS), aborted), RangeError);
  });
});
