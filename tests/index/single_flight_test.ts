import {
  deepStrictEqual as deepEqual,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { SingleFlight } from "@/lib/index/_single_flight.ts";

/** Runs that end when the test says so. */
function controlled() {
  const ends: ((error?: Error) => void)[] = [];
  const flight = new SingleFlight(() =>
    new Promise<number>((resolve, reject) => {
      const number = ends.length + 1;
      ends.push((error) => error ? reject(error) : resolve(number));
    })
  );
  return { flight, ends };
}

describe("SingleFlight", () => {
  it("join() during a run waits for one that begins after it, shared by all who wait", async () => {
    const { flight, ends } = controlled();
    const first = flight.join();
    const waiting = [flight.join(), flight.join()];

    equal(ends.length, 1);
    ends[0]?.();
    equal(await first, 1);
    await new Promise((resolve) => setTimeout(resolve, 0));
    ends[1]?.();

    deepEqual(await Promise.all(waiting), [2, 2]);
    equal(ends.length, 2);
  });

  it("join() after a run that failed starts a new one", async () => {
    const { flight, ends } = controlled();
    const failing = flight.join();
    const waiting = flight.join();

    ends[0]?.(new Error("disk"));
    await rejects(failing);
    await new Promise((resolve) => setTimeout(resolve, 0));
    ends[1]?.();

    equal(await waiting, 2);
  });

  it("join() between a run and the next one waits for that, and starts no second", async () => {
    let running = 0;
    let most = 0;
    const flight = new SingleFlight(async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running--;
    });

    for (let round = 0; round < 20; round++) {
      const first = flight.join();
      const second = flight.join();
      await first;
      await Promise.all([flight.join(), second, flight.join()]);
    }
    await flight.idle();

    equal(most, 1);
    equal(running, 0);
  });

  it("idle() returns when the last run has ended", async () => {
    const { flight, ends } = controlled();
    const run = flight.join();
    let isIdle = false;
    const idle = flight.idle().then(() => isIdle = true);

    await new Promise((resolve) => setTimeout(resolve, 0));
    ok(!isIdle);
    ends[0]?.();
    await run;
    await idle;

    ok(isIdle);
  });
});
