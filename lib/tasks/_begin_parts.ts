/** The parts of the answer with which a task begins, each made of one file. */
import { allEntries } from "@/lib/journal/all_entries.ts";
import { JournalNotUnderstood } from "@/lib/journal/not_understood.ts";
import type { JournalReading } from "@/lib/journal/journal_files.ts";
import { PROFILE_PREFIX } from "@/lib/journal/profile_edit.ts";
import { readProjectNote } from "@/lib/journal/project_note.ts";
import { type Profiled, profilePath } from "@/lib/journal/profiles.ts";
import { escapeLabel, renderJournal } from "@/lib/journal/render_journal.ts";
import { readRules, ruleIds } from "@/lib/journal/rules_edit.ts";
import { stemOf } from "@/lib/vault/vault_path.ts";
import type { BeginPart } from "./begin_room.ts";

/** Of the session log. */
const LOG_LINES = 20;

export function rulesPart(reading: JournalReading): BeginPart {
  return partOf("[rules]", reading, ({ document }) => {
    const known = ruleIds(readRules(document));
    // A number is shown by the rule itself.
    const ids = new Map([...known].map(([id, { entry, number }]) => [entry, number ? "" : id]));
    for (const entry of allEntries(document, "")) {
      if (entry.isPlaceholder) ids.set(entry, "");
    }
    return renderJournal(document, { ids, withoutSources: true });
  });
}

export function profilePart(reading: JournalReading): BeginPart {
  return partOf("[profile]", reading, ({ document }) => {
    const entries = allEntries(document, PROFILE_PREFIX);
    return renderJournal(document, { ids: new Map(entries.map((entry) => [entry, entry.id])) });
  });
}

export function logPart(reading: JournalReading): BeginPart {
  return partOf("[session_log]", reading, ({ document }) => {
    return renderJournal(document).split("\n").slice(-LOG_LINES).join("\n");
  });
}

/** The current status of a project or, for who wants to look back, all of its note. */
export function projectPart(
  reading: JournalReading,
  { asked, history }: { readonly asked: string; readonly history: boolean },
): { readonly part: BeginPart; readonly problem?: string } {
  const label = `[project: ${stemOf(reading.path)}]`;
  const nothing: BeginPart = { label, path: reading.path, text: "" };
  if (reading.state === "absent") return { part: nothing, problem: `"${asked}" has just gone` };
  if (reading.state === "unread") {
    return { part: nothing, problem: `It is left alone: ${reading.reason}` };
  }
  const { document } = reading;
  if (history) {
    return { part: { ...nothing, text: renderJournal(document), isWholeFile: true } };
  }
  const status = statusOf(reading);
  if (typeof status === "string") return { part: nothing, problem: status };
  const { headingEndLine, endLine } = status;
  const text = renderJournal(document, { fromLine: headingEndLine + 1, toLine: endLine });
  const problem = text === "" ? { problem: "Its current status says nothing yet" } : {};
  return { part: { ...nothing, text }, ...problem };
}

function statusOf(
  { document }: Extract<JournalReading, { state: "read" }>,
): string | { readonly headingEndLine: number; readonly endLine: number } {
  try {
    const { status } = readProjectNote(document);
    if (document.isEmpty) return "Its note is empty";
    return status?.section ?? "It has no current status: history=true shows the whole note";
  } catch (error) {
    if (error instanceof JournalNotUnderstood) return `It is left alone: ${error.message}`;
    throw error;
  }
}

/** A profile under `profiles/`: its comments are for its writer, and headings alone say nothing. */
export function whoPart(who: Profiled, text: string): BeginPart {
  const lines = text.replace(/<!--[\s\S]*?-->/g, "").split(/\r\n|[\r\n]/)
    .filter((line) => line.trim() !== "");
  const isEmpty = lines.every((line) => /^#{1,6}\s/.test(line));
  const shown = isEmpty ? "" : lines.map(escapeLabel).join("\n");
  return { label: `[${who}_profile]`, path: profilePath(who), text: shown };
}

function partOf(
  label: string,
  reading: JournalReading,
  render: (reading: Extract<JournalReading, { state: "read" }>) => string,
): BeginPart {
  const text = reading.state === "read" ? render(reading) : "";
  return { label, path: reading.path, text };
}
