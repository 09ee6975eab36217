/**
 * Lets one process at a time change what agents are shown on a machine: a list may be brought up to date
 * in the background while the person connects an agent. The lock is held on the home folder itself, so
 * that it needs no file, and the system gives it up when a process dies.
 */
import { join } from "node:path";
import { OWN_FOLDER_MODE, ownFolderOf } from "@/lib/own_files.ts";

/** Where folders cannot be opened (Windows), a file of this name stands for the home. */
const LOCK_FILE = "projections.lock";
const EXCLUSIVE = true;

/** Runs work while no other process does such; within it, it must not be called again. */
export async function withProjectionLock<T>(home: string, work: () => Promise<T>): Promise<T> {
  using file = await openLock(home);
  await file.lock(EXCLUSIVE);
  return await work();
}

async function openLock(home: string): Promise<Deno.FsFile> {
  if (Deno.build.os !== "windows") return await Deno.open(home, { read: true });
  const folder = ownFolderOf(home);
  await Deno.mkdir(folder, { recursive: true, mode: OWN_FOLDER_MODE });
  return await Deno.open(join(folder, LOCK_FILE), { create: true, write: true });
}
