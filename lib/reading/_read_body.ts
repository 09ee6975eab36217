/**
 * From a path to the body of a note. What stands before the body is never handed out: where it
 * cannot be told where that ends, there is no body.
 */
import { AppError } from "@/lib/errors.ts";
import { type Clock, type Semaphore, Slicer } from "@/lib/seams.ts";
import { readFrontmatter } from "@/lib/vault/frontmatter.ts";
import { decodeNote, type NoteText } from "@/lib/vault/note_text.ts";
import { readFile, statFile, type Vault } from "@/lib/vault/vault.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";

/** A note, and where its body begins. */
export interface NoteBody {
  readonly text: NoteText;
  /** `null` = no line stands after the frontmatter. */
  readonly bodyStartLine: number | null;
}

export interface BodyDeps {
  readonly clock: Clock;
  readonly vault: Vault;
  /** Bounds how many files are in memory at once. */
  readonly noteReads: Semaphore;
}

/** Tells whether a regular file is at a path, by itself and not by a link. */
export function isFileAt(vault: Vault, path: VaultPath): boolean {
  return statFile(vault, path).state === "file";
}

/**
 * Reads a file, and finds its body in small steps.
 *
 * @throws What `readFile()` throws.
 * @throws {AppError} `unsupported-media-type` if it is no UTF-8 text, or its frontmatter has no end
 * that could be found.
 */
export function* readBody(vault: Vault, path: VaultPath): Generator<void, NoteBody> {
  const { bytes } = readFile(vault, path);
  yield;
  const text = yield* decodeNote(bytes);
  if (text === undefined) throw unusable(path, "is not UTF-8 text. Save it as UTF-8");
  const { state, bodyStartLine } = yield* readFrontmatter(text);
  switch (state.reason) {
    case "unclosed":
      throw unusable(path, "has frontmatter without an end: put a line `---` after its last key");
    case "toml":
    case "json":
      throw unusable(path, "has frontmatter that is no YAML: write it between lines `---`");
  }
  return { text, bodyStartLine };
}

/**
 * Reads the text behind the frontmatter of a file, without blank lines before and blanks after it.
 *
 * @throws What `readBody()` throws, and the signal's reason if it aborts before there is room.
 */
export async function loadBody(
  { clock, vault, noteReads }: BodyDeps,
  path: VaultPath,
  signal: AbortSignal | undefined,
): Promise<string> {
  const read = () => new Slicer(clock).run(readBody(vault, path));
  return textOf(await noteReads.run(read, signal));
}

function textOf({ text: { text, lineStarts }, bodyStartLine }: NoteBody): string {
  if (bodyStartLine === null) return "";
  return trimLines(text.slice(lineStarts[bodyStartLine - 1]));
}

/** Leaves out blank lines at the beginning and all blanks at the end. */
export function trimLines(text: string): string {
  const first = text.search(/\S/);
  if (first < 0) return "";
  const start = Math.max(text.lastIndexOf("\n", first), text.lastIndexOf("\r", first)) + 1;
  return text.slice(start).trimEnd();
}

function unusable(path: VaultPath, why: string): AppError {
  return new AppError("unsupported-media-type", `Cannot read "${path}": it ${why}`);
}
