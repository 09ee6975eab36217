import { type Clock, systemClock } from "@/lib/seams.ts";

/** Returns a clock on which what takes a while after the first look has taken too long already. */
export function impatientClock(): Clock {
  let isFirst = true;
  return {
    ...systemClock,
    monotonicMs() {
      const aheadMs = isFirst ? 0 : 60_000;
      isFirst = false;
      return systemClock.monotonicMs() + aheadMs;
    },
  };
}
