/**
 * Facts: the rows of the tables in a project's `memory.md`, and which of them to believe first. A
 * table counts if its head has the columns of `MEMORY_FACT_SCHEMA`; all else is text. Long files are
 * read and ranked in small steps.
 */
import { FACT_STANDINGS, type FactDoubt, type FactStanding } from "@/lib/contracts_reading.ts";
import { MEMORY_DEEP_MAX_MEMORY_CHARS, MEMORY_FACT_SCHEMA } from "@/lib/protocol_keys.ts";
import { isRealDay } from "@/lib/time_text.ts";
import type { ParsedNote } from "@/lib/vault/note.ts";
import { lineText, type NoteText } from "@/lib/vault/note_text.ts";
import { comparisonKey } from "@/lib/vault/vault_path.ts";

/** One row of a table of facts, every cell as written; the names are those of the columns. */
export interface Fact {
  readonly key: string;
  readonly fact: string;
  readonly status: string;
  readonly verified_at: string;
  readonly source: string;
  readonly expires?: string;
}

export interface RankedFact extends Fact {
  readonly countsAs: FactStanding;
  readonly because?: FactDoubt;
  /** True if a better fact has the same key. */
  readonly overruled?: boolean;
}

/** What a note of facts holds. */
export interface FactNote {
  /** In the order of the file. */
  readonly facts: readonly Fact[];
  /** The body without the tables of facts; a row that is no fact stays. */
  readonly text: string;
}

const COLUMNS = MEMORY_FACT_SCHEMA.split(",").map((column) => ({
  name: column.replace("?", ""),
  isNeeded: !column.endsWith("?"),
}));
/** Further cells of a row are not looked at. */
const MAX_CELLS = 64;

/** No answer has room for a longer row: it is left as text. */
const MAX_ROW_CHARS = 32 * 1024;

const CHARS_A_STEP = 32 * 1024;
/** What a row costs beside its characters. */
const ROW_CHARS = 64;
const FACTS_A_STEP = 1_000;
/** No answer has room for more, if each took but one character. */
const MAX_RANKED = MEMORY_DEEP_MAX_MEMORY_CHARS;

const DAY = /^(\d{4})-(\d\d)-(\d\d)(?:[T ]\d\d:\d\d\S*)?$/;
/** People write a dash where there is nothing to say. */
const NOTHING = /^[-–—]*$/;

/** Reads the facts of a note, and what else its body says. Tables in code or quotes are text. */
export function* parseFacts(
  { text: note, blocks, bodyStartLine }: Pick<ParsedNote, "text" | "blocks" | "bodyStartLine">,
): Generator<void, FactNote> {
  const facts: Fact[] = [];
  const kept: string[] = [];
  let keepFrom = bodyStartLine ?? note.lineCount + 1;
  let pauseIn = CHARS_A_STEP;
  for (const { kind, startLine, endLine } of blocks) {
    if (--pauseIn <= 0) {
      pauseIn = CHARS_A_STEP;
      yield;
    }
    if (kind !== "table") continue;
    const columns = findColumns(cellsOf(lineText(note, startLine)));
    if (columns === undefined) continue;
    kept.push(wholeLines(note, keepFrom, startLine - 1));
    // Behind the head comes the line that parts it from the rows.
    for (let line = startLine + 2; line <= endLine; line++) {
      const row = lineText(note, line);
      const fact = row.length > MAX_ROW_CHARS ? undefined : toFact(columns, cellsOf(row));
      if (fact) facts.push(fact);
      else kept.push(wholeLines(note, line, line));
      pauseIn -= Math.min(row.length, MAX_ROW_CHARS) + ROW_CHARS;
      if (pauseIn > 0) continue;
      pauseIn = CHARS_A_STEP;
      yield;
    }
    keepFrom = endLine + 1;
  }
  kept.push(wholeLines(note, keepFrom, note.lineCount));
  return { facts, text: kept.join("") };
}

/**
 * Orders facts by what they are worth: unexpired verified ones, assumptions, deprecated ones; the
 * newer `verified_at` first, those without a date last, then as they came.
 *
 * What was verified and has expired counts as an assumption, and so does what has a status that is
 * not known, or an `expires` that is no date and proves nothing.
 *
 * @param today `YYYY-MM-DD`; a fact still holds on the day on which it expires.
 * @returns The best 3 000 at the most.
 */
export function* rankFacts(
  facts: readonly Fact[],
  today: string,
): Generator<void, readonly RankedFact[]> {
  let best: JudgedFact[] = [];
  for (let from = 0; from < facts.length; from += FACTS_A_STEP) {
    const judged = facts.slice(from, from + FACTS_A_STEP).map((fact) => judge(fact, today));
    best = [...best, ...judged].sort(compareFacts).slice(0, MAX_RANKED);
    yield;
  }
  const leaders = new Set<string>();
  return best.map(({ ranked }) => {
    const key = comparisonKey(withoutMarks(ranked.key));
    if (leaders.has(key)) return { ...ranked, overruled: true };
    leaders.add(key);
    return ranked;
  });
}

interface JudgedFact {
  readonly ranked: RankedFact;
  readonly standing: number;
  /** As `momentOf()` writes it. */
  readonly verifiedAt: string;
}

function judge(fact: Fact, today: string): JudgedFact {
  const judgement = judgeStanding(fact, today);
  return {
    ranked: { ...fact, ...judgement },
    standing: FACT_STANDINGS.indexOf(judgement.countsAs),
    verifiedAt: momentOf(fact.verified_at),
  };
}

function judgeStanding(
  { status, expires = "" }: Fact,
  today: string,
): Pick<RankedFact, "countsAs" | "because"> {
  const written = withoutMarks(status).toLowerCase();
  if (written === "deprecated" || written === "assumption") return { countsAs: written };
  if (written !== "verified") return { countsAs: "assumption", because: "status-unknown" };
  if (NOTHING.test(expires)) return { countsAs: "verified" };
  const lastDay = dayOf(expires);
  if (lastDay === undefined) return { countsAs: "assumption", because: "expires-unreadable" };
  if (lastDay < today) return { countsAs: "assumption", because: "expired" };
  return { countsAs: "verified" };
}

function compareFacts(a: JudgedFact, b: JudgedFact): number {
  if (a.standing !== b.standing) return a.standing - b.standing;
  if (a.verifiedAt === b.verifiedAt) return 0;
  return a.verifiedAt > b.verifiedAt ? -1 : 1;
}

/** Returns a text that sorts by day and, where one is written, time of day; empty if there is none. */
function momentOf(cell: string): string {
  const day = dayOf(cell);
  return day === undefined ? "" : day + withoutMarks(cell).slice(day.length).replace("T", " ");
}

/** Returns the day that a cell names, if there is such a day. */
function dayOf(cell: string): string | undefined {
  const [, year, month, day] = DAY.exec(withoutMarks(cell)) ?? [];
  if (day === undefined) return undefined;
  const written = `${year}-${month}-${day}`;
  return isRealDay(written) ? written : undefined;
}

type Columns = ReadonlyMap<string, number>;

function findColumns(head: readonly string[]): Columns | undefined {
  const columns = new Map<string, number>();
  head.forEach((cell, at) => {
    const name = withoutMarks(cell).toLowerCase();
    if (!columns.has(name)) columns.set(name, at);
  });
  const isComplete = COLUMNS.every(({ name, isNeeded }) => !isNeeded || columns.has(name));
  return isComplete ? columns : undefined;
}

/** Returns nothing for a row that has no key, or says nothing. */
function toFact(columns: Columns, cells: readonly string[]): Fact | undefined {
  const cell = (name: string): string => cells[columns.get(name) ?? -1] ?? "";
  const [key, fact, expires] = [cell("key"), cell("fact"), cell("expires")];
  if (key === "" || fact === "") return undefined;
  return {
    key,
    fact,
    status: cell("status"),
    verified_at: cell("verified_at"),
    source: cell("source"),
    ...(expires === "" ? {} : { expires }),
  };
}

function cellsOf(row: string): string[] {
  const inner = row.trim().replace(/^\|/, "");
  // A pipe at the end opens one more, which nobody asks for.
  return inner.split(/(?<!\\)\|/, MAX_CELLS).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

/** Headings of columns, dates and the like may be bold or code. */
function withoutMarks(cell: string): string {
  return cell.replace(/[`*\\]/g, "").trim();
}

function wholeLines({ text, lineStarts }: NoteText, from: number, to: number): string {
  return from > to ? "" : text.slice(lineStarts[from - 1], lineStarts[to]);
}
