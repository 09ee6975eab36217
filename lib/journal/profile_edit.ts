/** Changes of `profile.md`: entries are added, replaced one by one, marked; never deleted. */
import { invalidField, type InvalidRequest } from "@/lib/errors.ts";
import { didYouMean } from "@/lib/nearest_name.ts";
import { allEntries } from "./all_entries.ts";
import type { Entry } from "./entries.ts";
import { type JournalDocument, type Section } from "./journal_document.ts";
import { JournalNotUnderstood } from "./not_understood.ts";
import { type JournalEdit, ownEndLine } from "./journal_edit.ts";
import {
  foldPartName,
  namesIn,
  partNamed,
  PROFILE_SECTIONS,
  type ProfileSection,
} from "./journal_names.ts";

/** Ids of entries in `profile.md` begin with it. */
export const PROFILE_PREFIX = "p";

const SECTION_ORDER = Object.keys(PROFILE_SECTIONS) as readonly ProfileSection[];

/** What is to be said in the profile. */
export interface ProfileEntry {
  readonly text: string;
  /** One of the four in either language, or any heading of the file. */
  readonly section?: string | undefined;
  /** The id of the entry whose place it takes. */
  readonly replaces?: string | undefined;
}

/** What became of the entries. */
export interface ProfileOutcome {
  readonly added: number;
  readonly replaced: number;
  /** Said already, in the same words: only their marks are set. */
  readonly known: number;
}

/**
 * Writes entries into the profile.
 *
 * @param options `tellsSections`: false for who may not learn which sections the person has made.
 * @throws {InvalidRequest} If there is no such section, or no entry with an id that is to be replaced.
 * @throws {JournalNotUnderstood} If it cannot be told which section is meant.
 */
export function editProfile(
  edit: JournalEdit,
  entries: readonly ProfileEntry[],
  { tellsSections = true }: { readonly tellsSections?: boolean } = {},
): ProfileOutcome {
  const { document } = edit;
  const present = allEntries(document, PROFILE_PREFIX);
  const outcome = { added: 0, replaced: 0, known: 0 };
  const added = new Map<Section | ProfileSection, string[]>();
  for (const { text, section, replaces } of entries) {
    if (replaces !== undefined) {
      const replaced = requireEntry(present, replaces);
      if (!edit.claim(replaced)) throw notTwice(replaces);
      edit.rewrite(replaced, text);
      outcome.replaced++;
      continue;
    }
    const same = present.find((entry) => isSame(entry.text, text));
    if (same) edit.markHit(same, edit.day);
    if (same || [...added.values()].flat().some((other) => isSame(other, text))) {
      outcome.known++;
      continue;
    }
    const place = requireSection(document, section ?? "other", tellsSections);
    added.set(place, [...added.get(place) ?? [], text]);
    outcome.added++;
  }
  // New sections come behind what is added to the old ones, in the order of a new file.
  const order = (place: Section | ProfileSection) =>
    typeof place === "string" ? SECTION_ORDER.indexOf(place) : -1;
  const ordered = [...added].sort(([a], [b]) => order(a) - order(b));
  for (const [place, texts] of ordered) addEntries(edit, place, texts);
  return outcome;
}

/** Takes an entry out of the file, with all that is nested in it. */
export function removeEntry({ lines }: JournalEdit, { startLine, endLine }: Entry): void {
  lines.removeLines(startLine, endLine);
}

/** Tells whether two entries say the same in the same words. */
export function isSame(a: string, b: string): boolean {
  return foldSaid(a) === foldSaid(b);
}

/** Signs count, as in C and C#, but for those that end a sentence. */
function foldSaid(text: string): string {
  return text.normalize("NFKC").toLowerCase().replace(/\s+/g, " ").replace(/[\s.。!;,、]+$/u, "")
    .trim();
}

function addEntries(
  edit: JournalEdit,
  place: Section | ProfileSection,
  texts: readonly string[],
): void {
  const marked = texts.map((text) => text + edit.markFor(edit.day));
  if (typeof place === "string") {
    edit.addSection(PROFILE_SECTIONS[place], marked, placeForSection(edit, place));
  } else {
    edit.addItems(place, marked);
  }
}

/** Behind the section that comes before it in a new file, if that is there, and of its level. */
function placeForSection(
  edit: JournalEdit,
  part: ProfileSection,
): { afterLine: number; level?: number } {
  const { document } = edit;
  const before = SECTION_ORDER.slice(0, SECTION_ORDER.indexOf(part)).reverse()
    .flatMap((name) => document.find(PROFILE_SECTIONS[name]) ?? [])[0];
  if (before === undefined) return { afterLine: edit.endOfContent };
  return { afterLine: ownEndLine(document, before), level: before.level };
}

function requireEntry(entries: readonly Entry[], id: string): Entry {
  const found = entries.find((entry) => entry.id === id);
  if (found !== undefined) return found;
  const message = "names no entry of profile.md: ids are those that begin_task shows, and change " +
    "with the words of their entry";
  throw invalidField("Nothing was written", { field: "replaces", message, value: id });
}

function notTwice(id: string): InvalidRequest {
  const message = "names the same entry twice";
  return invalidField("Nothing was written", { field: "replaces", message, value: id });
}

function requireSection(
  document: JournalDocument,
  name: string,
  tellsSections: boolean,
): Section | ProfileSection {
  const known = partNamed(name, PROFILE_SECTIONS) ?? toProfileSection(name);
  const wanted = foldPartName(name);
  const others = document.sections.filter(({ level }) => level > 1);
  const named = others.filter(({ title }) => namesIn(title).includes(wanted));
  const [only] = named;
  const mayUse = known !== undefined || tellsSections;
  if (mayUse && only !== undefined && named.length === 1) return only;
  if (known !== undefined) return document.find(PROFILE_SECTIONS[known]) ?? known;
  if (mayUse && only !== undefined) {
    throw new JournalNotUnderstood("secondSection", named[1]?.headingLine);
  }
  const titles = tellsSections ? others.map(({ title }) => title) : [];
  const names = [...new Set([...titles, ...Object.keys(PROFILE_SECTIONS)])];
  const message = `names no section of profile.md${didYouMean(name, names)}; there are ` +
    names.join(", ");
  throw invalidField("Nothing was written", { field: "section", message });
}

function toProfileSection(name: string): ProfileSection | undefined {
  const folded = foldPartName(name);
  return folded in PROFILE_SECTIONS ? folded as ProfileSection : undefined;
}
