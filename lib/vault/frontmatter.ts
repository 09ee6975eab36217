/**
 * Reads the block of YAML at the head of a note; the only door to the YAML library. Guards
 * against blocks that a library would take badly: aliases that grow without end, foreign type
 * tags, blocks so large that they hold up the event loop. Whatever is wrong with a block, it ends
 * as a state with a reason, never as an error, and nothing of the note is printed.
 *
 * Only what both `@std/yaml` and the npm package `yaml` offer is used, and what they judge
 * differently is judged here, so that either may stand behind the import map.
 */
import { parse } from "@std/yaml";
import type { FrontmatterState } from "@/lib/contracts.ts";
import { BlockProblem, Conversion } from "./_block_values.ts";
import { lineText, type NoteText } from "./note_text.ts";

/**
 * A value as it is written: no number, no date, no boolean, whatever it looks like. An empty value
 * and a plain `null` or `~` are `null`. Values that an alias repeats are shared.
 */
export type FrontmatterValue =
  | string
  | null
  | readonly FrontmatterValue[]
  | ReadonlyMap<string, FrontmatterValue>;

export type FrontmatterFields = ReadonlyMap<string, FrontmatterValue>;

export type FrontmatterReason =
  | "unclosed"
  | "not-a-mapping"
  | "duplicate-key"
  | "tab-indent"
  | "bad-yaml"
  | "alias-limit"
  | "too-large"
  | "toml"
  | "json";

export interface Frontmatter {
  readonly state: FrontmatterState & { readonly reason?: FrontmatterReason };
  /** Empty unless the state is `ok`. */
  readonly fields: FrontmatterFields;
  /** The text between the fences, for the index, which takes an invalid block as text. */
  readonly raw: string;
  /** The line of the opening fence; 0 = there is no closed block. */
  readonly startLine: number;
  /** The line of the closing fence; 0 = there is no closed block. */
  readonly endLine: number;
  /** `null` = no line stands after the block. */
  readonly bodyStartLine: number | null;
}

const MAX_BLOCK_CHARS = 128 * 1024;
/** What costs the parser time is structure, not length: about 10 µs a mark. */
const MAX_BLOCK_MARKS = 4_000;
const MAX_ALIASES = 1_000;
/** What a block may grow to once its aliases are written out. */
const MAX_VALUES = 10_000;

const OPENING = /^---[ \t]*$/;
const CLOSING = /^(?:---|\.\.\.)[ \t]*$/;
const TOML_OPENING = /^\+\+\+[ \t]*$/;
const JSON_OPENING = /^\{[ \t]*(?:$|")/;
/** A fence is short; a longer first line is none, and is not looked at. */
const MAX_FENCE_CHARS = 1_000;
const LINES_A_STEP = 4_096;

const QUOTED_ON_A_LINE = /"[^"\n]*"|'[^'\n]*'/g;
const MARKS = /[\n,[\]{}]|[-:?](?=\s)/g;
const ALIAS = /(?<![^\s[{,:])\*(?=[^\s*])/g;
/** A type tag, where the text alone can tell; the plain types of YAML are no foreign ones. */
const FOREIGN_TAG = /(?<![^\s[{,:])()!(?!\s|$|!(?:str|map|seq)(?:[\s,\]}]|$))/g;
/** A block scalar cannot hold such a line, as its lines begin with a blank. */
const TAB_FIRST = /^(\t[ \t]*)(?=[^ \t\n])/gm;
const TAB_INDENT = /^ *\t[ \t]*(?=[^ \t\n])/gm;
const PLAIN_NULL = /(?<![^\s[{,:])(?:~|null|Null|NULL)(?![^\s\]},])/;
// deno-lint-ignore no-control-regex
const NOT_PRINTABLE = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/g;

/**
 * Reads the block that opens on line 1 with `---` and closes at the next line that is `---` or
 * `...`, blanks aside, without indentation.
 */
export function* readFrontmatter(note: NoteText): Generator<void, Frontmatter> {
  const opening = fenceText(note, 1);
  if (!OPENING.test(opening)) return withoutBlock(note, foreignState(opening));
  const endLine = yield* findClosing(note);
  if (endLine === undefined) {
    return withoutBlock(note, { state: "invalid", reason: "unclosed", line: 1 });
  }
  const raw = note.text.slice(note.lineStarts[1], note.lineStarts[endLine - 1]);
  const result = parseBlock(raw);
  return {
    state: result instanceof Map ? { state: "ok" } : invalidState(result, endLine),
    fields: result instanceof Map ? result : new Map(),
    raw,
    startLine: 1,
    endLine,
    bodyStartLine: endLine < note.lineCount ? endLine + 1 : null,
  };
}

/** Returns the line on which a top-level key stands; line 1 if it is written in an odd way. */
export function findKeyLine(note: NoteText, frontmatter: Frontmatter, key: string): number {
  const pattern = new RegExp(`^(["']?)${RegExp.escape(key)}\\1[ \t]*:`);
  for (let line = 2; line < frontmatter.endLine; line++) {
    if (pattern.test(lineText(note, line))) return line;
  }
  return 1;
}

function fenceText(note: NoteText, line: number): string {
  const text = lineText(note, line);
  return text.length > MAX_FENCE_CHARS ? "" : text;
}

function foreignState(opening: string): Frontmatter["state"] {
  if (TOML_OPENING.test(opening)) return { state: "none", reason: "toml", line: 1 };
  if (JSON_OPENING.test(opening)) return { state: "none", reason: "json", line: 1 };
  return { state: "none" };
}

function withoutBlock(note: NoteText, state: Frontmatter["state"]): Frontmatter {
  const bodyStartLine = note.lineCount > 0 ? 1 : null;
  return { state, fields: new Map(), raw: "", startLine: 0, endLine: 0, bodyStartLine };
}

function* findClosing(note: NoteText): Generator<void, number | undefined> {
  for (let line = 2; line <= note.lineCount; line++) {
    if (line % LINES_A_STEP === 0) yield;
    const first = note.text[note.lineStarts[line - 1] ?? 0];
    if (first !== "-" && first !== ".") continue;
    if (CLOSING.test(fenceText(note, line))) return line;
  }
  return undefined;
}

function invalidState({ reason, line }: BlockProblem, endLine: number): Frontmatter["state"] {
  const state = { state: "invalid", reason } as const;
  return line === undefined ? state : { ...state, line: Math.min(line + 1, endLine) };
}

function parseBlock(raw: string): Map<string, FrontmatterValue> | BlockProblem {
  if (raw.length > MAX_BLOCK_CHARS) return new BlockProblem("too-large");
  const yaml = raw.replace(/\r\n?/g, "\n").replace(NOT_PRINTABLE, "\ufffd");
  try {
    return readMapping(yaml);
  } catch (error) {
    if (isPermissionFailure(error)) throw error;
    // A parser has no other way out of nesting that is too deep than a RangeError.
    return error instanceof BlockProblem ? error : new BlockProblem("bad-yaml");
  }
}

function readMapping(yaml: string): Map<string, FrontmatterValue> {
  requireSimple(yaml);
  const written = parseYaml(yaml, "failsafe");
  requireNoNodeAt(yaml, FOREIGN_TAG, "bad-yaml");
  requireNoNodeAt(yaml, TAB_FIRST, "tab-indent");
  if (written === null || written === undefined || written === "") return new Map();
  const fields = new Conversion(MAX_VALUES).convert(written, parseNulls(yaml));
  if (!(fields instanceof Map)) throw new BlockProblem("not-a-mapping", 1);
  return fields;
}

function requireSimple(yaml: string): void {
  const marks = yaml.replace(QUOTED_ON_A_LINE, "").match(MARKS)?.length ?? 0;
  if (marks > MAX_BLOCK_MARKS) throw new BlockProblem("too-large");
  const aliases = yaml.match(ALIAS)?.length ?? 0;
  if (aliases > MAX_ALIASES) throw new BlockProblem("alias-limit");
}

/**
 * Throws if a match stands where a value or a key may begin, and not inside a scalar or a comment.
 *
 * Libraries differ in what they let pass there, but all refuse an alias without an anchor; so the
 * block is parsed once more with such an alias put at each match.
 */
function requireNoNodeAt(yaml: string, pattern: RegExp, reason: FrontmatterReason): void {
  const matches = [...yaml.matchAll(pattern)];
  if (matches.length === 0) return;
  if (canParse(yaml.replace(pattern, "$1*"))) return;
  const only = matches.length === 1 ? matches[0] : undefined;
  throw new BlockProblem(reason, only && lineAtIndex(yaml, only.index));
}

function parseYaml(yaml: string, schema: "failsafe" | "core"): unknown {
  try {
    return parseQuietly(yaml, schema);
  } catch (error) {
    throw isPermissionFailure(error) ? error : toBlockProblem(error, yaml);
  }
}

/** The npm package reads two environment variables; where it may not, no note is to blame. */
function isPermissionFailure(error: unknown): boolean {
  return error instanceof Deno.errors.NotCapable;
}

function parseQuietly(yaml: string, schema: "failsafe" | "core"): unknown {
  // The last two are for the npm package alone: it would print parts of the block as a warning,
  // and its own limit on aliases refuses blocks that stay small.
  const options = { schema, logLevel: "error", maxAliasCount: -1 } as const;
  return parse(yaml, options);
}

function canParse(yaml: string): boolean {
  try {
    parseQuietly(yaml, "failsafe");
    return true;
  } catch {
    return false; // the answer, not a failure
  }
}

/** Parses with types, for the nulls alone; `undefined` when the block has none. */
function parseNulls(yaml: string): unknown {
  if (!PLAIN_NULL.test(yaml)) return undefined;
  try {
    return parseQuietly(yaml, "core");
  } catch {
    return undefined; // keys that differ as text may be equal as numbers: then no value is null
  }
}

function toBlockProblem(error: unknown, yaml: string): BlockProblem {
  const message = error instanceof Error ? error.message : "";
  // What follows the place is text of the note.
  const [, said = "", at] = /^([^]*?)(?: at line (\d+)[^]*)?$/.exec(message) ?? [];
  const line = at === undefined ? undefined : Number(at);
  if (/keys must be unique|duplicated (?:mapping )?key/i.test(said)) {
    return new BlockProblem("duplicate-key", line);
  }
  const tab = yaml.search(TAB_INDENT);
  if (tab >= 0 && (/\btabs?\b/i.test(said) || canParse(yaml.replace(TAB_INDENT, "  ")))) {
    return new BlockProblem("tab-indent", line ?? lineAtIndex(yaml, tab));
  }
  return new BlockProblem("bad-yaml", line);
}

function lineAtIndex(yaml: string, index: number): number {
  return yaml.slice(0, index).split("\n").length;
}
