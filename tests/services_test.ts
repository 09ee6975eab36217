import { describe, it } from "@std/testing/bdd";
import {
  deepStrictEqual as deepEqual,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { systemClock } from "@/lib/seams.ts";
import { createServices } from "@/lib/services.ts";
import { type TestServices, testServices } from "./_support/services.ts";

/** Greps for what stands in every file, and tells when it looks at the first. */
function grepAll(services: TestServices, onBegin: () => void, signal?: AbortSignal) {
  let begun = false;
  return services.grep({
    query: "zebra",
    limit: 10,
    signal,
    isWanted: () => {
      if (!begun) onBegin();
      begun = true;
      return true;
    },
  });
}

describe("createServices()", () => {
  it("grep() runs two at once, however many are asked for", async () => {
    await using services = await testServices({ "a.md": "zebra", "b.md": "zebra" });
    let running = 0;
    let most = 0;
    const grepOnce = async () => {
      const { total } = await grepAll(services, () => most = Math.max(most, ++running));
      running--;
      return total;
    };

    const totals = await Promise.all(Array.from({ length: 6 }, grepOnce));

    deepEqual(totals, [2, 2, 2, 2, 2, 2]);
    equal(most, 2);
  });

  it("grep() lets a text through while patterns take long", async () => {
    await using services = await testServices({ "a.md": "zebra" });
    const hold = Promise.withResolvers<void>();
    const ask = { query: "zebra", limit: 10, isWanted: () => true };
    const patterns = Array.from(
      { length: 3 },
      () => services.grep({ ...ask, regex: true, confirm: () => hold.promise.then(() => true) }),
    );

    const { total } = await services.grep(ask);
    hold.resolve();

    equal(total, 1);
    deepEqual((await Promise.all(patterns)).map((found) => found.total), [1, 1, 1]);
  });

  it("grep() does not begin for a caller who left while it waited", async () => {
    await using services = await testServices({ "a.md": "zebra" });
    const client = new AbortController();
    let begun = 0;
    const count = () => begun++;
    const first = [grepAll(services, count), grepAll(services, count)];
    const third = grepAll(services, count, client.signal);

    client.abort("gone");
    await rejects(third, (reason) => reason === "gone");
    await Promise.all(first);

    equal(begun, 2);
  });

  it("the record of hints outlives a restart", async () => {
    await using services = await testServices({ "memories/a.md": "---\nid: m\n---\n" });
    await services.ready();
    const hint = { trigger: "user", session: "s", run: null, score: 0.6, given: true } as const;
    services.recallLog.add([{ id: "m", ...hint }]);
    await services.close();

    const next = createServices(services.config, services);
    await next.ready();
    next.recallLog.noteOpened("m");
    const { hints } = next.recallLog.list({ limit: 10 });
    await next.close();

    deepEqual(hints.map(({ id, openedAt }) => [id, openedAt !== null]), [["m", true]]);
  });

  it("start() logs no words of what kept the vault from being read", async () => {
    const clock = {
      ...systemClock,
      nowMs: () => {
        throw new RangeError("SECRET");
      },
      monotonicMs: () => {
        throw new RangeError("SECRET");
      },
    };
    await using services = await testServices({ "a.md": "zebra" }, {}, { clock });

    await services.ready();

    const line = services.logs.map((text) => JSON.parse(text))
      .find(({ event }) => event === "vault-not-indexed");
    equal(line?.cause, "RangeError");
    ok(services.logs.every((text) => !text.includes("SECRET")));
  });
});
