/**
 * The Markdown file in which the handoffs of one branch lie, the newest first. Each begins with a
 * comment line that tells when and by whom, and ends with one; what stands before the first one and
 * behind an end is a person's, and so is every change inside. Guards against a body that holds such
 * a comment line itself.
 */
import { percentEncode } from "@/lib/percent_encode.ts";
import { shortHash } from "@/lib/short_hash.ts";
import { joinVaultPath } from "@/lib/vault/vault_path.ts";

/** The working state that one run left for the next. */
export interface Handoff {
  /** ISO 8601. */
  readonly updatedAt: string;
  /** Who wrote it, on one line. */
  readonly actor?: string;
  readonly body: string;
}

const MAX_HANDOFFS = 10;
const MAX_ACTOR_CHARS = 100;
const BOM = "\ufeff";

const TIME = /^\d{4}-\d{2}-\d{2}[0-9T:.Z+-]*$/;
const MARKER = /^<!-- handoff (\d{4}-\d{2}-\d{2}[0-9T:.Z+-]*)(?: ([^\r\n]*))? -->[ \t\r]*$/gm;
/** What a body must not hold unmarked; one backslash more than it has makes it text. */
const LIKE_A_MARKER = /^(?=\\*<!-- \/?handoff)/gm;
const MARKED = /^\\(?=\\*<!-- \/?handoff)/gm;
const END = "<!-- /handoff -->";
const END_LINE = /^<!-- \/handoff -->[ \t\r]*(?:\n|$)/m;

/**
 * Puts a handoff before the others, and drops those after the tenth. What a person wrote before
 * the first one or behind any stays as it is; the frontmatter gets branch and time.
 *
 * @param existing The file as it is; `undefined` if there is none.
 * @throws {RangeError} If the time is not ISO 8601.
 */
export function addHandoff(existing: string | undefined, entry: Handoff, branch: string): string {
  if (!TIME.test(entry.updatedAt)) {
    throw new RangeError(`Cannot add a handoff of ${JSON.stringify(entry.updatedAt)}: no time`);
  }
  const { head, body } = splitFrontmatter(existing ?? "");
  const lineEnd = /\r?\n/.exec(existing ?? "")?.[0] ?? "\n";
  const { preamble, entries } = splitEntries(body);
  const kept = entries.slice(0, MAX_HANDOFFS - 1).map(({ text }) => text);
  const dropped = entries.slice(MAX_HANDOFFS - 1).map(({ rest }) => rest);
  const left = dropped.filter((text) => text.trim() !== "");
  return [
    formatHead(head, { branch, updated_at: entry.updatedAt }, lineEnd),
    closedPreamble(preamble, lineEnd),
    formatEntry(entry, lineEnd),
    ...kept,
    ...left,
  ].join("");
}

/**
 * Reads the handoffs of a file in their order. Bodies come back as they were given, but for blank
 * lines at their start and end.
 *
 * @example
 * ```ts
 * import { deepEqual } from "node:assert/strict";
 *
 * const handoff = { updatedAt: "2026-05-14T10:30:00.000Z", actor: "ann", body: "Half done." };
 * deepEqual(readHandoffs(addHandoff(undefined, handoff, "main")), [handoff]);
 * ```
 */
export function readHandoffs(text: string): Handoff[] {
  const { entries } = splitEntries(splitFrontmatter(text).body);
  return entries.map(({ updatedAt, actor, body }) => ({
    updatedAt,
    ...(actor === "" ? {} : { actor }),
    body: withoutBlankEnds(body).replace(MARKED, ""),
  }));
}

interface EntryText {
  readonly updatedAt: string;
  readonly actor: string;
  /** From its marker to the next one. */
  readonly text: string;
  /** Between its marker and its end. */
  readonly body: string;
  /** What stands behind its end. */
  readonly rest: string;
}

function splitEntries(text: string): { preamble: string; entries: EntryText[] } {
  const markers = [...text.matchAll(MARKER)];
  const entries = markers.map(({ index, 0: marker, 1: updatedAt = "", 2: actor = "" }, at) => {
    const whole = text.slice(index, markers[at + 1]?.index);
    const inner = whole.slice(marker.length);
    const end = END_LINE.exec(inner);
    return {
      updatedAt,
      actor: unescapeActor(actor),
      text: whole,
      body: end ? inner.slice(0, end.index) : inner,
      rest: end ? inner.slice(end.index + end[0].length) : "",
    };
  });
  return { preamble: text.slice(0, markers[0]?.index), entries };
}

function formatEntry({ updatedAt, actor, body }: Handoff, lineEnd: string): string {
  const who = escapeActor(actor ?? "");
  const marker = `<!-- handoff ${updatedAt}${who === "" ? "" : ` ${who}`} -->`;
  const text = withoutBlankEnds(body).replace(LIKE_A_MARKER, "\\");
  return [marker, "", text, "", END, "", ""].join(lineEnd);
}

function escapeActor(actor: string): string {
  const line = actor.replace(/[\s\p{Cc}]+/gu, " ").trim();
  const short = Array.from(line).slice(0, MAX_ACTOR_CHARS).join("").trim();
  return short.replaceAll("&", "&amp;").replaceAll(">", "&gt;");
}

function unescapeActor(actor: string): string {
  return actor.trim().replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

/** Leaves the blanks of the first and the last line that say something. */
function withoutBlankEnds(text: string): string {
  const first = text.search(/[^ \t\r\n]/);
  if (first < 0) return "";
  let last = text.length;
  while (" \t\r\n".includes(text.charAt(last - 1))) last--;
  const start = Math.max(text.lastIndexOf("\n", first), text.lastIndexOf("\r", first)) + 1;
  const blanks = /^[ \t]*/.exec(text.slice(last))?.[0] ?? "";
  return text.slice(start, last + blanks.length);
}

function closedPreamble(preamble: string, lineEnd: string): string {
  if (preamble === "") return lineEnd;
  return preamble.endsWith("\n") ? preamble : preamble + lineEnd + lineEnd;
}

const FRONTMATTER = /^\ufeff?---[ \t]*\r?\n(?:[^\n]*\n)*?(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/;

function splitFrontmatter(text: string): { head: string; body: string } {
  const found = FRONTMATTER.exec(text)?.[0] ?? "";
  // A rule inside a handoff closes nothing that was left open above.
  const isHead = found !== "" && found.search(MARKER) < 0;
  const head = isHead ? found : text.startsWith(BOM) ? BOM : "";
  return { head, body: text.slice(head.length) };
}

/** Writes the keys that are ours, in place of their old lines; the other lines stay. */
function formatHead(head: string, keys: Readonly<Record<string, string>>, lineEnd: string): string {
  const bom = head.startsWith(BOM) ? BOM : "";
  const lines = head.slice(bom.length).split(/(?<=\n)/).filter((line) => line !== "");
  const ours = Object.entries(keys).map(([key, value]) => `${key}: ${quote(value)}${lineEnd}`);
  const [opening = `---${lineEnd}`, ...rest] = lines;
  const closing = rest.pop() ?? `---${lineEnd}`;
  const others = withoutKeys(rest, new Set(Object.keys(keys)));
  const end = closing.endsWith("\n") ? closing : closing + lineEnd;
  return bom + [opening, ...ours, ...others, end].join("");
}

/** Leaves out the lines of some keys, and those that go on with their values. */
function withoutKeys(lines: readonly string[], keys: ReadonlySet<string>): string[] {
  let isDropped = false;
  return lines.filter((line) => {
    if (line.trim() === "") return true;
    if (!/^[ \t]/.test(line)) {
      isDropped = keys.has(/^(["']?)([\w-]+)\1[ \t]*:/.exec(line)?.[2] ?? "");
    }
    return !isDropped;
  });
}

// JSON lets these stand, YAML reads some of them as line ends and refuses others.
const ESCAPED_IN_YAML = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** Quotes a text so that JSON and YAML read the same. */
function quote(text: string): string {
  return JSON.stringify(text.toWellFormed()).replace(
    ESCAPED_IN_YAML,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

const MAX_NAME_BYTES = 200;
const HASH_CHARS = 12;
const ENDING = ".md";
const NOT_PLAIN = /[^\p{L}\p{N}._-]/gu;
const NOT_ASCII = /\P{ASCII}/gu;
const FIRST_CHARACTER = /^[^%]/u;

/**
 * Returns the name of the file for a branch: `decodeURIComponent()` gives the branch back, unless
 * the name would be too long or lead astray, and ends in a hash instead.
 *
 * @returns At most 200 bytes, always with the ending `.md`.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 *
 * equal(branchFileName("feature/缓存 100%"), "feature%2F缓存%20100%25.md");
 * equal(branchFileName("con"), "%63on.md");
 * ```
 */
export function branchFileName(branch: string): string {
  const plain = branch.toWellFormed().replace(NOT_PLAIN, percentEncode);
  // A disk that composes letters would take such a name for another.
  const stable = plain.normalize("NFC") === plain ? plain : plain.replace(NOT_ASCII, percentEncode);
  const otherwise = stable.replace(FIRST_CHARACTER, percentEncode);
  const stem = [stable, otherwise].find(isUsable) ?? hashedStem(stable, branch);
  return stem + ENDING;
}

/** Returns another name for the file of a branch, for where some disk takes the first for another. */
export function distinctFileName(branch: string): string {
  return hashedStem(branchFileName(branch).slice(0, -ENDING.length), branch) + ENDING;
}

/** Dots hide a file, `_index.md` is never read, and the vault knows what no system likes. */
function isUsable(stem: string): boolean {
  const name = stem + ENDING;
  return stem !== "" && !/^(?:\.|_index$)/i.test(stem) &&
    joinVaultPath("", name) !== undefined &&
    new TextEncoder().encode(name).length <= MAX_NAME_BYTES;
}

function hashedStem(stem: string, branch: string): string {
  const hash = shortHash(branch, HASH_CHARS);
  const words = stem.replace(/%[0-9A-F]{2}|\./g, "_").replace(/^_+/, "");
  let start = "";
  for (const char of words) {
    const size = new TextEncoder().encode(start + char).length;
    if (size > MAX_NAME_BYTES - HASH_CHARS - "-".length - ENDING.length) break;
    start += char;
  }
  return `${start || "branch"}-${hash}`;
}
