/**
 * The names of files that exist only while something is written. They begin with a dot, so that no
 * walk of the vault takes one for a note, and say all that is needed to clear up after a crash.
 */
import { shortHash } from "@/lib/short_hash.ts";
import { diskPathOf, type Vault } from "./vault.ts";
import type { FolderPath, VaultPath } from "./vault_path.ts";

const TEMP = /^\.commonplace-[\da-z-]{1,64}\.tmp$/;
const KEPT = /^\.commonplace-[\da-z-]{1,64}\.([\da-f]{64})\.([\da-f]{16})\.kept$/;

/** What a write left behind when it was cut off. */
export type Litter =
  /** New content that never got its name. */
  | { readonly kind: "temp" }
  /** What a write replaced: another program may have changed it at the last moment. */
  | { readonly kind: "kept"; readonly etag: string; readonly nameHash: string };

/** Returns the name under which new content is written; the id tells one write from any other. */
export function tempName(id: string): string {
  return `.commonplace-${id}.tmp`;
}

/**
 * Returns the name under which replaced content is kept until it has been looked at.
 *
 * @param etag What it is expected to hold.
 * @param name Of the file that it was; only a hash, as names may be as long as they can be.
 */
export function keptName(id: string, etag: string, name: string): string {
  return `.commonplace-${id}.${etag}.${hashName(name)}.kept`;
}

/** Recognises the names that the functions above make. */
export function parseLitter(name: string): Litter | undefined {
  if (TEMP.test(name)) return { kind: "temp" };
  const [, etag, nameHash] = KEPT.exec(name) ?? [];
  return etag === undefined || nameHash === undefined
    ? undefined
    : { kind: "kept", etag, nameHash };
}

/** Returns what stands for a file's name in `keptName()`. */
export function hashName(name: string): string {
  return shortHash(name, 16);
}

/** Returns where such a name lies on this machine: a path of the vault it is not. */
export function litterPathOf(vault: Pick<Vault, "root">, folder: FolderPath, name: string): string {
  return diskPathOf(vault, (folder === "" ? name : `${folder}/${name}`) as VaultPath);
}
