/**
 * Guards against web pages that use a browser on this machine to reach the server. A page may
 * rebind its own name to 127.0.0.1 and then read the answers: the browser still sends that name as
 * `Host`. Or it sends requests across origins: the browser then names the page in `Origin`, or at
 * least says `Sec-Fetch-Site: cross-site`, which counts as well, because answers that cannot be
 * read can still be timed. Programs that are no browsers send what they like: the token is for them.
 */
import { isLoopbackHost } from "@/lib/loopback.ts";

/** The names that the configuration lets through, all in lower case. */
export interface AllowedNames {
  /** The address that the server listens on. */
  readonly host: string;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
}

interface Authority {
  readonly name: string;
  readonly port: number;
}

const AUTHORITY = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::(\d{1,5}))?$/;
const HTTP_PORT = 80;
/** To listen there means every address of the machine; nobody has to ask for it by that name. */
const UNSPECIFIED = ["0.0.0.0", "::"];

function parseAuthority(text: string): Authority | undefined {
  const [, address, name, port] = AUTHORITY.exec(text.toLowerCase()) ?? [];
  const host = address ?? name?.replace(/\.$/, "");
  return host === undefined ? undefined : { name: host, port: Number(port ?? HTTP_PORT) };
}

/**
 * Tells whether a `Host` header names this server: a loopback name or address, the configured
 * host, or one of the allowed hosts, each with any port.
 *
 * @param header `undefined` = there is none, which is refused.
 */
export function isAllowedHost(header: string | undefined, allowed: AllowedNames): boolean {
  const name = parseAuthority(header ?? "")?.name;
  if (name === undefined) return false;
  if (isLoopbackHost(name) || allowed.allowedHosts.includes(name)) return true;
  return name === allowed.host.replace(/%.*$/, "") && !UNSPECIFIED.includes(name);
}

/**
 * Tells whether an `Origin` header names this server itself, or an origin that the configuration
 * lists. The names of loopback stand for each other; the port has to be the one that was asked.
 *
 * @param host The `Host` header of the same request, which must have been checked before.
 */
export function isAllowedOrigin(origin: string, host: string, allowed: AllowedNames): boolean {
  if (allowed.allowedOrigins.includes(origin.toLowerCase())) return true;
  const page = parseAuthority(/^http:\/\/(.+)$/i.exec(origin)?.[1] ?? "");
  const server = parseAuthority(host);
  if (page === undefined || server === undefined || page.port !== server.port) return false;
  return page.name === server.name || (isLoopbackHost(page.name) && isLoopbackHost(server.name));
}

/** What a browser says about the origin of a request, in its `Sec-Fetch-` headers. */
export interface FetchMetadata {
  readonly site: string | undefined;
  readonly mode: string | undefined;
  readonly dest: string | undefined;
}

/** Tells whether a page of another site asks behind the person's back; a followed link does not. */
export function isCrossSite({ site, mode, dest }: FetchMetadata): boolean {
  if (site !== "cross-site") return false;
  return mode !== "navigate" || dest !== "document";
}
