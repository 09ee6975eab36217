/** Checks of a single note or write, for use cases; who has no view may see everything. */
import type { Caller, NoteKind, View } from "@/lib/contracts.ts";
import { GrantMissing } from "@/lib/errors.ts";
import { AUTH_KEYS } from "./grants.ts";

/**
 * Checks that a note may be opened, before anybody has looked whether it is there.
 *
 * @throws {GrantMissing} If the caller's task does not cover what lies at such a place.
 */
export function requireVisible({ view }: Pick<Caller, "view">, kind: NoteKind, path: string): void {
  if (view === undefined || view.maySee(kind, path, [kind])) return;
  throw new GrantMissing(WHY[kind] ?? "This is never shown to agents");
}

const DEEP =
  `A person has to allow this first (${AUTH_KEYS.deep}), and read_project has to find the ` +
  'folder of the project: call request_access with grant="deep" and project, then read_project';

const WHY: Partial<Record<NoteKind, string>> = {
  facts: DEEP,
  history: `${DEEP}, both with history`,
  shared: `A person has to allow this first (${AUTH_KEYS.read}): call request_access with ` +
    'grant="read" and shared, a list of the files of _shared/ by name',
};

/**
 * Checks that a write which tells what was there before may tell it.
 *
 * @throws {GrantMissing} If the caller's task may write, but not read.
 */
export function requireReading({ view }: Pick<Caller, "view">): void {
  if (view?.canRead !== false) return;
  throw new GrantMissing(
    `To change what is there a person has to allow reading too (${AUTH_KEYS.read}): call ` +
      'request_access with grant="read" and this task',
  );
}

/** Tells which notes a search may find; `undefined` = all. */
export function toSeen(
  view: View | undefined,
  named: readonly NoteKind[],
): ((kind: NoteKind, path: string) => boolean) | undefined {
  return view && ((kind, path) => view.maySee(kind, path, named));
}
