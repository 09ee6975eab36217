import { deepStrictEqual as deepEqual, throws } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { UsageError } from "./command_line.ts";
import { judge, parseSettings } from "./embed.ts";
import { type EmbedRound, toLimitUse } from "./embed_measure.ts";

const latency = (ms: number) => ({ p50: ms, p95: ms, p99: ms, longest: ms, count: 1 });

function round(share: number, busyMs = 1, { fallbackMs = 1, idleMs = 1 } = {}): EmbedRound {
  const limit = { seconds: 1, requests: 1, texts: 1, tooOften: 0, share };
  const busy = { keyword: latency(busyMs), fallback: latency(fallbackMs) };
  return { form: "base64", chunks: 1, limit, busy, idle: { keyword: latency(idleMs) } };
}

describe("parseSettings()", () => {
  it("has defaults for all", () => {
    deepEqual(parseSettings([]), {
      notes: 2_000,
      forms: ["base64", "numbers"],
      dimensions: 512,
      rate: { perSecond: 10, burst: 4 },
      latencyMs: 50,
      rounds: 3,
      json: false,
    });
  });

  for (const args of [["--notes", "0"], ["--forms", "bytes"], ["--rate", "1"], ["stray"]]) {
    it(`refuses ${args.join(" ")}`, () => {
      throws(() => parseSettings(args), UsageError);
    });
  }
});

describe("judge()", () => {
  it("takes each number from its best round", () => {
    const rounds = [round(0.9, 3), round(0.7, 1.5)];

    deepEqual(judge(rounds), [{ form: "base64", share: 0.9, latency: 1.5, isMet: true }]);
  });

  it("makes nothing of a round that was disturbed when it was idle", () => {
    const rounds = [round(0.9, 3), round(0.9, 3, { idleMs: 3 })];

    deepEqual(judge(rounds).map(({ latency }) => latency), [3]);
  });

  const missed: readonly [string, EmbedRound][] = [
    ["too little of the limit was used", round(0.79)],
    ["searches took too long", round(0.9, 2.1)],
    ["searches that were answered by words did", round(0.9, 1, { fallbackMs: 2.1 })],
    ["there was no search", { ...round(0.9), busy: {} }],
  ];
  for (const [what, each] of missed) {
    it(`is not content when ${what}`, () => {
      deepEqual(judge([each]).map(({ isMet }) => isMet), [false]);
    });
  }
});

describe("toLimitUse()", () => {
  it("counts from the first request to the last answer", () => {
    const successes = [{ atMs: 1_500, texts: 8 }, { atMs: 3_000, texts: 4 }];

    const use = toLimitUse({ firstRequestMs: 1_000, requests: 3, mostAtOnce: 2, successes }, 2);

    deepEqual(use, { seconds: 2, requests: 2, texts: 12, tooOften: 1, share: 0.5 });
  });

  it("refuses to say anything when nobody has asked", () => {
    throws(() => toLimitUse({ requests: 0, mostAtOnce: 0, successes: [] }, 2), /embedded/);
  });
});
