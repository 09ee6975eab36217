/** The guards at the door, in the order in which a request meets them. */
import type { MiddlewareHandler } from "hono";
import { createHash, timingSafeEqual } from "node:crypto";
import { clientName } from "@/lib/client_name.ts";
import type { Config } from "@/lib/config.ts";
import { OWNER } from "@/lib/contracts.ts";
import { AppError } from "@/lib/errors.ts";
import { maskUserinfo, MAX_SHOWN_CHARS } from "@/lib/mask_userinfo.ts";
import { isLoopbackHost } from "@/lib/loopback.ts";
import { CWD_HEADER, readCwdHeader } from "./_cwd_header.ts";
import type { AppEnv } from "./app_env.ts";
import { type AllowedNames, isAllowedHost, isAllowedOrigin, isCrossSite } from "./host_guard.ts";
import { authorityOf } from "./request_target.ts";

/** Names the task that a request belongs to. */
const TASK_HEADER = "x-commonplace-task";

/** Refuses requests that name another server, or come from a page of another site. */
export function guardNames(allowed: AllowedNames): MiddlewareHandler<AppEnv> {
  return async function checkNames(c, next) {
    const host = c.req.header("host");
    // Both, as a request line may hold a whole address that says something else.
    for (const name of [host, authorityOf(c.req.url)]) {
      if (!isAllowedHost(name, allowed)) throw forbiddenHost(name);
    }
    const origin = c.req.header("origin");
    if (origin !== undefined && !isAllowedOrigin(origin, host ?? "", allowed)) {
      throw forbiddenOrigin(`Origin ${show(origin)} may not use this server`, "--allowed-origins");
    }
    if (origin === undefined && isCrossSite(fetchMetadata((name) => c.req.header(name)))) {
      throw forbiddenOrigin("Pages of other sites may not use this server", "--allowed-origins");
    }
    await next();
  };
}

function fetchMetadata(header: (name: string) => string | undefined) {
  return {
    site: header("sec-fetch-site"),
    mode: header("sec-fetch-mode"),
    dest: header("sec-fetch-dest"),
  };
}

function forbiddenHost(name: string | undefined): AppError {
  const what = name ? `Host ${show(name)} is not a name of this server` : "There is no Host header";
  return new AppError(
    "forbidden-host",
    `${what}. Ask 127.0.0.1 or localhost, or name it at the start with --allowed-hosts`,
  );
}

function forbiddenOrigin(what: string, flag: string): AppError {
  return new AppError("forbidden-origin", `${what}, unless it was started with ${flag}`);
}

function show(text: string): string {
  return JSON.stringify(maskUserinfo(text).slice(0, MAX_SHOWN_CHARS));
}

/** Refuses other machines while there is no token, wherever the server listens. */
export function guardPeer({ token }: Pick<Config, "token">): MiddlewareHandler<AppEnv> {
  return async function checkPeer(c, next) {
    const loopback = isLoopbackPeer(c.env?.remoteAddr);
    if (!loopback && token === undefined) {
      throw new AppError(
        "forbidden-peer",
        "Other machines may connect only when the server was started with --token",
      );
    }
    c.set("caller", {
      kind: "agent",
      loopback,
      origin: new URL(c.req.url).origin,
      task: c.req.header(TASK_HEADER)?.trim() || undefined,
      client: clientName(undefined, c.req.header("user-agent")),
      cwd: readCwdHeader(c.req.header(CWD_HEADER)),
      signal: c.req.raw.signal,
    });
    await next();
  };
}

function isLoopbackPeer(address: Deno.Addr | undefined): boolean {
  if (address === undefined) return false;
  if (address.transport === "tcp") return isLoopbackHost(address.hostname);
  return address.transport === "unix";
}

/**
 * Asks for the bearer token on every path: that of agents, or the owner's. Open paths are let
 * through without one, and see by `isTrusted` that they may say little. Digests are compared, so
 * that the time taken tells neither text nor length.
 */
export function guardToken(
  { token, ownerToken }: Pick<Config, "token" | "ownerToken">,
  isOpenPath: (path: string) => boolean,
): MiddlewareHandler<AppEnv> {
  const expected = token === undefined ? undefined : digest(token);
  const ofOwner = ownerToken === undefined ? undefined : digest(ownerToken);
  return async function checkToken(c, next) {
    const header = c.req.header("authorization");
    const brings = (secret: Uint8Array | undefined) =>
      header !== undefined && secret !== undefined && isBearer(header, secret);
    const isOwner = brings(ofOwner);
    const isTrusted = isOwner || expected === undefined || brings(expected);
    const isOpen = header === undefined && isOpenPath(c.req.path);
    if (!isTrusted && !isOpen) throw unauthorized(header);
    c.set("isTrusted", isTrusted);
    const who = isOwner
      ? { kind: "owner", principal: OWNER } as const
      : { kind: "agent", principal: principalOf(header) } as const;
    c.set("caller", { ...c.get("caller"), ...who });
    await next();
  };
}

function isBearer(header: string, expected: Uint8Array): boolean {
  const given = bearerOf(header);
  return given !== undefined && timingSafeEqual(digest(given), expected);
}

function bearerOf(header: string): string | undefined {
  return /^bearer +(\S+) *$/i.exec(header)?.[1];
}

/** Compares a text with a secret in a time that tells neither; what is not there equals nothing. */
export function isSameSecret(given: string, secret: string | undefined): boolean {
  return secret !== undefined && timingSafeEqual(digest(given), digest(secret));
}

/** Whatever was sent: a server without a token still tells apart who sends which. */
function principalOf(header: string | undefined): string {
  // By the token, not by how the header is spelt.
  return header === undefined ? "" : digest(bearerOf(header) ?? header.trim()).toHex();
}

function unauthorized(header: string | undefined): AppError {
  const what = header === undefined
    ? "This server needs its token"
    : "The Authorization header does not hold this server's token";
  return new AppError("unauthorized", `${what}: send "Authorization: Bearer TOKEN"`, {
    headers: { "WWW-Authenticate": 'Bearer realm="commonplace"' },
  });
}

function digest(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}
