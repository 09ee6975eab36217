import { ok } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { readModelFile } from "@/lib/embed/model_file.ts";
import { StaticEmbedder } from "@/lib/embed/static_embedder.ts";
import { systemClock } from "@/lib/seams.ts";
import { judgePairs, judgePitfalls } from "./judge.ts";
import { readLabels, takeHalf } from "./labels.ts";

const embedder = new StaticEmbedder({ clock: systemClock, read: readModelFile });
const labels = readLabels(import.meta.dirname ?? ".");

describe("the audit", () => {
  it("groupPitfalls() finds what it was tuned on", async () => {
    const figures = await judgePitfalls(takeHalf(labels, "tuning").pitfalls, embedder);

    const seen = JSON.stringify(figures);
    ok(figures.firstPrecision >= .9, seen);
    ok(figures.precision >= .6, seen);
    ok(figures.recall >= .6, seen);
  });

  it("groupPitfalls() is right about the first groups of all labelled pitfalls", async () => {
    const figures = await judgePitfalls(labels.pitfalls, embedder);

    const seen = JSON.stringify(figures);
    ok(figures.firstPrecision >= .8, seen);
    ok(figures.precision >= .5, seen);
    ok(figures.recall >= .48, seen);
  });

  it("groupPitfalls() finds some by words and codes alone", async () => {
    const figures = await judgePitfalls(labels.pitfalls, undefined);

    const seen = JSON.stringify(figures);
    ok(figures.precision >= .2, seen);
    ok(figures.recall >= .15, seen);
  });

  it("findConflicts() finds most contradictions of the labelled pairs, the first ten surely", async () => {
    const { byLang: [figures] } = await judgePairs(labels.pairs, embedder);

    const seen = JSON.stringify(figures);
    ok(figures && figures.firstPrecision >= .9, seen);
    ok(figures.precision >= .65, seen);
    ok(figures.recall >= .7, seen);
  });

  it("findConflicts() finds half of them by words alone", async () => {
    const { byLang: [figures] } = await judgePairs(labels.pairs, undefined);

    const seen = JSON.stringify(figures);
    ok(figures && figures.precision >= .65, seen);
    ok(figures.recall >= .5, seen);
  });
});
