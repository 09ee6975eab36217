/** Which blocks of a file say something, and which hide what stands in them. */
import type { Block } from "@/lib/vault/markdown.ts";

/** Tells whether what stands in a block is shown to nobody, or is an example. */
export function isHiding({ kind }: Pick<Block, "kind">): boolean {
  return kind === "code" || kind === "comment" || kind === "html";
}

/** Tells whether a block is something that a person has said. */
export function saysSomething({ kind }: Pick<Block, "kind">): boolean {
  return kind !== "html" && kind !== "comment" && kind !== "rule";
}
