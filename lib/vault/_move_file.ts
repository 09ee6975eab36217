/**
 * Gives files other names; nothing is ever replaced. Synchronous on purpose, as `_replace_file.ts`
 * is. A crash leaves the file under both names at the most.
 */
import { EditConflict } from "@/lib/errors.ts";
import { leadsElsewhere } from "./_draft.ts";
import { removeIfThere } from "./_new_file.ts";
import { isAt, linkNew } from "./_replace_file.ts";
import type { CheckedMove } from "./_write_checks.ts";
import { changed, throughLink } from "./_write_errors.ts";
import { diskPathOf, isSameFile, sameStamp, stampAt, type Vault } from "./vault.ts";

/**
 * Moves a file into a folder that is there.
 *
 * @throws {EditConflict} If the file has changed since it was read, or the new name is taken. Then,
 * and whenever it fails, the file has its old name.
 */
export function moveFile(vault: Vault, { move, stamp }: CheckedMove): void {
  const [from, to] = [diskPathOf(vault, move.from), diskPathOf(vault, move.to)];
  const now = stampAt(from);
  if (now === undefined || !sameStamp(now, stamp)) throw changed(move.from, "move");
  linkNew(from, to, `"${move.to}"`);
  try {
    if (leadsElsewhere(to)) throw throughLink(move.to);
    if (!isAt(to, stamp)) throw changed(move.from, "move");
    if (isAt(from, stamp)) removeIfThere(from);
  } catch (error) {
    undo({ from, to });
    throw error;
  }
}

/** Moves a file back, whatever was written into it; it stays if somebody has taken either name. */
export function moveBack(vault: Vault, { move, stamp }: CheckedMove): void {
  const { from, to, expected } = move;
  const now = stampAt(diskPathOf(vault, to));
  if (now === undefined || !isSameFile(now, stamp)) return;
  try {
    moveFile(vault, { move: { from: to, to: from, expected }, stamp: now });
  } catch (error) {
    if (!(error instanceof EditConflict)) throw error;
  }
}

/** Where there are no hard links, the old name is gone by now. */
function undo({ from, to }: { readonly from: string; readonly to: string }): void {
  if (stampAt(from) === undefined) linkNew(to, from);
  removeIfThere(to);
}
