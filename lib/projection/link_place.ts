/** What is in the place of a link. */
import { dirname, resolve } from "node:path";
import { isAbsence } from "@/lib/vault/vault.ts";

export type LinkPlace =
  | { readonly state: "absent" }
  | { readonly state: "folder" }
  | { readonly state: "other" }
  /** `leadsTo` is absolute, real where something is there. */
  | { readonly state: "link"; readonly leadsTo: string; readonly isDead: boolean };

/** Looks at a place without following a link that is there. */
export async function lookAtPlace(path: string): Promise<LinkPlace> {
  const info = await unlessAbsent(() => Deno.lstat(path));
  if (info === undefined) return { state: "absent" };
  if (info.isDirectory) return { state: "folder" };
  if (!info.isSymlink) return { state: "other" };
  const real = await unlessAbsent(() => Deno.realPath(path));
  if (real !== undefined) return { state: "link", leadsTo: real, isDead: false };
  const leadsTo = resolve(dirname(path), await Deno.readLink(path));
  return { state: "link", leadsTo, isDead: true };
}

async function unlessAbsent<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}
