/** What callers say a memory is to hold, checked and in the form in which it is written. */
import { type FieldProblem, InvalidRequest } from "@/lib/errors.ts";
import { clipLine, normalizeTags } from "./memory_names.ts";

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
    name: name && clipLine(name, MAX_LINE_CHARS),
    description: description && clipLine(description, MAX_LINE_CHARS),
    body,
    tags: tags && readTags(tags),
  };
}

function readTags(asked: readonly string[]): readonly string[] {
  const { tags, invalid } = normalizeTags(asked);
  if (invalid.length === 0) return tags;
  throw refusal([{
    field: "tags",
    message: `must hold plain words, without commas or line breaks; ${invalid.length} are not`,
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
