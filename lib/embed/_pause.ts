/** Waits for a while, or less: when the signal aborts, its reason is thrown at once. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const giveUp = () => reject(signal?.reason);
  const timer = setTimeout(resolve, ms);
  signal?.addEventListener("abort", giveUp);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", giveUp);
  }
}

/** Waits for work that heeds no signal; it goes on unseen when the signal aborts. */
export async function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  signal?.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const giveUp = () => reject(signal?.reason);
  signal?.addEventListener("abort", giveUp);
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal?.removeEventListener("abort", giveUp);
  }
}
