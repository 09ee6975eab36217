/** Bounds on single fields: a person may write a page where a line is meant. */
import { clip } from "./pack.ts";

export const MAX_NAME_CHARS = 160;
export const MAX_LABEL_CHARS = 60;
const MAX_DESCRIPTION_CHARS = 300;
const MAX_TAGS = 20;

interface Described {
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly updatedAt: string;
}

/** Shortens what describes a note; id and path stay whole, as they are handed back. */
export function shortenDescription({ name, description, tags, updatedAt }: Described): {
  name: string;
  description: string;
  tags: string[];
  updatedAt: string;
} {
  return {
    name: clip(name, MAX_NAME_CHARS),
    description: clip(description, MAX_DESCRIPTION_CHARS),
    tags: tags.slice(0, MAX_TAGS).map((tag) => clip(tag, MAX_LABEL_CHARS)),
    updatedAt: clip(updatedAt, MAX_LABEL_CHARS),
  };
}
