/**
 * Goes on with work step by step, unless the signal has aborted.
 *
 * @throws The reason of the signal.
 */
export function* untilAborted<T>(
  steps: Generator<void, T>,
  signal: AbortSignal | undefined,
): Generator<void, T> {
  for (;;) {
    signal?.throwIfAborted();
    const step = steps.next();
    if (step.done) return step.value;
    yield;
  }
}
