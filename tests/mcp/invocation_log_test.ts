import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { MAX_INVOCATIONS } from "@/lib/contracts_tools.ts";
import { InvocationLog } from "@/lib/mcp/invocation_log.ts";

const invocation = (requestId: string) => ({
  tool: "recall",
  client: "test/1",
  transport: "modern" as const,
  startedAt: "2026-01-01T00:00:00.000Z",
  ms: 1,
  outcome: "ok",
  requestId,
});

const idsOf = (log: InvocationLog, limit: number) =>
  log.list(limit).invocations.map(({ requestId }) => requestId);

describe("InvocationLog", () => {
  it("list() is empty at first", () => {
    deepEqual(new InvocationLog().list(10), { total: 0, invocations: [] });
  });

  it("list() gives the newest first, and no more than was asked for", () => {
    const log = new InvocationLog();
    for (const id of ["1", "2", "3"]) log.add(invocation(id));

    deepEqual(idsOf(log, 10), ["3", "2", "1"]);
    deepEqual(idsOf(log, 2), ["3", "2"]);
  });

  it("add() forgets the oldest beyond the bound, and still counts them", () => {
    const log = new InvocationLog();
    const total = MAX_INVOCATIONS + 5;
    for (let number = 1; number <= total; number++) log.add(invocation(String(number)));

    const ids = idsOf(log, MAX_INVOCATIONS);

    equal(log.list(1).total, total);
    equal(ids.length, MAX_INVOCATIONS);
    deepEqual(ids, Array.from({ length: MAX_INVOCATIONS }, (_, back) => String(total - back)));
  });
});
