/** Whether a folder lies where the system tells of every change: on a disk of this machine. */
import { statfsSync } from "node:fs";
import { reasonOf } from "./vault.ts";

/**
 * Kinds by the numbers of Linux (statfs(2), linux/magic.h). Others belong to other machines, or to
 * programs that change files without the kernel's knowledge.
 */
const LOCAL_KINDS: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x9123683e, // btrfs
  0x58465342, // xfs
  0x01021994, // tmpfs
  0x858458f6, // ramfs
  0x794c7630, // overlayfs
  0xf2f52010, // f2fs
  0xca451a4e, // bcachefs
  0x2fc12fc1, // zfs
  0x3153464a, // jfs
  0x52654973, // reiserfs
]);

/** Returns why changes below a folder cannot be listened for, `undefined` if they can. */
export function unheardBecause(folder: string): string | undefined {
  if (Deno.build.os !== "linux") return `it is not known of ${Deno.build.os} that none gets lost`;
  try {
    const kind = statfsSync(folder).type >>> 0;
    return LOCAL_KINDS.has(kind)
      ? undefined
      : `the kind of file system is not known to be local (0x${kind.toString(16)})`;
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) {
      return "the kind of file system cannot be asked for: --allow-sys=statfs is missing";
    }
    return `the kind of file system cannot be asked for (${reasonOf(error)})`;
  }
}
