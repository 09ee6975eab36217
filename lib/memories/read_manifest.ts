/** The manifests (`MEMORY.md`) of the stores, for those who read them through the server. */
import { type Caller, GLOBAL_SCOPE_ID } from "@/lib/contracts.ts";
import { NoteNotFound } from "@/lib/errors.ts";
import type { VaultIndex } from "@/lib/index/vault_index.ts";
import type { ProjectStore } from "@/lib/projects/project_store.ts";
import type { Projects } from "@/lib/projects/projects.ts";
import { readFile, statFile, type Vault } from "@/lib/vault/vault.ts";
import { parseVaultPath, type VaultPath } from "@/lib/vault/vault_path.ts";
import type { Manifests } from "./manifests.ts";

export interface ManifestDeps {
  readonly vault: Vault;
  readonly projects: Pick<Projects, "listStores" | "require">;
}

export interface ReadManifestDeps extends ManifestDeps {
  readonly index: Pick<VaultIndex, "refresh">;
  readonly manifests: Pick<Manifests, "preview">;
}

/** The manifest of one store. */
export interface ManifestRef {
  /** 26 zeros for the global store, the ULID of a project's. */
  readonly scopeId: string;
  /** The project's name; absent for the global store. */
  readonly project?: string;
  /** Of the store. */
  readonly folder: string;
}

/** The name of a manifest in its store. */
export const MANIFEST = "MEMORY.md";

/** Returns where the manifest of a store lies. */
export function manifestOf(folder: string): VaultPath {
  return parseVaultPath(folder === "." ? MANIFEST : `${folder}/${MANIFEST}`);
}

/** Lists the manifests of all stores, that of the global one first. */
export async function listManifests({ projects, vault }: ManifestDeps): Promise<ManifestRef[]> {
  return [globalRef(vault), ...(await projects.listStores()).map(toRef)];
}

/**
 * Returns the manifest of a store as it is on disk or, where nobody has written one so far, as it
 * would be.
 *
 * @param scope `global`, `project` for the one that the caller works in, or the ULID of a store.
 * @throws {NoteNotFound} If there is no such store.
 * @throws {ScopeUnresolved} If the caller works in no project.
 * @throws {PayloadTooLarge} If it is over the size that notes may have.
 */
export async function readManifest(
  { index, manifests, projects, vault }: ReadManifestDeps,
  caller: Caller,
  scope: string,
): Promise<string> {
  const { folder } = await findRef({ projects, vault }, caller, scope);
  const path = manifestOf(folder);
  if (statFile(vault, path).state === "absent") {
    await index.refresh();
    return await manifests.preview(folder);
  }
  return new TextDecoder().decode(readFile(vault, path).bytes);
}

async function findRef(
  { projects, vault }: ManifestDeps,
  caller: Caller,
  scope: string,
): Promise<ManifestRef> {
  if (scope === "global") return globalRef(vault);
  const stores = scope === "project"
    ? (await projects.require(caller, {})).stores
    : (await projects.listStores()).filter(({ ulid }) => ulid === scope);
  const [store] = stores;
  if (store) return toRef(store);
  throw new NoteNotFound("There is no such store, as nothing was saved in it so far");
}

function globalRef({ memoriesFolder }: Vault): ManifestRef {
  return { scopeId: GLOBAL_SCOPE_ID, folder: memoriesFolder };
}

function toRef({ folder, name, ulid }: ProjectStore): ManifestRef {
  return { scopeId: ulid, project: name, folder };
}
