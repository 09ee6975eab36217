/** What happens to folders: they come, go, move, hide, and turn into something else. */
import { nameOf, parentOf, VAULT } from "./disk_model.ts";
import type { Draft } from "./draft.ts";
import { type EditKind, once, onFolder, onNote } from "./edit_kind.ts";

const HIDDEN_NAMES: readonly string[] = [
  "private",
  ".obsidian",
  ".trash",
  "templates",
  "Private",
  "模板",
];

export const EDITS_OF_FOLDERS: readonly EditKind[] = [
  { name: "new nested folders", weight: 5, effect: "grows", plan: once(addNested) },
  { name: "move a folder", weight: 6, plan: onFolder(moveFolder) },
  {
    name: "move a folder to the top",
    weight: 2,
    plan: onFolder((draft, folder) => draft.move(folder, draft.fresh(VAULT))),
  },
  {
    name: "delete a folder",
    weight: 5,
    effect: "shrinks",
    plan: onFolder((draft, folder) => draft.remove(folder)),
  },
  { name: "recreate a folder", weight: 4, plan: onFolder(recreateFolder) },
  { name: "swap two folders", weight: 2, plan: onFolder(swapFolders) },
  { name: "out of the vault and back", weight: 3, plan: leaveAndReturn },
  { name: "rename a folder in case", weight: 2, plan: onFolder(renameInCase) },
  { name: "hide a folder", weight: 4, effect: "shrinks", plan: onFolder(hideFolder) },
  { name: "show a folder", weight: 4, effect: "grows", plan: once(showFolder) },
  { name: "write where it is hidden", weight: 3, plan: once(writeHidden) },
  { name: "a hidden folder goes", weight: 1, plan: once(removeHidden) },
  { name: "a note becomes a folder", weight: 3, plan: onNote(becomeFolder) },
  { name: "a folder becomes a note", weight: 3, plan: onFolder(becomeNote) },
  { name: "forbid and allow a folder", weight: 1, plan: forbidFolder },
];

function addNested(draft: Draft): void {
  const outer = draft.fresh(draft.home());
  const middle = draft.fresh(outer);
  const inner = draft.fresh(middle);
  for (const folder of draft.random.sample([outer, middle, inner, inner], 3)) {
    draft.write(draft.fresh(folder, ".md"));
  }
}

function moveFolder(draft: Draft, folder: string): void {
  const homes = draft.folders().filter((home) => home !== folder && !isBelow(home, folder));
  const home = draft.random.pick(homes);
  if (home !== undefined) draft.move(folder, draft.fresh(home));
}

function recreateFolder(draft: Draft, folder: string): void {
  draft.remove(folder);
  draft.write(draft.fresh(folder, ".md"));
  if (draft.random.chance(50)) draft.write(draft.fresh(draft.fresh(folder), ".md"));
}

function swapFolders(draft: Draft, folder: string): void {
  const other = draft.folder();
  if (other === undefined || other === folder) return;
  if (isBelow(other, folder) || isBelow(folder, other)) return;
  const third = draft.fresh(parentOf(folder));
  draft.move(folder, third);
  draft.move(other, folder);
  draft.move(third, other);
}

function* leaveAndReturn(draft: Draft): Generator<void> {
  const folder = draft.folder();
  if (folder === undefined) return;
  const away = draft.freshOutside();
  draft.move(folder, away);
  if (draft.random.chance(70)) yield;
  // What happens to it out there, nobody hears.
  if (draft.random.chance(50)) draft.write(`${away}/while-away.md`);
  draft.move(away, draft.random.chance(30) ? folder : draft.fresh(draft.home()));
}

function renameInCase(draft: Draft, folder: string): void {
  const name = nameOf(folder);
  const upper = name.toUpperCase();
  const to = `${parentOf(folder)}/${name === upper ? name.toLowerCase() : upper}`;
  if (!draft.model.has(to)) draft.move(folder, to);
}

function hideFolder(draft: Draft, folder: string): void {
  const name = draft.random.pick(HIDDEN_NAMES) ?? "";
  const to = `${parentOf(folder)}/${name}`;
  if (draft.model.has(to)) draft.move(folder, `${to}/${nameOf(folder)}`);
  else draft.move(folder, to);
}

function showFolder(draft: Draft): void {
  const folder = draft.excludedFolder();
  if (folder === undefined) return;
  const name = draft.random.pick(["open", "", ""]);
  const to = name === "open" ? `${parentOf(folder)}/open` : draft.fresh(draft.home());
  if (!draft.model.has(to)) draft.move(folder, to);
}

function writeHidden(draft: Draft): void {
  const { random } = draft;
  const folder = random.chance(50)
    ? draft.excludedFolder()
    : `${draft.home()}/${random.pick(HIDDEN_NAMES)}`;
  if (folder !== undefined) draft.write(draft.fresh(folder, ".md"));
}

function removeHidden(draft: Draft): void {
  const folder = draft.excludedFolder();
  if (folder !== undefined) draft.remove(folder);
}

function becomeFolder(draft: Draft, path: string): void {
  draft.remove(path);
  draft.write(draft.fresh(path, ".md"));
}

function becomeNote(draft: Draft, folder: string): void {
  if (/\.md$/.test(folder)) {
    draft.remove(folder);
    draft.write(folder);
  } else if (!draft.model.has(`${folder}.md`)) {
    const [note] = draft.notesBelow(folder);
    const text = note === undefined ? draft.text() : draft.model.textOf(note);
    draft.remove(folder);
    draft.write(`${folder}.md`, text);
  }
}

/** What was read before stays to be found meanwhile. */
function* forbidFolder(draft: Draft): Generator<void> {
  const folder = draft.folder();
  if (folder === undefined) return;
  draft.chmod(folder, 0o000);
  draft.isBlocked = true;
  yield;
  draft.chmod(folder, 0o755);
  draft.isBlocked = false;
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`);
}
