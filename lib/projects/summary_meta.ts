/**
 * What the frontmatter of a `summary.md` says of its project. Many programs write such files, and
 * what stands there decides what an agent gets to see: so a key counts only if it is written as the
 * memory protocol has it. Nothing is guessed, and a block of which one key is odd counts for
 * nothing. No reason that is given holds text of the note.
 */
import { MAX_REPO_CHARS } from "@/lib/contracts.ts";
import { saysSomething } from "@/lib/hint_line.ts";
import { isRealDay } from "@/lib/time_text.ts";
import {
  findKeyLine,
  type Frontmatter,
  type FrontmatterFields,
  type FrontmatterReason,
  type FrontmatterValue,
  readFrontmatter,
} from "@/lib/vault/frontmatter.ts";
import { decodeNote, lineText, type NoteText } from "@/lib/vault/note_text.ts";
import type { SummaryMeta } from "./project_folders.ts";

/** What can be said of a project by its summary. */
export type SummaryReading =
  | { readonly state: "canonical"; readonly meta: SummaryMeta }
  | { readonly state: "unmigrated" }
  | {
    readonly state: "incompatible";
    /** Which key is wrong, and how to put it right. */
    readonly problem: string;
  };

/** Names stand in lists, beside others. */
const MAX_NAME_CHARS = 100;
/** Of one list: all lists of sixty projects are compared in one step. */
const MAX_LIST_ITEMS = 200;

/** Keys whose value is one text. */
const TEXT_KEYS = ["project", "repo_id", "status", "updated"] as const;
/** Keys whose value is a list of names of projects. */
const NAME_KEYS = ["aliases", "related", "depends_on"] as const;
const LIST_KEYS = [...NAME_KEYS, "tags"] as const;

/** A line end by any rule, what cannot be seen, and what was no character of the note. */
const NEVER_ON_A_LINE = /[\p{Cc}\p{Zl}\p{Zp}\ufffd]/u;
const SLASH = /[/\\]/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

const NO_NAME = "project: add the name of the project";
const NOT_A_NAME = `must be a name on one line, without / or \\, of at most ${MAX_NAME_CHARS} ` +
  "characters";
const NOT_A_LINE = `must be on one line, of at most ${MAX_REPO_CHARS} characters`;
const NOT_A_LIST = "must be a list on one line, such as [a, b], or [] for none";
const NOT_ITEMS = "must hold plain texts only, none of them empty";
const TOO_MANY = `must hold at most ${MAX_LIST_ITEMS} items`;
const NOT_A_TEXT = "must be one text, no list and no mapping";
const NOT_UTF8 = "frontmatter: holds bytes that are no UTF-8; save it as UTF-8";

const BLOCK_PROBLEMS: Readonly<Record<FrontmatterReason, string>> = {
  "unclosed": "frontmatter: close it with a line ---",
  "not-a-mapping": "frontmatter: must consist of lines such as key: value",
  "duplicate-key": "frontmatter: names a key twice; keep one",
  "tab-indent": "frontmatter: is indented with tabs; use blanks",
  "bad-yaml": "frontmatter: is no valid YAML; put texts with special signs into quotes",
  "alias-limit": "frontmatter: has too many aliases; write the values out",
  "too-large": "frontmatter: is too large; keep the keys of the project only",
  "toml": "frontmatter: is TOML; write it as YAML between lines ---",
  "json": "frontmatter: is JSON; write it as YAML between lines ---",
};

/**
 * Reads what a summary says of its project; texts come in NFC.
 *
 * @param note The file, or its beginning: a block that does not end there is too large.
 */
export function* readSummaryMeta(
  note: NoteText,
  { isWhole }: { readonly isWhole: boolean } = { isWhole: true },
): Generator<void, SummaryReading> {
  const frontmatter = yield* readFrontmatter(note);
  const { state, reason } = frontmatter.state;
  if (state === "none" && reason === undefined) return { state: "unmigrated" };
  const isCut = reason === "unclosed" && !isWhole;
  if (state !== "ok") {
    return incompatible(BLOCK_PROBLEMS[isCut ? "too-large" : reason ?? "bad-yaml"]);
  }
  const { fields, raw } = frontmatter;
  if (note.lossy && raw.includes("\ufffd")) return incompatible(NOT_UTF8);
  const problem = findTextProblem(fields) ?? (yield* findListProblem(note, frontmatter));
  return problem === undefined
    ? { state: "canonical", meta: toMeta(fields) }
    : incompatible(problem);
}

function incompatible(problem: string): SummaryReading {
  return { state: "incompatible", problem };
}

function findTextProblem(fields: FrontmatterFields): string | undefined {
  const isOdd = (key: string) => typeof (fields.get(key) ?? "") !== "string";
  const odd = TEXT_KEYS.find(isOdd);
  if (odd !== undefined) return `${odd}: ${NOT_A_TEXT}`;
  const project = textOf(fields.get("project"));
  if (project === undefined) return NO_NAME;
  if (!isPlainName(project)) return `project: ${NOT_A_NAME}`;
  const repoId = textOf(fields.get("repo_id")) ?? "";
  const isLine = repoId.length <= MAX_REPO_CHARS && !NEVER_ON_A_LINE.test(repoId);
  return isLine ? undefined : `repo_id: ${NOT_A_LINE}`;
}

function* findListProblem(
  note: NoteText,
  frontmatter: Frontmatter,
): Generator<void, string | undefined> {
  for (const key of LIST_KEYS) {
    const value = frontmatter.fields.get(key);
    if (value === undefined) continue;
    if (!isList(value)) return `${key}: ${NOT_A_LIST}`;
    if (value.length > MAX_LIST_ITEMS) return `${key}: ${TOO_MANY}`;
    if (!value.every(isItem)) return `${key}: ${NOT_ITEMS}`;
    if (key !== "tags" && !value.every(isPlainName)) return `${key}: each item ${NOT_A_NAME}`;
    if (!(yield* isOnOneLine(note, frontmatter, { key, items: value }))) {
      return `${key}: ${NOT_A_LIST}`;
    }
  }
  return undefined;
}

interface WrittenList {
  readonly key: string;
  readonly items: readonly string[];
}

/** Tells whether the line of a key says by itself all that its value is. */
function* isOnOneLine(
  note: NoteText,
  frontmatter: Frontmatter,
  { key, items }: WrittenList,
): Generator<void, boolean> {
  const line = lineText(note, findKeyLine(note, frontmatter, key));
  if (!/^[^:]*:[ \t]+\[/.test(line)) return false;
  const alone = yield* decodeNote(new TextEncoder().encode(`---\n${line}\n---\n`));
  if (alone === undefined) return false;
  const read = (yield* readFrontmatter(alone)).fields.get(key);
  return isList(read) && read.length === items.length &&
    items.every((item, at) => read[at] === item);
}

function toMeta(fields: FrontmatterFields): SummaryMeta {
  const optional = (name: "repoId" | "status" | "updated", text: string | undefined) =>
    text === undefined ? {} : { [name]: text };
  return {
    project: textOf(fields.get("project")) ?? "",
    ...optional("repoId", textOf(fields.get("repo_id"))),
    aliases: listOf(fields.get("aliases")),
    tags: listOf(fields.get("tags")),
    related: listOf(fields.get("related")),
    dependsOn: listOf(fields.get("depends_on")),
    ...optional("status", textOf(fields.get("status"))),
    ...optional("updated", dayOf(textOf(fields.get("updated")))),
  };
}

/** An empty value says nothing. */
function textOf(value: FrontmatterValue | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value.normalize("NFC") : undefined;
}

function listOf(value: FrontmatterValue | undefined): string[] {
  return isList(value) ? value.filter(isItem).map((item) => item.normalize("NFC")) : [];
}

function dayOf(text: string | undefined): string | undefined {
  return text !== undefined && DAY.test(text) && isRealDay(text) ? text : undefined;
}

function isItem(value: FrontmatterValue): value is string {
  return typeof value === "string" && value.trim() !== "";
}

/** A name goes into answers and is compared with names of folders, so no path can be one. */
function isPlainName(name: string): boolean {
  return name.trim() === name && name !== "." && name !== ".." && !SLASH.test(name) &&
    !NEVER_ON_A_LINE.test(name) && name.isWellFormed() && isWithin(name, MAX_NAME_CHARS) &&
    saysSomething(name);
}

function isWithin(text: string, maxChars: number): boolean {
  // A character takes two units at the most, so that a long text is not taken apart.
  return text.length <= maxChars * 2 && [...text].length <= maxChars;
}

function isList(value: FrontmatterValue | undefined): value is readonly FrontmatterValue[] {
  return Array.isArray(value);
}
