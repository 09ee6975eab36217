/** What `doctor` has found, in words. */
import { type Diagnostic, DIAGNOSTIC_REASONS, type DiagnosticsAnswer } from "@/lib/contracts.ts";
import { countOf } from "@/lib/count_of.ts";
import type { JournalFault } from "./check_journal.ts";

/** All that was found. */
export interface Findings extends DiagnosticsAnswer {
  readonly notes: number;
  readonly memories: number;
  /** `mend` says what helps beyond the message. */
  readonly diagnostics: (Diagnostic & { readonly mend?: string | undefined })[];
  readonly journal: readonly JournalFault[];
}

/** Tells whether nothing is wrong. */
export function isHealthy({ total, warnings, journal }: Findings): boolean {
  return total + warnings.length + journal.length === 0;
}

/** Returns it as text: reasons with their files, warnings, the journal, and a line that sums up. */
export function formatFindings(findings: Findings): string {
  const { diagnostics, warnings, journal } = findings;
  const byReason = Map.groupBy(diagnostics, ({ reason }) => reason);
  const parts = [
    ...DIAGNOSTIC_REASONS.flatMap((reason) => {
      const entries = byReason.get(reason);
      return entries === undefined ? [] : [formatReason(reason, entries)];
    }),
    ...(warnings.length === 0 ? [] : [
      [`⚠️ the vault as a whole (${warnings.length})`, ...warnings.map((it) => `  ${it}`)],
    ]),
    ...(journal.length === 0 ? [] : [formatJournal(journal)]),
    [formatSummary(findings)],
  ];
  return parts.map((lines) => lines.join("\n")).join("\n\n");
}

/** What is said of several files is said once. */
function formatReason(reason: string, entries: Findings["diagnostics"]): string[] {
  const mend = entries[0]?.mend;
  return [
    `⚠️ ${reason} (${entries.length})`,
    ...[...Map.groupBy(entries, ({ message }) => message)].flatMap(([message, same]) => [
      `  ${message}`,
      ...same.map((entry) => `    ${placeOf(entry)}`),
    ]),
    ...(mend === undefined ? [] : [`  → ${mend}`]),
  ];
}

function formatJournal(journal: readonly JournalFault[]): string[] {
  return [
    `⚠️ files of the journal that are not understood (${journal.length})`,
    ...journal.map((fault) => `  ${placeOf(fault)}: ${fault.message}`),
    "  → Such a file is left alone: nothing is taken from it or written into it until it is mended",
  ];
}

function placeOf(
  { path, line }: { readonly path: string; readonly line?: number | undefined },
): string {
  return line === undefined ? path : `${path}:${line}`;
}

function formatSummary(findings: Findings): string {
  const { total, warnings, journal, notes, memories } = findings;
  const all = `${countOf(notes, "note")}, of which ${countOf(memories, "memory", "memories")}`;
  if (isHealthy(findings)) return `✅ Nothing is wrong: ${all}`;
  const wrong = [
    ...(total > 0
      ? [countOf(total, "problem of a note or file", "problems of notes and files")]
      : []),
    ...(warnings.length > 0 ? [countOf(warnings.length, "warning")] : []),
    ...(journal.length > 0
      ? [`${countOf(journal.length, "file")} of the journal not understood`]
      : []),
  ];
  return `⚠️ ${wrong.join(", ")}; ${all}`;
}
