/**
 * The owner's token, with which a person decides what agents may do. Where none is configured, one is
 * made once and kept in the state directory, for the person's eyes alone: whoever has it needs nobody's
 * permission.
 */
import { join } from "node:path";
import { isToken } from "./config_disk.ts";
import { ConfigError } from "./errors.ts";
import { isModeOpenToOthers, OWN_FILE_MODE, OWN_FOLDER_MODE } from "./own_files.ts";

const NAME = "owner-token";
const TOKEN_BYTES = 24;

export interface OwnerToken {
  readonly token: string;
  /** Where it is kept. */
  readonly path: string;
  /** True if it was made now, so that the person has not seen it yet. */
  readonly isNew: boolean;
}

/**
 * Reads the token of a state directory, or makes one. Of two processes that make one at once, both
 * get the same.
 *
 * @throws {ConfigError} If others may read the file, or it holds no token.
 */
export async function ensureOwnerToken(stateFolder: string): Promise<OwnerToken> {
  const path = ownerTokenPathOf(stateFolder);
  const known = await readToken(path);
  if (known !== undefined) return { token: known, path, isNew: false };
  await Deno.mkdir(stateFolder, { recursive: true, mode: OWN_FOLDER_MODE });
  const token = crypto.getRandomValues(new Uint8Array(TOKEN_BYTES)).toHex();
  const temp = `${path}.${crypto.randomUUID()}.tmp`;
  await Deno.writeTextFile(temp, `${token}\n`, { mode: OWN_FILE_MODE, createNew: true });
  try {
    await Deno.link(temp, path);
    return { token, path, isNew: true };
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) return await rename(temp, { token, path });
    const other = await readToken(path);
    if (other === undefined) throw error;
    return { token: other, path, isNew: false };
  } finally {
    await Deno.remove(temp).catch(() => {});
  }
}

/**
 * Returns the token that a state directory keeps, `undefined` if it keeps none.
 *
 * @throws {ConfigError} If others may read the file, or it holds no token.
 */
export async function findOwnerToken(stateFolder: string): Promise<string | undefined> {
  return await readToken(ownerTokenPathOf(stateFolder));
}

/** Returns where a state directory keeps it. */
export function ownerTokenPathOf(stateFolder: string): string {
  return join(stateFolder, NAME);
}

/** For disks that know no hard links; of two that come at once the later one stays. */
async function rename(
  temp: string,
  { token, path }: Pick<OwnerToken, "token" | "path">,
): Promise<OwnerToken> {
  await Deno.rename(temp, path);
  return { token, path, isNew: true };
}

async function readToken(path: string): Promise<string | undefined> {
  try {
    const { mode } = await Deno.stat(path);
    if (isModeOpenToOthers(mode)) {
      throw new ConfigError(`Others may read or write ${path}: run chmod 600 ${path}`);
    }
    const token = (await Deno.readTextFile(path)).trim();
    if (isToken(token)) return token;
    throw new ConfigError(`${path} holds no token: delete it, and another is made`);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
