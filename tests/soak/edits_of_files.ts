/** What people, editors and sync tools do to single files. */
import { isNotePath, nameOf, parentOf } from "./disk_model.ts";
import type { Draft } from "./draft.ts";
import { type EditKind, once, onNote } from "./edit_kind.ts";

const BURST = 200;

/** Under these names editors keep a file for a moment. */
const TEMPORARY_NAMES: readonly ((name: string) => string)[] = [
  (name) => `.${name}.swp`,
  (name) => `${name}.tmp`,
  () => "4913",
  (name) => `${name}~`,
  (name) => `.#${name}`,
  (name) => `${name}.Kx81Qz`,
];

export const EDITS_OF_FILES: readonly EditKind[] = [
  { name: "write in place", weight: 8, plan: onNote((draft, path) => draft.write(path)) },
  { name: "save by rename", weight: 8, plan: onNote(saveByRename) },
  { name: "save with a backup", weight: 3, plan: onNote(saveWithBackup) },
  { name: "same size and times", weight: 5, plan: onNote((draft, path) => draft.rewrite(path)) },
  {
    name: "append",
    weight: 4,
    plan: onNote((draft, path) => draft.append(path, `\n${draft.paragraph()}`)),
  },
  { name: "truncate", weight: 1, plan: onNote((draft, path) => draft.write(path, "")) },
  {
    name: "delete",
    weight: 4,
    effect: "shrinks",
    plan: onNote((draft, path) => draft.remove(path)),
  },
  { name: "delete and recreate", weight: 3, plan: onNote(recreate) },
  {
    name: "create",
    weight: 6,
    effect: "grows",
    plan: once((draft) => draft.write(draft.fresh(draft.home(), ".md"))),
  },
  {
    name: "move a note",
    weight: 6,
    plan: onNote((draft, path) => draft.move(path, draft.fresh(draft.home(), ".md"))),
  },
  { name: "move over a note", weight: 4, effect: "shrinks", plan: onNote(moveOver) },
  { name: "swap two notes", weight: 2, plan: onNote(swap) },
  { name: "rename in case", weight: 3, plan: onNote(renameInCase) },
  { name: "rename to no note", weight: 2, effect: "shrinks", plan: onNote(renameToNoNote) },
  { name: "rename to a note", weight: 2, effect: "grows", plan: once(renameToNote) },
  { name: "touch", weight: 2, plan: onNote((draft, path) => draft.touch(path)) },
  { name: "burst of writes", weight: 1, plan: once(burst) },
  { name: "burst of new notes", weight: 1, effect: "grows", plan: once(burstOfNew) },
  { name: "burst of deletions", weight: 1, effect: "shrinks", plan: once(burstOfDeletions) },
  { name: "no note comes", weight: 2, plan: once(addOtherFile) },
  { name: "no note goes", weight: 2, plan: once(removeOtherFile) },
  { name: "forbid and allow a file", weight: 2, plan: forbidFile },
];

function saveByRename(draft: Draft, path: string): void {
  const name = draft.random.pick(TEMPORARY_NAMES)?.(nameOf(path)) ?? "";
  const temporary = `${parentOf(path)}/${name}`;
  draft.write(temporary);
  draft.move(temporary, path);
}

/** As vim does. */
function saveWithBackup(draft: Draft, path: string): void {
  const probe = `${parentOf(path)}/4913`;
  draft.write(probe, "");
  draft.remove(probe);
  draft.move(path, `${path}~`);
  draft.write(path);
  draft.remove(`${path}~`);
}

function recreate(draft: Draft, path: string): void {
  const text = draft.random.chance(50) ? draft.text() : draft.model.textOf(path);
  draft.remove(path);
  draft.write(path, text);
}

function moveOver(draft: Draft, path: string): void {
  const other = draft.note();
  if (other !== undefined && other !== path) draft.move(path, other);
}

function swap(draft: Draft, path: string): void {
  const other = draft.note();
  if (other === undefined || other === path) return;
  const third = draft.fresh(parentOf(path));
  draft.move(path, third);
  draft.move(other, path);
  draft.move(third, other);
}

function renameInCase(draft: Draft, path: string): void {
  const name = nameOf(path);
  const first = name.charAt(0);
  const other = first === first.toLowerCase() ? first.toUpperCase() : first.toLowerCase();
  const to = `${parentOf(path)}/${other}${name.slice(1)}`;
  if (!draft.model.has(to)) draft.move(path, to);
}

function renameToNoNote(draft: Draft, path: string): void {
  const { random } = draft;
  const name = nameOf(path);
  const names = [`.${name}`, `${name}.tmp`, `${name}.bak`, `~$${name}`, name.replace(/\.md$/, "")];
  const to = `${parentOf(path)}/${random.pick(names) ?? ""}`;
  if (!draft.model.has(to)) draft.move(path, to);
}

function renameToNote(draft: Draft): void {
  const path = draft.otherFile();
  if (path !== undefined) draft.move(path, draft.fresh(draft.home(), ".md"));
}

function burst(draft: Draft): void {
  for (const path of draft.notes(burstSize(draft))) {
    if (draft.random.chance(30)) draft.rewrite(path);
    else draft.write(path);
  }
}

function burstOfNew(draft: Draft): void {
  const homes = [draft.home(), draft.home(), draft.fresh(draft.home())];
  const size = burstSize(draft);
  for (let i = 0; i < size; i++) {
    draft.write(draft.fresh(draft.random.pick(homes) ?? "", ".md"));
  }
}

function burstOfDeletions(draft: Draft): void {
  for (const path of draft.notes(burstSize(draft) / 2)) draft.remove(path);
}

/** Small vaults are not turned over by one edit. */
function burstSize(draft: Draft): number {
  return Math.min(BURST, Math.ceil(draft.model.notes().size / 2) + 5);
}

function addOtherFile(draft: Draft): void {
  const ending = draft.random.pick([".png", ".canvas", ".txt", ".md.tmp", ".mdx"]);
  draft.write(draft.fresh(draft.home(), ending));
}

function removeOtherFile(draft: Draft): void {
  const path = draft.otherFile();
  if (path !== undefined && !isNotePath(path)) draft.remove(path);
}

/** What was read before stays to be found meanwhile. */
function* forbidFile(draft: Draft): Generator<void> {
  const path = draft.note();
  if (path === undefined) return;
  draft.chmod(path, 0o000);
  draft.isBlocked = true;
  yield;
  draft.chmod(path, 0o644);
  if (draft.random.chance(50)) draft.write(path);
  draft.isBlocked = false;
}
