import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import type { Indexing } from "@/lib/contracts.ts";
import { awaitIndex, INDEX_WAIT_MS, type Progress, PROGRESS_EVERY_MS } from "@/lib/mcp/progress.ts";
import { serveEndpoint } from "@/tests/_support/endpoint_world.ts";
import { connectSdk } from "@/tests/_support/mcp.ts";

/** An index that gets on by one step each time somebody looks, on a clock that runs with it. */
function openIndex(states: readonly (Indexing | undefined)[], stepMs: number) {
  let looks = 0;
  let nowMs = 0;
  const told: Progress[] = [];
  return {
    told,
    deps: {
      clock: {
        nowMs: () => nowMs,
        monotonicMs: () => nowMs += stepMs,
      },
      index: {
        get indexing(): Indexing | undefined {
          return states[Math.min(looks++, states.length - 1)];
        },
      },
    },
    onProgress: (progress: Progress) => {
      told.push(progress);
      return Promise.resolve();
    },
    looks: () => looks,
  };
}

describe("awaitIndex()", () => {
  it("returns at once if the vault has been read", async () => {
    const { deps, looks, onProgress, told } = openIndex([undefined], 1);

    await awaitIndex(deps, onProgress, undefined);

    deepEqual([looks(), told], [1, []]);
  });

  it("tells how far it is, once a second at the most, and each time more", async () => {
    const states = [
      { done: 0, total: 0 },
      { done: 10, total: 100 },
      { done: 20, total: 100 },
      { done: 20, total: 100 },
      { done: 5, total: 100 },
      { done: 90, total: 100 },
      undefined,
    ];
    const { deps, onProgress, told } = openIndex(states, PROGRESS_EVERY_MS);
    await awaitIndex(deps, onProgress, undefined);

    const often = openIndex(states, 1);
    await awaitIndex(often.deps, often.onProgress, undefined);

    deepEqual(told.map(({ progress, total }) => [progress, total]), [[10, 100], [20, 100], [
      90,
      100,
    ]]);
    match(told[0]?.message ?? "", /^Reading the vault: 10 of 100 files$/);
    equal(often.told.length, 1);
  });

  it("does not wait for ever, nor for a client that has left", async () => {
    const endless = openIndex([{ done: 1, total: 2 }], INDEX_WAIT_MS / 4);
    await awaitIndex(endless.deps, endless.onProgress, undefined);
    const left = openIndex([{ done: 1, total: 2 }], 1);
    await awaitIndex(left.deps, left.onProgress, AbortSignal.abort());

    ok(endless.looks() < 6);
    deepEqual(left.told, []);
  });
});

describe("a call while the vault is read", () => {
  for (const transport of ["modern", "legacy", "sse"] as const) {
    it(`over ${transport} that asks for progress waits and is told; others do not wait`, async () => {
      let indexing: Indexing | undefined = { done: 3, total: 9 };
      await using world = await serveEndpoint({
        files: { "a.md": "zebra" },
        replace: ({ index }) => ({
          index: new Proxy(index, {
            get: (target, key) => {
              if (key === "indexing") return indexing;
              const value: unknown = Reflect.get(target, key, target);
              return typeof value === "function" ? value.bind(target) : value;
            },
          }),
        }),
      });
      await using connection = await connectSdk(world.url, transport);
      const call = { name: "recall", arguments: { query: "zebra" } };
      const told: object[] = [];

      const { structuredContent: early } = await connection.client.callTool(call);
      const { structuredContent: late } = await connection.client.callTool(call, {
        onprogress: (progress) => {
          told.push(progress);
          indexing = undefined;
        },
      });

      deepEqual((early as { indexing?: Indexing }).indexing, { done: 3, total: 9 });
      deepEqual(told, [{ progress: 3, total: 9, message: "Reading the vault: 3 of 9 files" }]);
      const { indexing: still, total } = late as { indexing?: Indexing; total: number };
      deepEqual([still, total], [undefined, 1]);
    });
  }
});
