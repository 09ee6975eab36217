/**
 * The port file: tells other programs of this person where the server of a vault listens. It lies
 * in the state directory, never in the vault, and belongs to the server that wrote it last.
 */
import { join } from "node:path";
import { isRecord } from "@/lib/is_record.ts";
import { OWN_FILE_MODE, OWN_FOLDER_MODE } from "@/lib/own_files.ts";

const NAME = "server.json";

/** The header in which `/healthz` names the run of the server that answers. */
export const INSTANCE_HEADER = "X-Commonplace-Instance";

export interface PortFile {
  /** What the server says of itself too, so that another one on this port is not taken for it. */
  readonly id: string;
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

/** Returns what the port file says; `undefined` if there is none, or none that can be used. */
export async function readPortFile(stateFolder: string): Promise<PortFile | undefined> {
  return parsePortFile(await readIfThere(join(stateFolder, NAME)) ?? "");
}

function parsePortFile(text: string): PortFile | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isPortFile(value) ? value : undefined;
  } catch {
    // Half a file of a system that crashed, or another program's.
    return undefined;
  }
}

function isPortFile(value: unknown): value is PortFile {
  return isRecord(value) && typeof value.pid === "number" && typeof value.port === "number" &&
    typeof value.host === "string" && typeof value.version === "string" &&
    typeof value.startedAt === "string" && typeof value.id === "string";
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
