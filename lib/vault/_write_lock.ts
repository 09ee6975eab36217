/**
 * Lets one process write into a vault at a time. The lock is held on the vault's own folder, so
 * that it needs no file, and is given up by the system when a process dies. Other programs (editors,
 * sync tools) do not take it.
 */
import { AppError } from "@/lib/errors.ts";
import { settleWithin } from "@/lib/seams.ts";
import { diskPathOf, isSameFile, reasonOf, stampOf, type Vault } from "./vault.ts";

/** A write takes milliseconds; who holds the lock longer has stopped, or its disk has. */
const LIMIT_MS = 10_000;
/** For those who come while it is held by one who has stopped. */
const STUCK_LIMIT_MS = 100;

/** Where folders cannot be opened (Windows), a file of this name in the vault stands for it. */
const LOCK_FILE = ".commonplace.lock";

const EXCLUSIVE = true;

/** The lock of one vault, as one process takes it: one piece of work after another. */
export class WriteLock {
  readonly #vault: Vault;
  /** Nothing can call off a wait, so that one which was given up goes on for the next who comes. */
  #wait: Promise<Deno.FsFile> | undefined;
  #isWanted = false;
  /** True from a wait in vain on, until the lock was held again. */
  #isStuck = false;

  constructor(vault: Vault) {
    this.#vault = vault;
  }

  /**
   * Runs work while no other process of ours writes into the vault.
   *
   * @throws {AppError} `unavailable` if another process holds the lock that long, the vault's folder
   * cannot be opened, or another folder stands in its place.
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const file = await this.#acquire();
    try {
      this.#requireSameFolder();
      return await work();
    } finally {
      // That gives the lock up.
      file.close();
    }
  }

  async #acquire(): Promise<Deno.FsFile> {
    this.#isWanted = true;
    const outcome: { file?: Deno.FsFile; error?: unknown } = {};
    const wait = this.#wait ??= this.#open();
    const held = wait.then((file) => outcome.file = file, (error) => outcome.error = error);
    await settleWithin(held, this.#isStuck ? STUCK_LIMIT_MS : LIMIT_MS);
    this.#isWanted = false;
    this.#isStuck = outcome.file === undefined && !("error" in outcome);
    if ("error" in outcome) throw outcome.error;
    if (outcome.file === undefined) throw busy();
    return outcome.file;
  }

  async #open(): Promise<Deno.FsFile> {
    const file = await this.#openLocked().finally(() => this.#wait = undefined);
    // Nobody is there any more who would give it back.
    if (!this.#isWanted) file.close();
    return file;
  }

  async #openLocked(): Promise<Deno.FsFile> {
    const file = openFolder(this.#vault);
    try {
      // The system's own queue: who asked again and again would lose against one who is quicker.
      if (!tryLock(file)) await file.lock(EXCLUSIVE);
      return file;
    } catch (cause) {
      file.close();
      const words = `The vault cannot be locked: ${reasonOf(cause)}`;
      throw new AppError("unavailable", words, { cause });
    }
  }

  /** An empty mount point, or a link, is not the vault, whatever its name. */
  #requireSameFolder(): void {
    const { root, rootStamp } = this.#vault;
    const now = stampOf(Deno.lstatSync(root));
    const isSame = rootStamp === undefined || isSameFile(rootStamp, now);
    if (isSame && Deno.realPathSync(root) === root) return;
    throw new AppError(
      "unavailable",
      "Another folder stands where the vault was: is its disk mounted? Start the server anew if it " +
        "is meant to be this one",
    );
  }
}

function tryLock(file: Deno.FsFile): boolean {
  return file.tryLockSync(EXCLUSIVE);
}

function openFolder(vault: Vault): Deno.FsFile {
  try {
    return Deno.build.os === "windows"
      ? Deno.openSync(`${vault.root}\\${LOCK_FILE}`, { create: true, write: true, read: true })
      : Deno.openSync(diskPathOf(vault, ""), { read: true });
  } catch (cause) {
    throw new AppError("unavailable", `The vault cannot be opened: ${reasonOf(cause)}`, { cause });
  }
}

function busy(): AppError {
  return new AppError(
    "unavailable",
    "Cannot write now: another process has been writing into this vault for ten seconds. Try again",
  );
}
