import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { SUPPRESSION_RUNS } from "@/lib/contracts_recall.ts";
import {
  HintSessions,
  MAX_RUN_HINTS,
  MAX_SESSIONS,
  type RunPlace,
} from "@/lib/recall/hint_sessions.ts";

const USER: RunPlace = { session: "s", trigger: "user" };
const AGENT: RunPlace = { session: "s", trigger: "assistant" };

function hint(sessions: HintSessions, place: RunPlace, ...ids: string[]): void {
  sessions.enter(place).mark(ids);
}

describe("HintSessions", () => {
  it("enter() holds back for a message what was hinted in the ten runs before, by any trigger", () => {
    const sessions = new HintSessions();
    hint(sessions, USER, "a");
    hint(sessions, AGENT, "b");

    const isHeld = Array.from({ length: SUPPRESSION_RUNS + 1 }, () => {
      const run = sessions.enter(USER);
      return [run.isHeld("a"), run.isHeld("b"), run.isHeld("c")];
    });

    deepEqual(isHeld.slice(0, -1), Array(SUPPRESSION_RUNS).fill([true, true, false]));
    deepEqual(isHeld.at(-1), [false, false, false]);
  });

  it("enter() holds back for an output what was hinted in its own run alone", () => {
    const sessions = new HintSessions();
    hint(sessions, USER, "a");
    hint(sessions, AGENT, "b");

    const same = sessions.enter(AGENT);
    deepEqual([same.isHeld("a"), same.isHeld("b")], [true, true]);

    sessions.enter(USER);
    const next = sessions.enter(AGENT);
    deepEqual([next.isHeld("a"), next.isHeld("b")], [false, false]);
  });

  it("enter() opens a run for an output that comes before any message", () => {
    const sessions = new HintSessions();
    hint(sessions, AGENT, "a");

    ok(sessions.enter(AGENT).isHeld("a"));
  });

  it("enter() goes on with the run that is named", () => {
    const sessions = new HintSessions();
    hint(sessions, { ...USER, run: "r1" }, "a");
    hint(sessions, { ...USER, run: "r2" }, "b");

    // A message into a run that is under way does not open another one.
    for (let i = 0; i < 20; i++) sessions.enter({ ...USER, run: "r1" });

    const first = sessions.enter({ ...AGENT, run: "r1" });
    deepEqual([first.isHeld("a"), first.isHeld("b")], [true, false]);
    // The run that was named last is the current one.
    deepEqual([sessions.enter(AGENT).isHeld("a"), sessions.enter(AGENT).isHeld("b")], [
      true,
      false,
    ]);
    ok(sessions.enter(USER).isHeld("b"));
  });

  it("enter() counts a run that goes on as the last one", () => {
    const sessions = new HintSessions();
    hint(sessions, { ...USER, run: "long" }, "a");
    for (let i = 0; i < SUPPRESSION_RUNS; i++) sessions.enter(USER);
    sessions.enter({ ...AGENT, run: "long" });

    ok(sessions.enter(USER).isHeld("a"));
  });

  it("enter() knows the hints of a run that was left long ago", () => {
    const sessions = new HintSessions();
    hint(sessions, { ...AGENT, run: "r" }, "a");
    for (let i = 0; i < 50; i++) hint(sessions, { ...USER, run: `other ${i}` }, `b${i}`);

    ok(sessions.enter({ ...AGENT, run: "r" }).isHeld("a"));
  });

  it("enter() keeps sessions apart", () => {
    const sessions = new HintSessions();
    hint(sessions, USER, "a");

    ok(!sessions.enter({ ...USER, session: "t" }).isHeld("a"));
  });

  it("enter() forgets the session that was used longest ago when there are too many", () => {
    const sessions = new HintSessions();
    for (let i = 0; i < MAX_SESSIONS; i++) hint(sessions, { ...USER, session: `${i}` }, "a");
    sessions.enter({ ...AGENT, session: "0" });
    sessions.enter({ ...USER, session: "one more" });

    equal(sessions.size, MAX_SESSIONS);
    ok(sessions.enter({ ...AGENT, session: "0" }).isHeld("a"));
    ok(!sessions.enter({ ...AGENT, session: "1" }).isHeld("a"));
  });

  it("isFull tells that a run has had its share, and the next one begins anew", () => {
    const sessions = new HintSessions();
    const run = sessions.enter(USER);
    for (let i = 0; i < MAX_RUN_HINTS; i++) {
      ok(!run.isFull);
      run.mark([`m${i}`]);
    }

    ok(sessions.enter(AGENT).isFull);
    ok(!sessions.enter(USER).isFull);
  });

  it("enter() forgets old runs of a session that never ends", () => {
    const sessions = new HintSessions();
    for (let i = 0; i < 5_000; i++) {
      const run = sessions.enter({ ...USER, run: `${i}` });
      for (let j = 0; j < 50; j++) run.mark([`${i}/${j}`]);
    }

    const run = sessions.enter(USER);
    ok(run.heldCount <= 50 * (SUPPRESSION_RUNS + 1), `${run.heldCount}`);
    ok(run.isHeld("4999/0"));
  });
});
