/**
 * The text of a manifest (`MEMORY.md`): a list of the memories of a store, and whatever a person
 * wrote beside it. Guards that person's lines: only what has the shape of our own is replaced, so
 * that a manifest can be made anew at any time.
 */
import { clipLine } from "@/lib/clip_line.ts";
import { percentEncode } from "@/lib/percent_encode.ts";

/** One line of the list. */
export interface ManifestEntry {
  readonly name: string;
  /** Relative to the store, with forward slashes. */
  readonly path: string;
  readonly description: string;
}

const BOM = "\ufeff";
const MAX_NAME_CHARS = 1_000;
const MAX_DESCRIPTION_CHARS = 200;

/** What a manifest is to list. */
export interface ManifestList {
  /** Lines of `formatEntry()`, in their order. */
  readonly lines: readonly string[];
  /** Tells a line of our shape that is a person's all the same, by the path in its link. */
  readonly isForeign: (path: string) => boolean;
}

/** So many lines are looked at in one step. */
const LINES_A_STEP = 256;

/**
 * Renders the manifest: the frontmatter as it was, the entries in their order, then the other
 * lines, byte for byte. Rendered once more it stays the same.
 *
 * Lines shaped `- [name](path) — description` are ours, and those that agents write in our place:
 * with `*` as bullet, a shorter dash, or no description. A link with a scheme (`https:`), an
 * indented line, the inside of a code fence and what `isForeign` says are a person's.
 *
 * @returns `""` if there is nothing to list and nothing else was there.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 * import { runAtOnce } from "@/lib/seams.ts";
 *
 * const line = formatEntry({ name: "Cache", path: "2026/a b.md", description: "What it costs." });
 * const list = { lines: [line], isForeign: () => false };
 * equal(
 *   runAtOnce(renderManifest("- [Old](old.md) — gone\n\nMine.\n", list)),
 *   "- [Cache](2026/a%20b.md) — What it costs.\n\nMine.\n",
 * );
 * ```
 */
export function* renderManifest(
  existing: string | undefined,
  wanted: ManifestList,
): Generator<void, string> {
  const { bom, head, ours, others } = yield* takeApart(existing ?? "", wanted);
  const body = others.some((line) => line.trim() !== "") ? others : [];
  const lineEnd = dominantLineEnd([...head, ...body]) ?? dominantLineEnd(ours) ?? "\n";
  const list = wanted.lines.map((line) => line + lineEnd);
  const top = closed(head, list.length > 0 || body.length > 0 ? lineEnd : "") + list.join("");
  const isMoved = list.length > 0 || ours.length > 0;
  const gap = isMoved && isTakenWrongly(body[0] ?? "", { after: top }) ? lineEnd : "";
  const text = top + gap + body.join("");
  return text === "" ? "" : bom + text;
}

/**
 * Tells whether a line would change its meaning: a paragraph right behind an entry becomes part of
 * that, a rule at the top of the file opens a frontmatter.
 */
function isTakenWrongly(line: string, { after }: { after: string }): boolean {
  return after === "" ? OPENS_A_FILE.test(line) : line.trim() !== "";
}

interface ManifestLines {
  readonly bom: string;
  /** The frontmatter with its fences; empty if there is none. */
  readonly head: readonly string[];
  readonly ours: readonly string[];
  readonly others: readonly string[];
}

function* takeApart(
  text: string,
  { lines: known, isForeign }: ManifestList,
): Generator<void, ManifestLines> {
  const bom = text.startsWith(BOM) ? BOM : "";
  // Each with its line end; a lone CR is none, so that lines put together anew stay what they are.
  const lines = text.slice(bom.length).match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const bodyAt = countFrontmatterLines(lines);
  const listed = new Set(known);
  const ours: string[] = [];
  const others: string[] = [];
  let fence: string | undefined;
  for (const [at, line] of lines.slice(bodyAt).entries()) {
    const bare = withoutEnd(line);
    const link = fence === undefined ? OUR_LINE.exec(bare) : null;
    const isOurs = link !== null && (listed.has(bare) || !isForeign(toPath(link[1] ?? "")));
    (isOurs ? ours : others).push(line);
    fence = fenceAfter(line, fence);
    if (at % LINES_A_STEP === 0) yield;
  }
  return { bom, head: lines.slice(0, bodyAt), ours, others };
}

/** Undoes the escapes of a link; what is none stays. */
function toPath(link: string): string {
  try {
    return decodeURIComponent(link);
  } catch {
    return link;
  }
}

const FRONTMATTER_FENCE = /^---[ \t]*$/;
const FRONTMATTER_END = /^(?:---|\.\.\.)[ \t]*$/;

function countFrontmatterLines(lines: readonly string[]): number {
  if (!FRONTMATTER_FENCE.test(withoutEnd(lines[0] ?? ""))) return 0;
  return lines.findIndex((line, at) => at > 0 && FRONTMATTER_END.test(withoutEnd(line))) + 1;
}

const OPENS_A_FILE = /^(?:\ufeff|---[ \t]*\r?\n?$)/;

const OPENING_FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;
const CLOSING_FENCE = /^ {0,3}(`{3,}|~{3,})[ \t]*$/;

/** Returns the fence that is open behind a line, `undefined` outside of code. */
function fenceAfter(line: string, open: string | undefined): string | undefined {
  if (open === undefined) return OPENING_FENCE.exec(withoutEnd(line))?.[1];
  const closing = CLOSING_FENCE.exec(withoutEnd(line))?.[1];
  return closing?.startsWith(open) ? undefined : open;
}

const withoutEnd = (line: string): string => line.replace(/\r?\n$/, "");

// One pair of brackets may stand inside a name or a path: `[a [b]](c (d).md)`.
const NAME = "\\[(?:\\\\.|[^\\\\[\\]]|\\[(?:\\\\.|[^\\\\[\\]])*\\])*\\]";
const PATH = "\\((?![a-z][a-z0-9+.-]*:|#|//)((?:[^()]|\\([^()]*\\))+)\\)";
const OUR_LINE = new RegExp(`^[-*][ \\t]+${NAME}${PATH}[ \\t]*(?:(?:—|–|--?)(?:[ \\t].*)?)?$`, "i");

function dominantLineEnd(lines: readonly string[]): "\n" | "\r\n" | undefined {
  const ended = lines.filter((line) => line.endsWith("\n"));
  if (ended.length === 0) return undefined;
  const withCr = ended.filter((line) => line.endsWith("\r\n"));
  return withCr.length * 2 > ended.length ? "\r\n" : "\n";
}

/** Joins lines whose last one may lack its line end. */
function closed(lines: readonly string[], lineEnd: string): string {
  const text = lines.join("");
  return text === "" || text.endsWith("\n") ? text : text + lineEnd;
}

/** Returns the line of a memory, without its line end. */
export function formatEntry({ name, path, description }: ManifestEntry): string {
  const label = clipLine(name, MAX_NAME_CHARS).replace(/[[\]\\]/g, "\\$&");
  const link = `- [${label}](${path.replace(BREAKS_A_LINK, percentEncode)})`;
  const text = clipLine(description, MAX_DESCRIPTION_CHARS);
  return text === "" ? link : `${link} — ${text}`;
}

/** Also what would make of the path a heading's name, a query, a scheme or an entity. */
const BREAKS_A_LINK = /[\s\p{Cc}\p{Cs}()<>%\\`#?:&]/gu;
