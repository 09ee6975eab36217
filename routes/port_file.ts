/**
 * The port file: tells other programs of this person where the server of a vault listens. It lies
 * in the state directory, never in the vault, and belongs to the server that wrote it last.
 */
import { join } from "node:path";
import { OWN_FILE_MODE, OWN_FOLDER_MODE } from "@/lib/own_files.ts";

const NAME = "server.json";

export interface PortFile {
  readonly pid: number;
  readonly host: string;
  readonly port: number;
  readonly version: string;
  /** ISO 8601. */
  readonly startedAt: string;
}

/** Writes the port file, in place of one that an earlier server left; creates the directory. */
export async function writePortFile(stateFolder: string, content: PortFile): Promise<void> {
  await Deno.mkdir(stateFolder, { recursive: true, mode: OWN_FOLDER_MODE });
  const path = join(stateFolder, NAME);
  const temp = `${path}.${content.pid}.tmp`;
  // A new name first, so that nobody reads half a file or one that others may read.
  await removeIfThere(temp);
  await Deno.writeTextFile(temp, `${JSON.stringify(content)}\n`, {
    mode: OWN_FILE_MODE,
    createNew: true,
  });
  await Deno.rename(temp, path);
}

/** Removes the port file, unless a later server has written its own meanwhile. */
export async function removePortFile(stateFolder: string, content: PortFile): Promise<void> {
  const path = join(stateFolder, NAME);
  const found = await readIfThere(path);
  if (found === `${JSON.stringify(content)}\n`) await removeIfThere(path);
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

async function removeIfThere(path: string): Promise<void> {
  try {
    await Deno.remove(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
