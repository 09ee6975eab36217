/** The frontmatter of a new note. */
import { FrontmatterNotEditable } from "@/lib/errors.ts";
import { runAtOnce } from "@/lib/seams.ts";
import { type FrontmatterFields, readFrontmatter } from "./frontmatter.ts";
import { decodeNote } from "./note_text.ts";
import { formatField } from "./_yaml_format.ts";
import { identify } from "./_yaml_values.ts";

/**
 * Returns a block with both fences, its keys in the given order, as a person would write it.
 *
 * Every text can be written: what YAML does not print is escaped in double quotes. An empty text
 * stands as `""`, and is read as `null`.
 *
 * @throws {FrontmatterNotEditable} If the block would not be read as these fields again: it is too
 * large or too deep, or a key is longer than 1 000 characters.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 *
 * const fields = new Map<string, string | string[]>([["name", "Fix: it"], ["tags", ["a", "7"]]]);
 * equal(formatFrontmatter(fields), '---\nname: "Fix: it"\ntags:\n  - a\n  - "7"\n---\n');
 * ```
 */
export function formatFrontmatter(fields: FrontmatterFields): string {
  const meant = identify(fields); // first, as it bounds the depth
  const lines = [...fields].flatMap(([key, value]) => formatField(key, value, 0));
  const text = ["---", ...lines, "---", ""].join("\n");
  const note = runAtOnce(decodeNote(new TextEncoder().encode(text)));
  const read = note && runAtOnce(readFrontmatter(note));
  if (read?.state.state !== "ok" || identify(read.fields) !== meant) {
    throw new FrontmatterNotEditable(
      "Cannot write the frontmatter: it would not be read as it is meant; " +
        "shorten its keys and values, long text belongs to the body",
    );
  }
  return text;
}
