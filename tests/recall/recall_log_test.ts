import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  MAX_RECORDED_HINTS,
  RecallLogAnswerShape,
  RecallStatsAnswerShape,
} from "@/lib/contracts_recall.ts";
import { CREDIT_MS, type NewHint, RecallLog } from "@/lib/recall/recall_log.ts";

const START_MS = Date.UTC(2026, 4, 14);

function openLog() {
  let nowMs = START_MS;
  const log = new RecallLog({ nowMs: () => nowMs, monotonicMs: () => nowMs });
  return {
    log,
    pass: (ms: number) => {
      nowMs += ms;
    },
    add: (id: string, extra: Partial<NewHint> = {}) =>
      log.add([{
        id,
        trigger: "user",
        session: "s",
        run: null,
        score: 0.6,
        given: true,
        ...extra,
      }]),
    opened: () => log.list({ limit: 100 }).hints.map(({ id, openedAt }) => [id, openedAt !== null]),
  };
}

describe("RecallLog", () => {
  it("list() tells each hint, newest first, and what came of it", () => {
    const { log, add, pass } = openLog();
    add("a");
    pass(1_000);
    add("b", { trigger: "assistant", run: "r1", score: 0.7, given: false });
    pass(1_000);
    log.noteOpened("a");
    pass(1_000);
    log.noteUpdated("a", "new");
    log.noteOpened("a");

    const answer = RecallLogAnswerShape.parse(log.list({ limit: 10 }));

    deepEqual(answer, {
      total: 2,
      hints: [
        {
          id: "b",
          trigger: "assistant",
          session: "s",
          run: "r1",
          score: 0.7,
          at: "2026-05-14T00:00:01.000Z",
          given: false,
          openedAt: null,
          updatedAt: null,
        },
        {
          id: "a",
          trigger: "user",
          session: "s",
          run: null,
          score: 0.6,
          at: "2026-05-14T00:00:00.000Z",
          given: true,
          openedAt: "2026-05-14T00:00:02.000Z",
          updatedAt: "2026-05-14T00:00:03.000Z",
        },
      ],
    });
  });

  it("list() takes the last ones, of one session if that is asked", () => {
    const { log, add } = openLog();
    for (let i = 0; i < 6; i++) add(`m${i}`, { session: i % 2 === 0 ? "even" : "odd" });

    deepEqual(log.list({ limit: 2 }).hints.map(({ id }) => id), ["m5", "m4"]);
    const even = log.list({ limit: 2, session: "even" });
    deepEqual([even.total, even.hints.map(({ id }) => id)], [3, ["m4", "m2"]]);
    deepEqual(log.list({ limit: 2, session: "no" }), { total: 0, hints: [] });
  });

  it("noteOpened() counts for the last hint alone, and not before it", () => {
    const { log, add, opened } = openLog();
    log.noteOpened("a");
    add("a");
    add("a");
    log.noteOpened("a");
    add("a");

    deepEqual(opened(), [["a", false], ["a", true], ["a", false]]);
  });

  it("noteOpened() does not count for what was never shown", () => {
    const { log, add, opened } = openLog();
    add("a");
    add("a", { given: false });
    log.noteOpened("a");

    deepEqual(opened(), [["a", false], ["a", true]]);
  });

  it("noteOpened() does not count when the hint is long past", () => {
    const { log, add, pass, opened } = openLog();
    add("a");
    add("b");
    pass(CREDIT_MS);
    log.noteOpened("a");
    pass(1);
    log.noteOpened("b");

    deepEqual(opened(), [["b", false], ["a", true]]);
  });

  it("noteUpdated() does not count what is still as it was hinted", () => {
    const { log, add } = openLog();
    add("a", { etag: "e1" });
    const isUpdated = () => log.list({ limit: 1 }).hints[0]?.updatedAt !== null;

    log.noteUpdated("a", "e1");
    const before = isUpdated();
    log.noteUpdated("a", "e2");

    deepEqual([before, isUpdated()], [false, true]);
    ok(!("etag" in (log.list({ limit: 1 }).hints[0] ?? {})));
  });

  it("sumUp() counts hints, and the memories hinted most often in vain first", () => {
    const { log, add } = openLog();
    add("a");
    log.noteOpened("a");
    for (let i = 0; i < 3; i++) add("b", { trigger: "assistant" });
    log.noteOpened("b");
    log.noteUpdated("b", "new");
    add("c");
    add("d", { trigger: "assistant", given: false });

    const answer = RecallStatsAnswerShape.parse(log.sumUp({ limit: 2 }));

    const at = "2026-05-14T00:00:00.000Z";
    deepEqual(answer, {
      since: at,
      hinted: 5,
      opened: 2,
      neverOpened: 3,
      updated: 1,
      recorded: 1,
      byTrigger: {
        user: { hinted: 2, opened: 1, neverOpened: 1 },
        assistant: { hinted: 3, opened: 1, neverOpened: 2 },
      },
      memories: { hinted: 3, opened: 2, neverOpened: 1 },
      mostHinted: [
        { id: "b", hinted: 3, opened: 1, neverOpened: 2, lastHintedAt: at },
        { id: "c", hinted: 1, opened: 0, neverOpened: 1, lastHintedAt: at },
      ],
    });
  });

  it("sumUp() of nothing has nothing", () => {
    const { log } = openLog();

    const answer = RecallStatsAnswerShape.parse(log.sumUp({ limit: 50 }));

    deepEqual([answer.since, answer.hinted, answer.mostHinted], [null, 0, []]);
  });

  it("add() forgets the oldest ones", () => {
    const { log, add, pass } = openLog();
    for (let i = 0; i < MAX_RECORDED_HINTS * 3 + 7; i++) {
      add(`m${i}`);
      pass(1);
    }
    log.noteOpened("m0");

    const { total, hints } = log.list({ limit: MAX_RECORDED_HINTS });
    const stats = log.sumUp({ limit: 0 });

    equal(total, MAX_RECORDED_HINTS);
    equal(hints.at(-1)?.id, `m${MAX_RECORDED_HINTS * 2 + 7}`);
    deepEqual([stats.hinted, stats.opened], [MAX_RECORDED_HINTS, 0]);
    equal(stats.since, hints.at(-1)?.at);
  });
});
