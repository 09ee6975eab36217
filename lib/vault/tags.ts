/** Tags of the frontmatter, and the form in which tags are compared. */
import type { FrontmatterFields, FrontmatterValue } from "./frontmatter.ts";

const TAG_KEYS = ["tags", "tag"] as const;

/**
 * Returns the tags as written, each once, in order: `tags` first, then `tag`. A text is split at
 * commas and white space, the items of a list stay whole; a leading `#` goes, and so do items
 * that are empty, lists or mappings.
 */
export function readTags(fields: FrontmatterFields): string[] {
  const tags = new Set<string>();
  for (const key of TAG_KEYS) {
    for (const item of tagItems(fields.get(key))) {
      const tag = item.trim().replace(/^#/, "").trim();
      if (tag !== "") tags.add(tag);
    }
  }
  return [...tags];
}

/** Names the keys among `tags` and `tag` that hold something no tag can be read from. */
export function misshapenTagKeys(fields: FrontmatterFields): string[] {
  return TAG_KEYS.filter((key) => {
    const value = fields.get(key);
    if (isList(value)) return value.some((item) => item !== null && typeof item !== "string");
    return value !== undefined && value !== null && typeof value !== "string";
  });
}

/**
 * Returns the form in which tags are compared: trimmed, in lower case and NFC, without a leading
 * `#`, a `-` for each run of blanks.
 *
 * @returns `undefined` if nothing is left.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 *
 * equal(normalizeTag(" #Hash  Table"), "hash-table");
 * equal(normalizeTag("#"), undefined);
 * ```
 */
export function normalizeTag(tag: string): string | undefined {
  const bare = tag.normalize("NFC").trim().replace(/^#/, "").trim();
  return bare === "" ? undefined : bare.toLowerCase().replace(/\s+/g, "-");
}

function tagItems(value: FrontmatterValue | undefined): string[] {
  if (typeof value === "string") return value.split(/[,\s]+/);
  return isList(value) ? value.filter((item) => typeof item === "string") : [];
}

function isList(value: FrontmatterValue | undefined): value is readonly FrontmatterValue[] {
  return Array.isArray(value);
}
