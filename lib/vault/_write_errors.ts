/** What a write says when it cannot be done. */
import { AppError, EditConflict, PathEscapesVault } from "@/lib/errors.ts";
import { WrongPlace } from "./_make_folder.ts";
import { reasonOf } from "./vault.ts";
import type { VaultPath } from "./vault_path.ts";

/** Says that a place is excluded. */
export function neverTouched(path: VaultPath): PathEscapesVault {
  return new PathEscapesVault(`Cannot write "${path}": that place is never touched`);
}

/** Says that a link stands in the way. */
export function throughLink(path: VaultPath): PathEscapesVault {
  return new PathEscapesVault(`Cannot write "${path}": links are never followed`);
}

/**
 * Says that a file is not what was expected.
 *
 * @param etag What the file holds, if it was read again.
 */
export function changed(path: VaultPath, verb: "save" | "move", etag?: string): EditConflict {
  const now = etag === undefined ? "" : `: its etag is "${etag}" now`;
  return new EditConflict(
    `Cannot ${verb} "${path}" as it changed since it was read${now}. Open it again and repeat the ` +
      (verb === "save" ? "edit" : "move"),
  );
}

/** Dresses what kept the vault from being written for callers; what is no such failure stays. */
export function toWriteError(error: unknown): unknown {
  if (error instanceof AppError) return error;
  if (error instanceof WrongPlace) {
    return new EditConflict(`Cannot write "${error.path}": ${error.message}`);
  }
  if (!(error instanceof Error) || !("code" in error)) return error;
  return new AppError("unavailable", `The vault cannot be written now: ${reasonOf(error)}`, {
    cause: error,
  });
}
