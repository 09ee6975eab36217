import { deepStrictEqual as deepEqual, ok, rejects } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { groupPitfalls } from "@/lib/audit/pitfall_groups.ts";
import { readModelFile } from "@/lib/embed/model_file.ts";
import { StaticEmbedder } from "@/lib/embed/static_embedder.ts";
import { SLICE_MS, systemClock as clock } from "@/lib/seams.ts";
import { countTurns } from "@/tests/_support/count_turns.ts";

const embedder = new StaticEmbedder({ clock, read: readModelFile });
const withModel = { clock, embedder };
const withoutModel = { clock, embedder: undefined };

/** Each of another cause. */
const OTHERS = [
  "The printer smeared the labels since the paper was still damp.",
  "The choir sang flat after the heating had broken down.",
  "相机电池在零下二十度只撑了十分钟，多带两块贴身保暖。",
  "会议室的投影仪不认转接头，提前半小时去试线。",
  "The spreadsheet counted hidden rows in its total.",
  "翻译稿把人名弄混了，先建一张译名表。",
  "Bread did not rise because the yeast was two years old.",
  "退税申请被驳回，发票抬头少写了一个字。",
];

const DISK = [
  "The build failed with ENOSPC: old container images had filled the disk. Prune them weekly.",
  "Deployment stopped, no space left on the disk, because nobody removed old container images.",
  "构建机磁盘满了，旧的容器镜像一直没人清理，加了每周清理。",
  "磁盘空间被旧容器镜像占满，部署失败，定期清理镜像。",
];

/** Returns the texts of the group that holds most of those looked for. */
function textsOf(texts: readonly string[], members: readonly number[] = []): string[] {
  return members.map((index) => texts[index] ?? "").sort();
}

describe("groupPitfalls()", () => {
  it("groupPitfalls() finds what was told again in both languages, and nothing else", async () => {
    const texts = [...OTHERS.slice(0, 4), ...DISK, ...OTHERS.slice(4)];

    const groups = await groupPitfalls(withModel, texts);

    deepEqual(groups.map(({ members }) => textsOf(texts, members)), [[...DISK].sort()]);
    ok(groups.every(({ score }) => score >= .5 && score <= 1));
  });

  it("groupPitfalls() finds nothing that was told twice", async () => {
    deepEqual(await groupPitfalls(withModel, [...OTHERS, ...DISK.slice(0, 2)]), []);
  });

  it("groupPitfalls() does not take an error code alone for the same problem", async () => {
    const texts = [
      "The compiler stopped with E0308 as one arm of a match returned nothing.",
      "教室门禁屏上显示 E0308，读卡器的排线松了，重新插好。",
      "E0308 on the laser cutter: its lid was not closed all the way.",
      ...OTHERS,
    ];

    deepEqual(await groupPitfalls(withModel, texts), []);
  });

  for (const [kind, deps] of Object.entries({ withModel, withoutModel })) {
    it(`groupPitfalls() tells the codes that members share, ${kind}`, async () => {
      const texts = [
        "Postgres refused connections (ECONNREFUSED) because it listened on loopback only.",
        "ECONNREFUSED: the Postgres server listened on loopback only, so connections failed.",
        "Connections to Postgres failed with econnrefused as it listened on the loopback. TS2307",
        ...OTHERS,
      ];

      const groups = await groupPitfalls(deps, texts);

      deepEqual(groups.map(({ members, codes }) => ({ members, codes })), [
        { members: [0, 1, 2], codes: ["ECONNREFUSED"] },
      ]);
    });

    it(`groupPitfalls() takes the same text three times for one problem, ${kind}`, async () => {
      const said = "忘了续域名，网站停了一天。";
      const texts = [said, ...OTHERS, "忘了续域名,网站停了一天", said];

      const groups = await groupPitfalls(deps, texts);

      deepEqual(groups.map(({ members }) => members), [[0, texts.length - 2, texts.length - 1]]);
    });

    it(`groupPitfalls() finds nothing in too few texts, ${kind}`, async () => {
      for (const texts of [[], ["one"], ["one", "one"], ["", " ", "。"]]) {
        deepEqual(await groupPitfalls(deps, texts), []);
      }
    });
  }

  it("groupPitfalls() finds a group among a few texts of nothing else", async () => {
    const groups = await groupPitfalls(withModel, DISK);

    deepEqual(groups.map(({ members }) => members), [[0, 1, 2, 3]]);
  });

  it("groupPitfalls() puts what is likest first, and no text in two groups", async () => {
    const said = ["a", "b", "c"].map((it) => `The backup was never restored before, run ${it}.`);
    const texts = [...DISK, ...said, ...OTHERS];

    const groups = await groupPitfalls(withModel, texts);

    deepEqual(groups.map(({ members }) => members), [[4, 5, 6], [0, 1, 2, 3]]);
  });

  it("groupPitfalls() lets others have the event loop while it compares 2 000 texts", async () => {
    let nowMs = 0;
    // A slice is over after a hundred looks.
    const hasty = { nowMs: () => nowMs, monotonicMs: () => nowMs += SLICE_MS / 100 };
    const texts = Array.from(
      { length: 2000 },
      (_, index) => `${DISK[index % 4]} ${OTHERS[index % 8]} ${index}`,
    );

    const turns = await countTurns(groupPitfalls({ clock: hasty, embedder: undefined }, texts));

    // A step is at most one text, and what is compared of it.
    ok(turns >= texts.length / 50, `${turns}`);
  });

  it("groupPitfalls() stops when it is told to", async () => {
    const aborted = AbortSignal.abort(new RangeError("enough"));

    await rejects(groupPitfalls(withModel, DISK, aborted), RangeError);
    await rejects(groupPitfalls(withoutModel, DISK, aborted), RangeError);
  });
});
