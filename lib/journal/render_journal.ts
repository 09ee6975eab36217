/**
 * Files of the journal as an agent reads them: what they say, and no word more. Comments, hit marks,
 * empty sections and what a template has in place of entries are left out.
 */
import type { Block } from "@/lib/vault/markdown.ts";
import { type Entry, toEntries, withoutBlockId, withoutComments } from "./entries.ts";
import { isMarkLine, withoutHitMarks } from "./hit_mark.ts";
import type { JournalDocument } from "./journal_document.ts";

/** What stands at the head of a part of the answer: no line of a file may pass for one. */
const LIKE_A_LABEL = /^\s*\[(?:rules|profile|agent_profile|user_profile|project|session_log)\b/i;
/** In bold, with a colon. */
const LABEL = /^\s*(?:\*\*[^*]+[：:]\s*\*\*|\*\*[^*]+\*\*\s*[：:])\s*$/u;
/** Below all headings. */
const LABEL_LEVEL = 7;
const SOURCE_LINE = /^\s+(?:来源|來源|source)\s*[：:]/iu;

export interface RenderOptions {
  readonly fromLine?: number;
  readonly toLine?: number;
  /** Ids to be shown behind entries; an empty one is not. */
  readonly ids?: ReadonlyMap<Entry, string>;
  readonly withoutSources?: boolean;
}

/** Returns the lines of a file that say something. */
export function renderJournal(
  document: JournalDocument,
  { fromLine = 1, toLine = document.note.lineCount, ids = new Map(), withoutSources = false }:
    RenderOptions = {},
): string {
  const idAt = new Map<number, string>();
  for (const [{ startLine, textEndLine }, id] of ids) {
    const isShown = (line: number) => shownOf(document.line(line), { withoutSources }) !== "";
    idAt.set(linesOf({ startLine, endLine: textEndLine }).findLast(isShown) ?? textEndLine, id);
  }
  const placeholders = new Set(
    toEntries(document, document.blocks, "").filter((it) => it.isPlaceholder).flatMap(linesOf),
  );
  const lines: RenderedLine[] = [];
  for (const block of document.blocks) {
    const isShown = !["comment", "rule"].includes(block.kind) && block.startLine >= fromLine &&
      block.endLine <= toLine;
    if (!isShown) continue;
    if (block.kind === "heading") {
      lines.push({ level: block.level ?? 1, text: escapeLabel(headingOf(document, block)) });
      continue;
    }
    for (let line = block.startLine; line <= block.endLine; line++) {
      if (placeholders.has(line) || isEndLine(document, line)) continue;
      const raw = document.line(line);
      const text = block.kind === "code" ? raw : shownOf(raw, { withoutSources });
      if (text.trim() === "") continue;
      const id = idAt.get(line);
      const level = block.kind === "paragraph" && LABEL.test(text) ? LABEL_LEVEL : 0;
      lines.push({ level, text: escapeLabel(text) + (id ? ` ^${id}` : "") });
    }
  }
  return withoutEmptySections(lines).map(({ text }) => text).join("\n");
}

interface RenderedLine {
  /** Of a heading or label; 0 = none. */
  readonly level: number;
  readonly text: string;
}

function linesOf({ startLine, endLine }: Pick<Entry, "startLine" | "endLine">): number[] {
  return Array.from({ length: endLine - startLine + 1 }, (_, index) => startLine + index);
}

function isEndLine({ updated, tailLine }: JournalDocument, line: number): boolean {
  return updated !== undefined && line >= Math.min(tailLine, updated.line) && line <= updated.line;
}

/** A comment may stand in code; elsewhere it is not for reading. */
function shownOf(
  line: string,
  { withoutSources }: { readonly withoutSources: boolean },
): string {
  if (isMarkLine(line)) return "";
  const text = withoutBlockId(withoutComments(withoutHitMarks(line))).trimEnd();
  return withoutSources && SOURCE_LINE.test(text) ? "" : text;
}

/** A heading that is underlined takes one line, as all others do. */
function headingOf(document: JournalDocument, { startLine, endLine, level = 1 }: Block): string {
  if (startLine === endLine) return shownOf(document.line(startLine), { withoutSources: false });
  const words = document.lines(startLine, endLine - 1).map((line) => line.trim());
  return `${"#".repeat(level)} ${words.join(" ")}`;
}

/** Keeps a line of a file from passing for the head of another part. */
export function escapeLabel(line: string): string {
  return LIKE_A_LABEL.test(line) ? `\\${line}` : line;
}

/** A heading below which nothing stands says nothing; a title is told by the label above. */
function withoutEmptySections(lines: readonly RenderedLine[]): RenderedLine[] {
  const hasTitle = lines.filter(({ level }) => level === 1).length === 1;
  const kept: RenderedLine[] = [];
  for (const line of [...lines].reverse()) {
    const { level } = line;
    const next = kept.at(-1);
    const saysSomething = next !== undefined && (next.level === 0 || next.level > level);
    if (level === 0 || (saysSomething && !(level === 1 && hasTitle))) kept.push(line);
  }
  return kept.reverse();
}
