import { isAbsence } from "./vault.ts";

/** Returns the names in a folder, none if it is not there. */
export function listNames(disk: string): string[] {
  try {
    return Array.from(Deno.readDirSync(disk), ({ name }) => name);
  } catch (error) {
    if (isAbsence(error)) return [];
    throw error;
  }
}
