/** What callers say a memory is to hold, checked and in the form in which it is written. */
import { clipLine } from "@/lib/clip_line.ts";
import { type FieldProblem, InvalidRequest } from "@/lib/errors.ts";
import { normalizeTags } from "./memory_names.ts";

/** As it came. */
export interface AskedContent {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly body?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

const MAX_LINE_CHARS = 10_000;

/**
 * Puts names and descriptions on one line, and tags into the form in which they are compared.
 *
 * @throws {InvalidRequest} If a tag is none, or a text cannot be written as UTF-8.
 */
export function normalizeContent(asked: AskedContent): AskedContent {
  const { name, description, body, tags } = asked;
  requireWellFormed({ name, description, body, tags: tags?.join("") });
  return {
    name: toLine("name", name),
    description: toLine("description", description),
    body,
    tags: tags && readTags(tags),
  };
}

/** @throws {InvalidRequest} If nothing is left that a person can see. */
function toLine(field: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const line = clipLine(text, MAX_LINE_CHARS);
  if (VISIBLE.test(line)) return line;
  throw refusal([{ field, message: "must say something" }]);
}

const VISIBLE = /[\p{L}\p{N}\p{S}\p{P}]/u;

const LETTER = /[\p{L}\p{N}\p{S}]/u;

function readTags(asked: readonly string[]): readonly string[] {
  const { tags, invalid } = normalizeTags(asked);
  if (invalid.length === 0 && tags.every((tag) => LETTER.test(tag))) return tags;
  throw refusal([{
    field: "tags",
    message: "must hold plain words, without commas or line breaks",
  }]);
}

/** Half a character would be written as another one. */
function requireWellFormed(texts: Readonly<Record<string, string | undefined>>): void {
  const problems = Object.entries(texts)
    .filter(([, text]) => text?.isWellFormed() === false)
    .map(([field]) => ({ field, message: "must be well-formed Unicode" }));
  if (problems.length > 0) throw refusal(problems);
}

function refusal(problems: readonly FieldProblem[]): InvalidRequest {
  const words = problems.map(({ field, message }) => `${field} ${message}`).join("; ");
  return new InvalidRequest(`Cannot save the memory: ${words}`, problems);
}

/** Names the texts of a memory, for checks that say where something is. */
export function textsOf(
  { name, description, body, tags }: AskedContent,
): Readonly<Record<string, string | undefined>> {
  return { name, description, body, tags: tags?.join("\n") };
}
