import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { PendingHits } from "@/lib/journal/pending_hits.ts";

const waiting = (hits: PendingHits) => Object.fromEntries(hits.waiting);

describe("PendingHits", () => {
  it("keeps the newest day of each", () => {
    const hits = new PendingHits();

    hits.note(["p1", "p2"], "2026-05-14");
    hits.note(["p1"], "2026-05-13");
    hits.note(["p2"], "2026-05-15");

    deepEqual(waiting(hits), { p1: "2026-05-14", p2: "2026-05-15" });
  });

  it("forgets what is written, unless a later day has come meanwhile", () => {
    const hits = new PendingHits();
    hits.note(["p1", "p2", "p3"], "2026-05-14");
    const written = hits.waiting;
    hits.note(["p2"], "2026-05-15");

    hits.settle(new Map([...written].filter(([key]) => key !== "p3")));

    deepEqual(waiting(hits), { p2: "2026-05-15", p3: "2026-05-14" });
  });

  it("lets the oldest go where there are far too many", () => {
    const hits = new PendingHits();
    hits.note(Array.from({ length: 2_500 }, (_, i) => `p${i}`), "2026-05-14");

    equal(hits.waiting.size, 2_000);
    equal(hits.waiting.get("p2499"), "2026-05-14");
    equal(hits.waiting.get("p0"), undefined);
  });
});
