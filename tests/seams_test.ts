import { describe, it } from "@std/testing/bdd";
import { deepStrictEqual as deepEqual, rejects, strictEqual as equal } from "node:assert/strict";
import { Semaphore, Slicer, systemClock } from "@/lib/seams.ts";

/** Work by name that ends when told to, and a list of what has begun. */
function workbench(places: number) {
  const semaphore = new Semaphore(places);
  const begun: string[] = [];
  const work = (name: string, signal?: AbortSignal) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const done = semaphore.run(() => {
      begun.push(name);
      return promise;
    }, signal);
    return { done, finish: () => resolve(name), fail: () => reject(new Error(name)) };
  };
  return { begun, work };
}

describe("Semaphore", () => {
  it("run() lets so many run at once, and the others in the order in which they came", async () => {
    const { begun, work } = workbench(2);
    const [a, b, c, d] = [work("a"), work("b"), work("c"), work("d")];

    deepEqual(begun, ["a", "b"]);
    b.finish();
    equal(await b.done, "b");
    deepEqual(begun, ["a", "b", "c"]);
    a.finish();
    await a.done;
    deepEqual(begun, ["a", "b", "c", "d"]);

    c.finish();
    d.finish();
    deepEqual(await Promise.all([c.done, d.done]), ["c", "d"]);
  });

  it("run() gives the place on when work fails", async () => {
    const { begun, work } = workbench(1);
    const [a, b] = [work("a"), work("b")];

    a.fail();
    await rejects(a.done, /a/);

    deepEqual(begun, ["a", "b"]);
    b.finish();
    await b.done;
  });

  it("run() never begins work that gave up before its turn", async () => {
    const { begun, work } = workbench(1);
    const givesUp = new AbortController();
    const a = work("a");
    const b = work("b", givesUp.signal);
    const c = work("c");

    givesUp.abort("gone");
    await rejects(b.done, (reason) => reason === "gone");
    await rejects(work("d", givesUp.signal).done, (reason) => reason === "gone");
    a.finish();
    await a.done;

    deepEqual(begun, ["a", "c"]);
    c.finish();
    await c.done;
  });

  it("run() holds a place until work ends, though its signal has aborted", async () => {
    const { begun, work } = workbench(1);
    const givesUp = new AbortController();
    const a = work("a", givesUp.signal);
    const b = work("b");

    givesUp.abort();
    await Promise.resolve();
    deepEqual(begun, ["a"]);

    a.finish();
    await a.done;
    deepEqual(begun, ["a", "b"]);
    b.finish();
    await b.done;
  });

  it("run() is as good as new after many came and gave up", async () => {
    const { begun, work } = workbench(2);
    const givesUp = new AbortController();
    const [a, b] = [work("a"), work("b")];
    const waiting = Array.from({ length: 100 }, (_, i) => work(`${i}`, givesUp.signal));

    givesUp.abort("gone");
    await Promise.allSettled(waiting.map(({ done }) => done));
    a.finish();
    b.finish();
    await Promise.all([a.done, b.done]);
    const later = [work("c"), work("d"), work("e")];

    deepEqual(begun, ["a", "b", "c", "d"]);
    for (const { finish } of later) finish();
    await Promise.all(later.map(({ done }) => done));
  });
});

describe("Slicer.run()", () => {
  it("takes no more steps when its signal aborts, and throws the signal's reason", async () => {
    const stop = new AbortController();
    let steps = 0;
    function* work(): Generator<void, string> {
      for (; steps < 10; steps++) {
        if (steps === 3) stop.abort(new Error("enough"));
        yield;
      }
      return "done";
    }

    const running = new Slicer(systemClock).run(work(), stop.signal);

    await rejects(running, /enough/);
    equal(steps, 3);
  });
});
