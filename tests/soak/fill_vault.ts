import { VAULT } from "./disk_model.ts";
import type { Draft } from "./draft.ts";
import { MAX_FOLDERS } from "./edit_kind.ts";
import { LINKED_FILE, LINKED_FOLDER } from "./edits_of_links.ts";

const NOTES_A_FOLDER = 8;

/** Drafts the vault as a run begins with it, and what links lead to. */
export function fillVault(draft: Draft, notes: number): void {
  const { random } = draft;
  draft.write(LINKED_FILE);
  draft.write(`${LINKED_FOLDER}/page.md`);
  const folders = [VAULT];
  for (let i = 0; i < notes; i++) {
    const isNew = i % NOTES_A_FOLDER === 0 && folders.length < MAX_FOLDERS / 2;
    if (isNew) folders.push(draft.fresh(random.pick(folders) ?? VAULT));
    draft.write(draft.fresh(random.pick(folders) ?? VAULT, ".md"));
  }
}
