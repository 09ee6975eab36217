/**
 * Lets one process write into a vault at a time. The lock is held on the vault's own folder, so
 * that it needs no file, and is given up by the system when a process dies. Other programs (editors,
 * sync tools) do not take it.
 */
import { AppError } from "@/lib/errors.ts";
import { settleWithin } from "@/lib/seams.ts";
import { diskPathOf, reasonOf, type Vault } from "./vault.ts";

/** A write takes milliseconds; who holds the lock longer than this has stopped, or the disk has. */
const LIMIT_MS = 10_000;

/** Where folders cannot be opened (Windows), a file of this name in the vault stands for it. */
const LOCK_FILE = ".commonplace.lock";

const EXCLUSIVE = true;

/**
 * Runs work while no other process of ours writes into the vault.
 *
 * @throws {AppError} `unavailable` if the vault's folder cannot be opened, or another process holds
 * the lock for ten seconds.
 */
export async function withWriteLock<T>(
  vault: Pick<Vault, "root">,
  work: () => Promise<T>,
): Promise<T> {
  const file = await openLock(vault);
  if (!(await file.tryLock(EXCLUSIVE))) await waitForLock(file);
  try {
    return await work();
  } finally {
    // That gives the lock up.
    file.close();
  }
}

/** The system's own queue: who asked again and again would lose against one who is quicker. */
async function waitForLock(file: Deno.FsFile): Promise<void> {
  let isHeld = false;
  const locked = file.lock(EXCLUSIVE).then(() => {
    isHeld = true;
  });
  await settleWithin(locked, LIMIT_MS);
  if (isHeld) return;
  // Nothing can call the wait off; what it ends with is given back at once.
  void locked.catch(() => undefined).then(() => file.close());
  throw new AppError(
    "unavailable",
    "Cannot write now: another process has been writing into this vault for ten seconds. Try again",
  );
}

async function openLock(vault: Pick<Vault, "root">): Promise<Deno.FsFile> {
  try {
    return Deno.build.os === "windows"
      ? await Deno.open(`${vault.root}\\${LOCK_FILE}`, { create: true, write: true, read: true })
      : await Deno.open(diskPathOf(vault, ""), { read: true });
  } catch (cause) {
    throw new AppError("unavailable", `The vault cannot be opened: ${reasonOf(cause)}`, { cause });
  }
}
