/** Links come, go, and take the place of what was there; none is ever followed. */
import { OUTSIDE, parentOf } from "./disk_model.ts";
import type { Draft } from "./draft.ts";
import { type EditKind, once, onFolder, onNote } from "./edit_kind.ts";

/** What links lead to; it has to be there before the first of these edits. */
export const LINKED_FILE: string = `${OUTSIDE}/linked.md`;
export const LINKED_FOLDER: string = `${OUTSIDE}/linked`;

export const EDITS_OF_LINKS: readonly EditKind[] = [
  { name: "a link to a file comes", weight: 2, plan: once(addFileLink) },
  { name: "a link to a folder comes", weight: 2, plan: once(addFolderLink) },
  { name: "a link goes", weight: 3, plan: once(removeLink) },
  { name: "a link replaces a note", weight: 3, effect: "shrinks", plan: onNote(replaceNote) },
  { name: "a link replaces a folder", weight: 2, effect: "shrinks", plan: onFolder(replaceFolder) },
  { name: "a note replaces a link", weight: 2, effect: "grows", plan: once(replaceLink) },
  { name: "a linked file changes", weight: 2, plan: once(changeLinked) },
];

function addFileLink(draft: Draft): void {
  const inside = draft.note();
  const target = draft.random.chance(70) ? LINKED_FILE : inside ?? LINKED_FILE;
  draft.link(draft.fresh(draft.home(), ".md"), target);
}

function addFolderLink(draft: Draft): void {
  const target = draft.random.chance(70) ? LINKED_FOLDER : draft.home();
  draft.link(draft.fresh(draft.home()), target);
}

function removeLink(draft: Draft): void {
  const path = draft.linkPath();
  if (path !== undefined) draft.remove(path);
}

function replaceNote(draft: Draft, path: string): void {
  if (draft.random.chance(50)) draft.remove(path);
  const temporary = draft.fresh(parentOf(path));
  draft.link(temporary, LINKED_FILE);
  draft.move(temporary, path);
}

/** The folder itself is outside then, where the link leads. */
function replaceFolder(draft: Draft, folder: string): void {
  const away = draft.freshOutside();
  draft.move(folder, away);
  draft.link(folder, draft.random.chance(50) ? away : LINKED_FOLDER);
}

function replaceLink(draft: Draft): void {
  const path = draft.linkPath();
  if (path === undefined) return;
  draft.remove(path);
  const isFile = path.endsWith(".md");
  draft.write(isFile ? path : draft.fresh(path, ".md"));
}

function changeLinked(draft: Draft): void {
  draft.write(draft.random.chance(50) ? LINKED_FILE : draft.fresh(LINKED_FOLDER, ".md"));
}
