/**
 * What a repository is called, whatever way its remote is spelled. Remote URLs hold passwords and
 * tokens, and ids end up in notes, logs and answers: so whatever might be part of a userinfo is
 * dropped, and where that cannot be told apart, there is no id at all.
 */
import { basename } from "node:path";
import { shortHash } from "@/lib/short_hash.ts";

/** One `url.<base>.insteadOf` of Git's configuration. */
export interface InsteadOfRule {
  readonly base: string;
  readonly insteadOf: string;
}

/** Longer remotes are no remotes: it bounds what goes into notes and answers. */
const MAX_REMOTE_CHARS = 2_000;
const MAX_PORT = 65_535;
const MAX_BASENAME_CHARS = 60;
const HASH_CHARS = 12;
const NAMELESS = "repo";

const SSH_PORT = 22;
const DEFAULT_PORTS: ReadonlyMap<string, number> = new Map([
  ["https", 443],
  ["git+https", 443],
  ["http", 80],
  ["git+http", 80],
  ["ssh", SSH_PORT],
  ["git+ssh", SSH_PORT],
  ["ssh+git", SSH_PORT],
  ["git", 9418],
  ["ftp", 21],
  ["ftps", 990],
]);

/** A remote cut into what counts: all text before the host is gone. */
interface RemoteParts {
  /** Host and perhaps a port, as written. */
  readonly address: string;
  readonly defaultPort: number;
  /** Path, query and fragment, as written. */
  readonly rest: string;
}

/**
 * Returns the identity that all spellings of a remote share: `<lower-case host>[:port]/<path>`.
 *
 * Scheme, userinfo, query, fragment, default port and `.git` are dropped; the path keeps its case,
 * and percent escapes become characters where these mean nothing else. Hosts are not merged: the
 * HTTPS and SSH names of one service stay two.
 *
 * @returns `undefined` for what is no remote on a network: local paths, transport helpers, paths
 * with `..`, control characters, more than 2 000 characters, or an `@` behind the host, since that
 * may be the end of a password with a `/` in it.
 * @example
 * ```ts
 * import { equal } from "node:assert";
 * import { repoIdOf } from "@/lib/projects/repo_identity.ts";
 *
 * equal(repoIdOf("https://ada:secret@GitHub.com/acme/site.git"), "github.com/acme/site");
 * equal(repoIdOf("git@github.com:acme/site.git"), "github.com/acme/site");
 * equal(repoIdOf("/srv/git/site.git"), undefined);
 * ```
 */
export function repoIdOf(remoteUrl: string): string | undefined {
  const remote = remoteUrl.trim();
  if (remote.length > MAX_REMOTE_CHARS || !remote.isWellFormed()) return undefined;
  if (/[\p{Cc}\p{Zl}\p{Zp}\\]/u.test(remote)) return undefined;
  const parts = remote.includes("://") ? splitUrl(remote) : splitScpLike(remote);
  if (parts === undefined || parts.rest.includes("@")) return undefined;
  const address = formatAddress(parts);
  const path = formatPath(cutAt(parts.rest, /[?#]/)[0]);
  return address === undefined || path === undefined ? undefined : `${address}/${path}`;
}

/** Cuts `scheme://[userinfo@]address/rest`. */
function splitUrl(url: string): RemoteParts | undefined {
  const start = url.indexOf("://");
  const defaultPort = DEFAULT_PORTS.get(url.slice(0, start).toLowerCase());
  if (defaultPort === undefined) return undefined;
  const [authority, rest] = cutAt(url.slice(start + 3), /[/?#]/);
  return { address: authority.slice(authority.lastIndexOf("@") + 1), defaultPort, rest };
}

/**
 * Cuts `[user@]host:rest`, and the forms in brackets, for IPv6 and ports: `[::1]:rest`,
 * `user@[::1]:rest`, `[user@host:port]:rest`.
 */
function splitScpLike(remote: string): RemoteParts | undefined {
  // A transport helper: what follows is no address but, say, a command.
  if (/^[a-z0-9+.-]+::/i.test(remote)) return undefined;
  const [head] = cutAt(remote, /\//);
  const userEnd = head.lastIndexOf("@") + 1;
  const bare = remote.slice(userEnd);
  if (bare.startsWith("[")) return splitBrackets(bare);
  if (userEnd > 0 && remote.startsWith("[")) return splitBrackets(`[${bare}`);
  const [address, rest] = cutAt(bare, /[:/]/);
  if (!rest.startsWith(":")) return undefined;
  // `C:\x`, and `https:/x`, from which slashes got lost.
  const isDrive = userEnd === 0 && /^[a-z]$/i.test(address);
  const isScheme = DEFAULT_PORTS.has(address.toLowerCase()) || address.toLowerCase() === "file";
  if (isDrive || isScheme) return undefined;
  return { address, defaultPort: SSH_PORT, rest: rest.slice(1) };
}

function splitBrackets(remote: string): RemoteParts | undefined {
  const [inside, rest] = cutAt(remote.slice(1), /\]/);
  if (!rest.startsWith("]:")) return undefined;
  const isIpv6 = inside.indexOf(":") !== inside.lastIndexOf(":");
  const address = isIpv6 ? `[${inside}]` : inside;
  return { address, defaultPort: SSH_PORT, rest: rest.slice(2) };
}

/** Cuts a text before the first match; without one, all of it comes before. */
function cutAt(text: string, mark: RegExp): readonly [before: string, from: string] {
  const at = text.search(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at)];
}

function formatAddress({ address, defaultPort }: RemoteParts): string | undefined {
  const [, name = "", digits = ""] = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(address) ?? [];
  const host = parseHost(name);
  const port = digits === "" ? defaultPort : Number(digits);
  if (host === undefined || port < 1 || port > MAX_PORT) return undefined;
  return port === defaultPort ? host : `${host}:${port}`;
}

/** Returns a host as the web writes it: lower case, Punycode, the short form of an IPv6 address. */
function parseHost(name: string): string | undefined {
  // In brackets may be anything, and a URL takes the beginning of it for its host.
  const parsed = name === "" || /[/?#@]/.test(name) ? null : URL.parse(`http://${name}`);
  const host = parsed?.hostname.replace(/\.$/, "") ?? "";
  return host.split(".").includes("") ? undefined : host;
}

function formatPath(path: string): string | undefined {
  // Also escaped more than once.
  if (/%(?:25)*40/i.test(path)) return undefined;
  const segments = decodePath(path).split("/").filter((part) => part.trim() !== "" && part !== ".");
  let name = (segments.pop() ?? "").trimEnd();
  // `repo.git`, `repo/.git`, and one inside the other.
  while (name.endsWith(".git")) {
    name = (name.slice(0, -".git".length) || (segments.pop() ?? "")).trimEnd();
  }
  const isOdd = segments.includes("..") || ["", ".", ".."].includes(name);
  return isOdd ? undefined : [...segments, name].join("/");
}

/** Decodes percent escapes, but for characters that would mean something else or hide. */
function decodePath(path: string): string {
  try {
    return path.replace(
      /(?:%[0-9a-f]{2})+|%/gi,
      (escapes) =>
        decodeURIComponent(escapes).replace(/[\p{Cc}\p{Zl}\p{Zp}/\\?#%]/gu, encodeURIComponent),
    );
  } catch {
    // Broken, or of another encoding than UTF-8: only the server knows what they mean.
    return path;
  }
}

/**
 * Rewrites a URL as Git does before it connects: the longest rule that fits, once.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert";
 * import { applyInsteadOf } from "@/lib/projects/repo_identity.ts";
 *
 * const rules = [{ base: "https://github.com/", insteadOf: "gh:" }];
 * equal(applyInsteadOf("gh:acme/site", rules), "https://github.com/acme/site");
 * ```
 */
export function applyInsteadOf(url: string, rules: readonly InsteadOfRule[]): string {
  let best: InsteadOfRule | undefined;
  for (const rule of rules) {
    const isLonger = best === undefined || rule.insteadOf.length > best.insteadOf.length;
    if (isLonger && url.startsWith(rule.insteadOf)) best = rule;
  }
  return best === undefined ? url : best.base + url.slice(best.insteadOf.length);
}

/**
 * Returns the identity of a repository without a usable remote: `local:<name>:<hash>`. The path
 * itself cannot be read from it.
 *
 * @param rootPath The real path of its root.
 * @returns The name has at most 60 letters, digits and `._-`.
 */
export function localRepoId(rootPath: string): string {
  const hash = shortHash(rootPath, HASH_CHARS);
  return `local:${safeBasename(rootPath)}:${hash}`;
}

function safeBasename(path: string): string {
  const safe = basename(path).normalize("NFC").replace(/\.git$/, "")
    .replace(/[^\p{L}\p{M}\p{N}._-]/gu, "-");
  return /[\p{L}\p{N}]/u.test(safe) ? [...safe].slice(0, MAX_BASENAME_CHARS).join("") : NAMELESS;
}

/**
 * Returns what people call a repository: the last part of its path, or the name in a local id.
 *
 * @param repoId As `repoIdOf()` or `localRepoId()` made it.
 */
export function projectNameOf(repoId: string): string {
  // Only the id of a remote has a slash, so that a host may be called "local".
  const slash = repoId.lastIndexOf("/");
  return slash < 0 ? repoId.split(":")[1] ?? repoId : repoId.slice(slash + 1);
}
