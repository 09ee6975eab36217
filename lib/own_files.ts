/** What this program keeps for one person alone: its rights, and where it lies in their home. */
import { join } from "node:path";

/** Reads and writes. */
export const OWN_FILE_MODE = 0o600;
/** Reads, writes and enters. */
export const OWN_FOLDER_MODE = 0o700;

/** Reads or writes for group or others. */
const OPEN_TO_OTHERS = 0o066;

/** Tells by the mode of a file whether others may read or write it; `null` where there are no modes. */
export function isModeOpenToOthers(mode: number | null): boolean {
  return ((mode ?? 0) & OPEN_TO_OTHERS) !== 0;
}

const OWN_FOLDER = ".commonplace";

/** Returns where a person's own files of this program lie. */
export function ownFolderOf(home: string): string {
  return join(home, OWN_FOLDER);
}
