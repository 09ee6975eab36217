/** What a client is called in logs and notes. */

const MAX_CLIENT_CHARS = 80;

/** What a client says of itself. */
export interface ClientInfo {
  readonly name: string;
  readonly version: string;
}

/**
 * Says who calls in a few safe characters; without a name the program stands in.
 *
 * @returns `undefined` if neither says anything.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 *
 * equal(clientName({ name: "claude code", version: "2.1" }, undefined), "claude-code/2.1");
 * equal(clientName(undefined, "curl/8.5.0 (linux)"), "curl/8.5.0");
 * ```
 */
export function clientName(
  info: ClientInfo | undefined,
  userAgent: string | undefined,
): string | undefined {
  const name = (info ? `${info.name}/${info.version}` : userAgent?.split(" ", 1)[0]) ?? "";
  // Some put the address of their service there, with all that it holds.
  const safe = name.slice(name.lastIndexOf("@") + 1);
  return safe.replace(/[^\w.@/:+-]+/g, "-").slice(0, MAX_CLIENT_CHARS) || undefined;
}
