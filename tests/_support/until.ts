const LIMIT_MS = 20_000;
const STEP_MS = 5;

/**
 * Looks again and again until there is something to see, for what other processes and sockets do in
 * their own time.
 *
 * @throws {Error} If there is nothing for so long that it will not come.
 */
export async function until<T>(
  look: () => Promise<T | undefined | false>,
  failure: string = `Waited ${LIMIT_MS} ms for what did not come`,
): Promise<T> {
  const endMs = performance.now() + LIMIT_MS;
  while (performance.now() < endMs) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
  }
  throw new Error(failure);
}

/** Waits for something that is about to happen, and fails in these words if it does not. */
export async function untilSo(what: string, isSo: () => boolean): Promise<void> {
  await until(() => Promise.resolve(isSo()), `Waited in vain until ${what}`);
}
