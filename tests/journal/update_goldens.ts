/**
 * Writes the golden texts of the journal's fixtures anew, and names those that have changed: each has
 * to be read before it is kept.
 */
import { writeStderr } from "@/lib/seams.ts";
import { goldenPath, journalFixtures, makeGolden } from "../_support/journal_golden.ts";

async function main(): Promise<void> {
  for (const name of journalFixtures()) {
    const path = goldenPath(name);
    const text = await makeGolden(name);
    if (await readIfThere(path) === text) continue;
    await Deno.writeTextFile(path, text);
    writeStderr(`${name} has changed`);
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

if (import.meta.main) main();
