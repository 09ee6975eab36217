/** A note as the rest of the program sees it: bytes in, text, metadata and blocks out. */
import type { DiagnosticReason, NameSource } from "@/lib/contracts.ts";
import {
  findKeyLine,
  type Frontmatter,
  type FrontmatterReason,
  type FrontmatterValue,
  readFrontmatter,
} from "./frontmatter.ts";
import { readInlineTags } from "./inline_tags.ts";
import { type Block, type Heading, type MarkdownBlocks, scanMarkdown } from "./markdown.ts";
import { decodeNote, type NoteText } from "./note_text.ts";
import { misshapenTagKeys, readTags } from "./tags.ts";
import { stemOf } from "./vault_path.ts";

/** Something in a note that a person should put right; no text of the note is in it. */
export interface NoteProblem {
  readonly reason: DiagnosticReason;
  readonly line?: number;
  readonly message: string;
}

export interface ParsedNote {
  readonly text: NoteText;
  readonly frontmatter: Frontmatter;
  readonly blocks: readonly Block[];
  readonly headings: readonly Heading[];
  /** On one line, never empty unless the file's name is. */
  readonly name: string;
  readonly nameFrom: NameSource;
  /** On one line; `""` when the note has none. */
  readonly description: string;
  /** Of the frontmatter, as written. */
  readonly tags: readonly string[];
  /** Of the body, as written, without `#`. */
  readonly inlineTags: readonly string[];
  readonly id?: string;
  readonly status?: string;
  readonly actor?: string;
  /** The session of the agent that wrote the note. */
  readonly originSessionId?: string;
  readonly createdAt?: string;
  readonly updatedAt?: string;
  /** `null` = no line stands after the frontmatter. */
  readonly bodyStartLine: number | null;
  readonly problems: readonly NoteProblem[];
}

/**
 * Reads a note; whatever is odd about it ends in `problems`.
 *
 * @param path Only its last segment counts: the name of a note that names itself nowhere.
 * @returns `undefined` if the bytes are no text.
 */
export function* parseNote(
  path: string,
  bytes: Uint8Array,
): Generator<void, ParsedNote | undefined> {
  const text = yield* decodeNote(bytes);
  if (text === undefined) return undefined;
  const frontmatter = yield* readFrontmatter(text);
  const { bodyStartLine } = frontmatter;
  const { blocks, headings }: MarkdownBlocks = bodyStartLine === null
    ? { blocks: [], headings: [] }
    : yield* scanMarkdown(text, bodyStartLine);
  const inlineTags = yield* readInlineTags(text, blocks);
  const fields = new FieldReader(text, frontmatter);
  return {
    text,
    frontmatter,
    blocks,
    headings,
    ...nameNote(path, fields, headings),
    description: oneLine(fields.text("description") ?? ""),
    tags: fields.tags(),
    inlineTags,
    ...definedOnly({
      id: fields.text("id"),
      status: fields.text("status"),
      actor: fields.actor(),
      originSessionId: fields.text("origin_session_id"),
      createdAt: fields.text("created_at"),
      updatedAt: fields.text("updated_at"),
    }),
    bodyStartLine,
    // Last, as reading the fields finds them.
    problems: [...textProblems(text, frontmatter), ...fields.problems],
  };
}

/** Returns the text behind the frontmatter, as it stands. */
export function bodyOf({ text: { text, lineStarts }, bodyStartLine }: ParsedNote): string {
  return bodyStartLine === null ? "" : text.slice(lineStarts[bodyStartLine - 1]);
}

function nameNote(
  path: string,
  fields: FieldReader,
  headings: readonly Heading[],
): { name: string; nameFrom: NameSource } {
  // Both are read, so that a wrong shape is reported in either.
  const [name, title] = [fields.text("name"), fields.text("title")];
  const written = oneLine(name ?? title ?? "");
  if (written !== "") return { name: written, nameFrom: "frontmatter" };
  const heading = headings.find(({ level, text }) => level === 1 && text !== "");
  if (heading) return { name: heading.text, nameFrom: "heading" };
  return { name: stemOf(path), nameFrom: "file" };
}

/** Reads single fields, and notes those that have a wrong shape. */
class FieldReader {
  readonly problems: NoteProblem[] = [];
  readonly #note: NoteText;
  readonly #frontmatter: Frontmatter;

  constructor(note: NoteText, frontmatter: Frontmatter) {
    this.#note = note;
    this.#frontmatter = frontmatter;
  }

  /** Returns a single value that is not blank, as written but for blanks around it. */
  text(key: string): string | undefined {
    return this.#single(this.#frontmatter.fields.get(key), { key, shown: key });
  }

  actor(): string | undefined {
    const metadata = this.#frontmatter.fields.get("metadata");
    if (!(metadata instanceof Map)) return undefined;
    return this.#single(metadata.get("actor"), { key: "metadata", shown: "metadata.actor" });
  }

  tags(): string[] {
    const { fields } = this.#frontmatter;
    for (const key of misshapenTagKeys(fields)) {
      this.#report(key, `\`${key}\` holds lists or mappings, which are ignored: write plain tags`);
    }
    return readTags(fields);
  }

  #single(
    value: FrontmatterValue | undefined,
    { key, shown }: { key: string; shown: string },
  ): string | undefined {
    if (value === undefined || value === null) return undefined;
    if (typeof value === "string") return value.trim() || undefined;
    this.#report(key, `\`${shown}\` must be a single value and is ignored: put it in quotes`);
    return undefined;
  }

  #report(key: string, message: string): void {
    const line = findKeyLine(this.#note, this.#frontmatter, key);
    this.problems.push({ reason: "wrong-type", line, message });
  }
}

const FRONTMATTER_PROBLEMS: Readonly<
  Record<FrontmatterReason, { reason: DiagnosticReason; message: string }>
> = {
  "unclosed": {
    reason: "frontmatter-unclosed",
    message: "The frontmatter has no end: put a line `---` after its last key",
  },
  "not-a-mapping": {
    reason: "frontmatter-not-a-mapping",
    message: "The frontmatter is no list of `key: value` lines: a colon and a blank part the two",
  },
  "duplicate-key": {
    reason: "frontmatter-duplicate-key",
    message: "A key stands twice in the frontmatter: keep one of them",
  },
  "tab-indent": {
    reason: "frontmatter-tab-indent",
    message: "A line of the frontmatter is indented with a tab: use blanks",
  },
  "bad-yaml": {
    reason: "frontmatter-bad-yaml",
    message: "The frontmatter is not valid YAML: values with `: ` in them, or with one of " +
      "@ ` % & * ! [ { at their start, need quotes",
  },
  "alias-limit": {
    reason: "frontmatter-alias-limit",
    message: "The aliases (`*name`) of the frontmatter grow too large: write the values out",
  },
  "too-large": {
    reason: "too-large",
    message: "The frontmatter is too large to be read as metadata: move text to the body",
  },
  "toml": {
    reason: "frontmatter-toml",
    message: "Frontmatter in TOML is read as text: write it as YAML between lines `---`",
  },
  "json": {
    reason: "frontmatter-json",
    message: "Frontmatter in JSON is read as text: write it as YAML between lines `---`",
  },
};

function textProblems(text: NoteText, { state }: Frontmatter): NoteProblem[] {
  const problems: NoteProblem[] = [];
  if (text.lossy) {
    problems.push({
      reason: "encoding-lossy",
      message: "Bytes that are not UTF-8 were read as U+FFFD: save the file as UTF-8",
    });
  }
  if (state.reason !== undefined) {
    const line = state.line === undefined ? {} : { line: state.line };
    problems.push({ ...FRONTMATTER_PROBLEMS[state.reason], ...line });
  }
  return problems;
}

/** Names and descriptions stand in lists, one a line. */
function oneLine(text: string): string {
  return text.trim().split(/[\n\r]+/).map((line) => line.trim()).join(" ");
}

function definedOnly<T extends Readonly<Record<string, string | undefined>>>(
  values: T,
): { readonly [K in keyof T]?: string } {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as { [K in keyof T]?: string };
}
