/**
 * Lets a controller abort with a signal that may live long. `AbortSignal.any()` would keep something
 * for each call as long as that signal lives, some kilobytes (Deno 2.9).
 */

/** Aborts a controller as soon as a signal does; returns what ends that. */
export function followSignal(
  controller: AbortController,
  signal: AbortSignal | undefined,
): () => void {
  const follow = () => controller.abort(signal?.reason);
  if (signal?.aborted) follow();
  signal?.addEventListener("abort", follow);
  return () => signal?.removeEventListener("abort", follow);
}
