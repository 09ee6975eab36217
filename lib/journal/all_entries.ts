/** All entries of a file, so that each has one id however it is looked for. */
import type { Block } from "@/lib/vault/markdown.ts";
import { type Entry, toEntries } from "./entries.ts";
import type { JournalDocument, Section } from "./journal_document.ts";

/**
 * Returns all entries of a file, in their order; what stands above the first heading is none, nor is
 * a line that only names what stands below it.
 */
export function allEntries(document: JournalDocument, prefix: string): Entry[] {
  // Together, so that two that say the same in different sections have two ids.
  const inSections: Block[] = [];
  let next = 0;
  let coveredTo = 0;
  for (const block of document.blocks) {
    for (; (document.sections[next]?.headingEndLine ?? Infinity) < block.startLine; next++) {
      coveredTo = Math.max(coveredTo, document.sections[next]?.endLine ?? 0);
    }
    if (block.startLine <= coveredTo && !isLabel(document, block)) inSections.push(block);
  }
  return toEntries(document, inSections, prefix);
}

function isLabel(document: JournalDocument, { kind, startLine, endLine }: Block): boolean {
  if (kind !== "paragraph" || startLine !== endLine) return false;
  if (startLine === document.updated?.line) return true;
  return /^\s*(?:\*\*[^*]+\*\*|__[^_]+__)\s*$|[：:][*_\s]*$/u.test(document.line(startLine));
}

/** Returns those of some entries that stand in a section, below its deeper headings too. */
export function entriesIn(entries: readonly Entry[], section: Section): Entry[] {
  const { headingEndLine, endLine } = section;
  return entries.filter((it) => it.startLine > headingEndLine && it.endLine <= endLine);
}
