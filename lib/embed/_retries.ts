/** Decides whether and when a request that failed is tried again. */
import type { FailureKind, RequestFailure } from "./_request_failure.ts";

const MAX_ATTEMPTS = 6;
/** An error of the server that comes again and again is for the text, whatever its status says. */
const MAX_ATTEMPTS_AFTER_500 = 3;
/** It takes a minute each time until it is clear that there is no answer. */
const MAX_ATTEMPTS_WHEN_SLOW = 2;
/** All wait together then, so that few attempts go astray. */
const MAX_ATTEMPTS_AFTER_LIMIT = 10;
const BASE_MS = 500;
const MAX_BACKOFF_MS = 30_000;
/** Who wants more is left alone by everybody. */
const MAX_WAIT_MS = 60_000;
/** Someone waits for the answer to a query. */
const MAX_QUERY_WAIT_MS = 500;
const MAX_QUERY_BACKOFF_MS = 100;

/**
 * Returns how long to wait before passages are sent again; `undefined` = they are not.
 *
 * After a limit it is no time: the pacer sees to that.
 *
 * @param attempt How often they have been sent.
 * @param random 0 up to 1.
 */
export function planRetry(
  failure: RequestFailure,
  attempt: number,
  random: number,
): number | undefined {
  const { kind, retryAfterMs, status } = failure;
  if ((retryAfterMs ?? 0) > MAX_WAIT_MS || attempt >= mostAttempts(kind, status)) return undefined;
  if (kind === "limit") return 0;
  // Anything up to the most, so that many who failed together do not come back together.
  return retryAfterMs ?? random * Math.min(BASE_MS * 2 ** (attempt - 1), MAX_BACKOFF_MS);
}

function mostAttempts(kind: FailureKind, status: number | undefined): number {
  switch (kind) {
    case "limit":
      return MAX_ATTEMPTS_AFTER_LIMIT;
    case "passing":
      return status === 500 ? MAX_ATTEMPTS_AFTER_500 : MAX_ATTEMPTS;
    case "slow":
      return MAX_ATTEMPTS_WHEN_SLOW;
    default:
      return 1;
  }
}

/** Returns how long to wait before a query is sent a second time; `undefined` = it is not. */
export function planQueryRetry(failure: RequestFailure, random: number): number | undefined {
  const { kind, retryAfterMs } = failure;
  if (kind === "passing") {
    const waitMs = retryAfterMs ?? random * MAX_QUERY_BACKOFF_MS;
    return waitMs <= MAX_QUERY_WAIT_MS ? waitMs : undefined;
  }
  const isSoon = retryAfterMs !== undefined && retryAfterMs <= MAX_QUERY_WAIT_MS;
  return kind === "limit" && isSoon ? retryAfterMs : undefined;
}
