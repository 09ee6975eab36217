/** Where a path really leads, whatever of it is there. */
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { isAbsence } from "@/lib/vault/vault.ts";

/** Returns the real path of what is there, or of what would be made below that. */
export async function realPlaceOf(path: string): Promise<string> {
  try {
    return await Deno.realPath(path);
  } catch (error) {
    const parent = dirname(path);
    if (!isAbsence(error) || parent === path) throw error;
    return join(await realPlaceOf(parent), relative(parent, path));
  }
}

/** Tells whether a path is a folder or lies in it. */
export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
