/** Tools that look for notes. */
import {
  type Caller,
  type Hit,
  MAX_SEARCH_OFFSET,
  SEARCH_MODES,
  type SearchInput,
  type SearchMode,
} from "@/lib/contracts.ts";
import {
  type MatchingFile,
  MemorySearchArgs,
  MemorySearchResult,
  RecallArgs,
  type Recalled,
  RecallResult,
  SearchNotesArgs,
  SearchNotesResult,
} from "@/lib/contracts_tools.ts";
import { type CursorPlace, cursorsOf, refusedCursor } from "@/lib/cursor.ts";
import { recall } from "@/lib/recall/recall.ts";
import { searchNotes } from "@/lib/recall/search_notes.ts";
import { searchText } from "@/lib/recall/search_text.ts";
import { clip, countChars, packListing } from "./pack.ts";
import { MAX_LABEL_CHARS, MAX_NAME_CHARS, shortenDescription } from "./shorten.ts";
import { defineTool, READ_ONLY, type Tool, type ToolAnswer } from "./tool.ts";

const MAX_PASSAGE_CHARS = 600;
/** Of the matches of one file as JSON: what five long lines with their neighbours take. */
const MAX_MATCHES_CHARS = 5_000;

const searchNotesTool: Tool = defineTool({
  name: "search_notes",
  toolset: "core",
  grants: ["read"],
  title: "Search notes",
  description:
    "Searches all notes and memories of the person's vault by words and meaning, in Chinese and " +
    "English and across both, best first. " +
    "Each hit has its path and lines, a snippet, and the signals behind its score (0..1). Filters " +
    "(kind, tags, folder, status) narrow it down. Take recall for a short answer, memory_search " +
    "for an exact text or pattern, memory_open to read a hit whole.",
  hints: READ_ONLY,
  isEssential: true,
  args: SearchNotesArgs,
  result: SearchNotesResult,
  run: async (services, caller, { query, cursor, ...filters }) => {
    const input: SearchInput = { q: query, folder: undefined, status: undefined, ...filters };
    const page = readPage("search_notes", caller, { query, ...filters, cursor });
    const { offset, mode = input.mode } = page;
    const answer = await searchNotes(services, caller, { ...input, mode, offset });
    const { query: _query, tookMs: _tookMs, results, ...head } = answer;
    return page.pack(head, results.map(shortenHit));
  },
});

const recallTool: Tool = defineTool({
  name: "recall",
  toolset: "core",
  grants: ["read"],
  title: "Recall",
  description:
    "Recalls what is remembered about a topic: the best passages of memories and notes, in few " +
    "words (id, text, score, source, time). Call it at the start of a task and whenever earlier " +
    "decisions, preferences or pitfalls may matter. A passage is a clue, not the whole note: open " +
    "it with memory_open(id) before relying on it.",
  hints: READ_ONLY,
  isEssential: true,
  args: RecallArgs,
  result: RecallResult,
  run: async (services, caller, { cursor, top_k: limit, ...input }) => {
    const page = readPage("recall", caller, { limit, ...input, cursor });
    const { offset, mode = input.mode } = page;
    const answer = await recall(services, caller, { ...input, limit, mode, offset });
    const { results, ...head } = answer;
    return page.pack(head, results.map(shortenRecalled));
  },
});

const memorySearchTool: Tool = defineTool({
  name: "memory_search",
  toolset: "core",
  grants: ["read"],
  title: "Search text in files",
  description:
    "Finds a literal text, or with regex=true a pattern, in the Markdown files themselves, by " +
    "ripgrep: path, line, and the lines around it. This is text search, not semantic recall: it " +
    "finds the characters that you give and nothing else (a query without capitals ignores case). " +
    "It sees the files as they are now. Take it for names, error codes, paths, code and exact " +
    "words; take recall or search_notes for a topic.",
  hints: READ_ONLY,
  args: MemorySearchArgs,
  result: MemorySearchResult,
  run: async (services, caller, { cursor, ...input }) => {
    const page = readPage("memory_search", caller, { ...input, cursor });
    const answer = await searchText(services, caller, { ...input, offset: page.offset });
    const { results, ...head } = answer;
    return page.pack(head, results.map(shortenFile));
  },
});

export const SEARCH_TOOLS: readonly Tool[] = [recallTool, searchNotesTool, memorySearchTool];

interface PageHead extends ToolAnswer {
  readonly total: number;
  readonly mode?: string;
}

interface Page {
  readonly offset: number;
  /** The mode in which the page before was answered, whatever was asked for. */
  readonly mode: SearchMode | undefined;
  /** @throws {InvalidRequest} If the answer is in another mode than the page before. */
  pack(head: PageHead, results: readonly unknown[]): ToolAnswer;
}

/** Reads where a page begins; the cursor holds for the same tool, place and arguments only. */
function readPage(
  tool: string,
  { cwd: from }: Caller,
  { cursor, ...args }: Readonly<Record<string, unknown>> & { cursor: string | undefined },
): Page {
  const cursors = cursorsOf([tool, { ...args, from }]);
  const { offset, mode } = cursor === undefined
    ? { offset: 0, mode: undefined }
    : toPlace(cursors.parse(cursor));
  const endAfter = (count: number, head: PageHead) => {
    const next = offset + count;
    if (count === 0 || next >= head.total) return {};
    if (next > MAX_SEARCH_OFFSET) return { truncated: true };
    return { nextCursor: cursors.format([next, head.mode ?? NO_MODE]) };
  };
  return {
    offset,
    mode,
    pack(head, items) {
      // Ranks of one mode say nothing of another's: some hits would come twice and others never.
      if (mode !== undefined && head.mode !== mode) {
        throw refusedCursor(`goes on with an answer by ${mode}, which cannot be had now`);
      }
      return packListing({
        head: { ...head },
        key: "results",
        items,
        endAfter: (count) => endAfter(count, head),
      });
    },
  };
}

/** Stands in a cursor of a tool that knows no modes. */
const NO_MODE = "";

function toPlace(
  [offset, mode]: CursorPlace,
): { offset: number; mode: SearchMode | undefined } {
  const isOffset = Number.isSafeInteger(offset) && Number(offset) > 0 &&
    Number(offset) <= MAX_SEARCH_OFFSET;
  const known = SEARCH_MODES.find((each) => each === mode);
  if (!isOffset || known === undefined && mode !== NO_MODE) throw refusedCursor();
  return { offset: Number(offset), mode: known };
}

function shortenHit(hit: Hit): Hit {
  return {
    ...hit,
    ...shortenDescription(hit),
    ...(hit.actor === undefined ? {} : { actor: clip(hit.actor, MAX_LABEL_CHARS) }),
    ...(hit.originSessionId === undefined
      ? {}
      : { originSessionId: clip(hit.originSessionId, MAX_LABEL_CHARS) }),
    score: round(hit.score),
    signals: {
      keyword: roundSignal(hit.signals.keyword),
      metadata: roundSignal(hit.signals.metadata),
      body: roundSignal(hit.signals.body),
      dense: roundSignal(hit.signals.dense),
    },
    heading: hit.heading === null ? null : clip(hit.heading, MAX_NAME_CHARS),
    snippet: clip(hit.snippet, MAX_PASSAGE_CHARS),
  };
}

function shortenRecalled(recalled: Recalled): Recalled {
  return {
    ...recalled,
    text: clip(recalled.text, MAX_PASSAGE_CHARS),
    score: round(recalled.score),
    time: clip(recalled.time, MAX_LABEL_CHARS),
  };
}

/** Shows fewer matches, the neighbours of lines first, until those of one file leave room for others. */
function shortenFile(file: MatchingFile): MatchingFile {
  let matches = file.matches;
  if (countChars(matches) > MAX_MATCHES_CHARS) {
    matches = matches.map(({ line, text }) => ({ line, text }));
  }
  while (matches.length > 1 && countChars(matches) > MAX_MATCHES_CHARS) {
    matches = matches.slice(0, -1);
  }
  return { ...file, name: clip(file.name, MAX_NAME_CHARS), matches };
}

function round(score: number): number {
  return Math.round(score * 10_000) / 10_000;
}

function roundSignal(signal: number | null): number | null {
  return signal === null ? null : round(signal);
}
