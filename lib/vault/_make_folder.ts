/** Makes folders of the vault one by one, so that none is reached through a link. */
import { PathEscapesVault } from "@/lib/errors.ts";
import { diskPathOf, isAbsence, type Vault } from "./vault.ts";
import {
  ancestorsOf,
  baseName,
  foldCase,
  type FolderPath,
  parentOf,
  type VaultPath,
} from "./vault_path.ts";

/**
 * Makes a folder and those above it, as far as they are missing; may run twice. The vault's own
 * folder is never made: where it is missing, a disk may not be mounted.
 *
 * @returns What was made, the topmost first.
 * @throws {PathEscapesVault} If a link stands in the way.
 * @throws {WrongPlace} If a file does, or a folder of the same name in other letters.
 * @throws What the system says if it refuses.
 */
export function ensureFolder(vault: Pick<Vault, "root">, folder: FolderPath): VaultPath[] {
  const made: VaultPath[] = [];
  for (const each of [folder, ...ancestorsOf(folder)].reverse()) {
    if (each !== "" && makeUnlessThere(vault, each)) made.push(each);
  }
  return made;
}

/** Something else stands where a file or folder belongs. */
export class WrongPlace extends Error {
  override name = "WrongPlace";
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

function makeUnlessThere(vault: Pick<Vault, "root">, folder: VaultPath): boolean {
  if (isFolder(vault, folder)) return false;
  requireNoTwin(vault, folder, "folder");
  try {
    Deno.mkdirSync(diskPathOf(vault, folder));
    return true;
  } catch (error) {
    // Another process was faster.
    if (error instanceof Deno.errors.AlreadyExists && isFolder(vault, folder)) return false;
    throw error;
  }
}

function isFolder(vault: Pick<Vault, "root">, folder: VaultPath): boolean {
  try {
    const info = Deno.lstatSync(diskPathOf(vault, folder));
    if (info.isDirectory) return true;
    if (!info.isSymlink) throw new WrongPlace(folder, "a file stands where a folder belongs");
    throw new PathEscapesVault(`Cannot use "${folder}": a link stands where a folder belongs`);
  } catch (error) {
    if (isAbsence(error)) return false;
    throw error;
  }
}

/** Two names of that kind are one to no disk unless they are equally long. */
const IS_ASCII = /^\p{ASCII}*$/u;

/**
 * Makes sure that no other name in a folder is the same to a disk that folds case or Unicode forms:
 * a vault may be synced to one.
 *
 * @throws {WrongPlace} If there is one.
 */
export function requireNoTwin(
  vault: Pick<Vault, "root">,
  path: VaultPath,
  what: "file" | "folder",
): void {
  const own = baseName(path);
  const folded = foldCase(own);
  const isPlain = IS_ASCII.test(own);
  for (const { name, isDirectory } of Deno.readDirSync(diskPathOf(vault, parentOf(path)))) {
    // Of its own name another process may just have made it.
    if (name === own || (isPlain && name.length !== own.length && IS_ASCII.test(name))) continue;
    // Of two folders such a disk makes one, and nothing is lost.
    if (foldCase(name) !== folded || (isDirectory && what === "folder")) continue;
    throw new WrongPlace(path, `"${name}" is there, which some disks take for the same name`);
  }
}
