/** Names and addresses of this machine alone. */

/**
 * Tells whether a host name or address means this machine alone: `localhost`, 127.0.0.0/8, ::1,
 * with or without brackets; a port must not follow. Names are not looked up.
 *
 * @example
 * ```ts
 * import { isLoopbackHost } from "@/lib/loopback.ts";
 * import { equal } from "node:assert/strict";
 *
 * equal(isLoopbackHost("[::1]"), true);
 * equal(isLoopbackHost("localhost.evil.example"), false);
 * ```
 */
export function isLoopbackHost(name: string): boolean {
  const host = foldHostName(name);
  if (host === "localhost") return true;
  if (host.includes(":")) return isLoopbackAddress6(host);
  return isLoopbackAddress4(host);
}

function isLoopbackAddress4(host: string): boolean {
  const bytes = host.split(".");
  return bytes.length === 4 && bytes[0] === "127" &&
    bytes.every((byte) => /^(0|[1-9]\d{0,2})$/.test(byte) && Number(byte) <= 255);
}

/** IPv4 in IPv6 clothes counts too: that is how a dual-stack socket names its peers. */
function isLoopbackAddress6(host: string): boolean {
  if (!URL.canParse(`http://[${host}]`)) return false;
  const { hostname } = new URL(`http://[${host}]`);
  return hostname === "[::1]" || /^\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\]$/.test(hostname);
}

/** Lower case, without brackets and without the dot that may end a full name. */
export function foldHostName(name: string): string {
  return name.trim().toLowerCase().replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}
