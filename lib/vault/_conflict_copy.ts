/** Saves what must not be lost beside the note that it was. */
import { EditConflict } from "@/lib/errors.ts";
import { removeIfThere } from "./_new_file.ts";
import { linkNew } from "./_replace_file.ts";
import { diskPathOf, type Vault } from "./vault.ts";
import {
  baseName,
  isMarkdown,
  joinVaultPath,
  parentOf,
  parseVaultPath,
  type VaultPath,
} from "./vault_path.ts";

/** Of names that are shortened for the mark, so that they fit a file system. */
const MAX_STEM_BYTES = 210;
const MAX_TRIES = 1_000;

export interface Rescue {
  /** Where the content lies now. */
  readonly kept: string;
  /** The note that it was. */
  readonly path: VaultPath;
  readonly nowMs: number;
}

/** Gives kept content the name `<note> (conflict <time>).md`, and a number if that is taken. */
export function saveConflictCopy(vault: Vault, rescue: Rescue): VaultPath {
  for (let number = 1; number <= MAX_TRIES; number++) {
    const copy = conflictCopyPath(rescue, number);
    if (moveUnlessTaken(rescue.kept, diskPathOf(vault, copy))) return copy;
  }
  throw new Error("A conflict copy finds no name");
}

function conflictCopyPath({ path, nowMs }: Rescue, number: number): VaultPath {
  const name = baseName(path);
  const end = isMarkdown(name) ? name.lastIndexOf(".") : name.length;
  const stem = cutToBytes(name.slice(0, end), MAX_STEM_BYTES);
  const time = new Date(nowMs).toISOString().slice(0, 19).replace("T", " ").replaceAll(":", ".");
  const mark = number === 1 ? time : `${time} ${number}`;
  const copy = joinVaultPath(parentOf(path), `${stem} (conflict ${mark})${name.slice(end)}`);
  return copy ?? parseVaultPath(`conflict (conflict ${mark}).md`);
}

function cutToBytes(text: string, limitBytes: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= limitBytes) return text;
  return new TextDecoder().decode(bytes.subarray(0, limitBytes)).replace(/\ufffd+$/, "");
}

function moveUnlessTaken(kept: string, disk: string): boolean {
  try {
    linkNew(kept, disk);
  } catch (error) {
    if (error instanceof EditConflict) return false;
    throw error;
  }
  removeIfThere(kept);
  return true;
}
