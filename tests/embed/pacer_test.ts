import { ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Pacer } from "@/lib/embed/_pacer.ts";
import { randomSource } from "../_support/random.ts";

/** Says at some time whether a request gets through, and if not, when the next one would. */
type Limiter = (nowMs: number) => number | undefined;

function tokenBucket(perSecond: number, burst: number): Limiter {
  let [tokens, atMs] = [burst, 0];
  return (nowMs) => {
    tokens = Math.min(burst, tokens + (nowMs - atMs) * perSecond / 1_000);
    atMs = nowMs;
    // A sum of many small steps.
    if (tokens < 1 - 1e-6) return (1 - tokens) * 1_000 / perSecond;
    tokens--;
    return undefined;
  };
}

function fixedWindow(perSecond: number, windowMs: number): Limiter {
  const most = perSecond * windowMs / 1_000;
  let [window, count] = [0, 0];
  return (nowMs) => {
    const current = Math.floor(nowMs / windowMs);
    if (current !== window) [window, count] = [current, 0];
    if (count >= most) return (current + 1) * windowMs - nowMs;
    count++;
    return undefined;
  };
}

/** A pacer without chance, whose clock stands until it is moved. */
function standingPacer() {
  const time = { nowMs: 5_000 };
  const clock = { nowMs: () => time.nowMs, monotonicMs: () => time.nowMs };
  return { time, pacer: new Pacer({ clock, random: () => 0 }) };
}

/** How a limiter puts into a header what it knows. */
const HEADERS = {
  "to the millisecond": (ms: number) => ms,
  "in whole seconds": (ms: number) => Math.ceil(ms / 1_000) * 1_000,
  "not at all": () => undefined,
} as const;

interface Client {
  readonly limiter: Limiter;
  readonly header: (ms: number) => number | undefined;
  readonly atOnce: number;
  readonly latencyMs: number;
  readonly forMs: number;
}

/** Returns how many requests get through when there is always one more. */
function simulate({ limiter, header, atOnce, latencyMs, forMs }: Client): number {
  const time = { nowMs: 0 };
  const clock = { nowMs: () => time.nowMs, monotonicMs: () => time.nowMs };
  const random = randomSource(4);
  const pacer = new Pacer({ clock, random: () => random(1_000) / 1_000 });
  /** When each place is free, and what is to be noted then. */
  const places = Array.from({ length: atOnce }, () => ({ atMs: 0, end: () => {} }));
  let through = 0;
  for (;;) {
    const place = places.reduce((first, each) => each.atMs < first.atMs ? each : first);
    if (place.atMs >= forMs) return through;
    time.nowMs = Math.max(time.nowMs, place.atMs);
    place.end();
    place.end = () => {};
    const waitMs = pacer.waitMs();
    if (waitMs > 0) {
      place.atMs = time.nowMs + waitMs;
      continue;
    }
    const startedMs = pacer.start();
    const retryMs = limiter(time.nowMs);
    if (retryMs === undefined) through++;
    place.atMs = time.nowMs + latencyMs;
    place.end = () => {
      if (retryMs === undefined) pacer.succeeded(startedMs);
      else pacer.limited(startedMs, header(retryMs));
    };
  }
}

const LIMITERS: readonly (readonly [string, (perSecond: number) => Limiter])[] = [
  ["a bucket of 1", (perSecond) => tokenBucket(perSecond, 1)],
  ["a bucket of 10", (perSecond) => tokenBucket(perSecond, 10)],
  ["a bucket of 60", (perSecond) => tokenBucket(perSecond, 60)],
  ["windows of a second", (perSecond) => fixedWindow(perSecond, 1_000)],
  ["windows of ten seconds", (perSecond) => fixedWindow(perSecond, 10_000)],
  ["windows of a minute", (perSecond) => fixedWindow(perSecond, 60_000)],
];

describe("Pacer", () => {
  for (const [name, limiterOf] of LIMITERS) {
    for (const [said, header] of Object.entries(HEADERS)) {
      it(`Pacer uses what ${name} give when they say ${said} how long to wait`, () => {
        for (const perSecond of [2, 5, 20, 50]) {
          for (const latencyMs of [5, 20, 70]) {
            const forMs = 300_000;
            const limiter = limiterOf(perSecond);

            const through = simulate({ limiter, header, atOnce: 4, latencyMs, forMs });

            const used = through / (perSecond * forMs / 1_000);
            ok(used >= 0.85, `${perSecond}/s at ${latencyMs} ms: ${used}`);
          }
        }
      });
    }
  }

  it("Pacer.limited() makes all wait as long as the provider says, and a minute at the most", () => {
    const { pacer, time } = standingPacer();

    for (const [saidMs, heldMs] of [[2_000, 2_000], [0, 0], [3_600_000, 60_000]] as const) {
      pacer.limited(pacer.start(), saidMs);

      equal(pacer.waitMs(), heldMs);
      time.nowMs += 1_000_000;
    }
  });

  it("Pacer.limited() waits longer each time when nobody says how long", () => {
    const { pacer, time } = standingPacer();

    const waits = Array.from({ length: 12 }, () => {
      time.nowMs += pacer.waitMs();
      pacer.limited(pacer.start(), undefined);
      return pacer.waitMs();
    });

    ok(waits.every((ms, at) => (at === 0 || ms >= (waits[at - 1] ?? 0))));
    ok((waits[0] ?? 0) < 500);
    equal(Math.round(waits.at(-1) ?? 0), 15_000);
  });

  it("Pacer.limited() takes refusals of what was under way together for one", () => {
    const { pacer, time } = standingPacer();
    const starts = [pacer.start(), pacer.start(), pacer.start()];
    time.nowMs += 10;

    for (const startedMs of starts) pacer.limited(startedMs, undefined);

    equal(pacer.waitMs(), 250);
  });

  it("Pacer.hold() makes requests wait for what others ran into, without a slower pace", () => {
    const { pacer, time } = standingPacer();

    pacer.hold(300);
    const waitMs = pacer.waitMs();
    time.nowMs += 300;
    pacer.start();

    equal(waitMs, 300);
    equal(pacer.waitMs(), 0);
  });

  it("Pacer does not take a break of hours for a slow provider", () => {
    const { pacer, time } = standingPacer();
    for (let round = 0; round < 100; round++) {
      time.nowMs += 10;
      pacer.succeeded(pacer.start());
    }
    time.nowMs += 3_600_000;

    pacer.limited(pacer.start(), 0);
    pacer.start();

    ok(pacer.waitMs() < 20);
  });
});
