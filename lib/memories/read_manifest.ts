/** The manifests (`MEMORY.md`) of the stores, for those who read them through the server. */
import { type Caller, GLOBAL_SCOPE_ID } from "@/lib/contracts.ts";
import { NoteNotFound } from "@/lib/errors.ts";
import type { ProjectStore } from "@/lib/projects/project_store.ts";
import type { Projects } from "@/lib/projects/projects.ts";
import { readFile, statFile, type Vault } from "@/lib/vault/vault.ts";
import { parseVaultPath, type VaultPath } from "@/lib/vault/vault_path.ts";

export interface ManifestDeps {
  readonly vault: Vault;
  readonly projects: Pick<Projects, "listStores" | "require">;
}

/** The manifest of one store. */
export interface ManifestRef {
  /** 26 zeros for the global store, the ULID of a project's. */
  readonly scopeId: string;
  /** The project's name; absent for the global store. */
  readonly project?: string;
  readonly path: VaultPath;
}

const MANIFEST = "MEMORY.md";

/** Returns where the manifest of a store lies. */
export function manifestOf(folder: string): VaultPath {
  return parseVaultPath(folder === "." ? MANIFEST : `${folder}/${MANIFEST}`);
}

/** Lists the manifests that are there, that of the global store first. */
export async function listManifests({ projects, vault }: ManifestDeps): Promise<ManifestRef[]> {
  const refs = [globalRef(vault), ...(await projects.listStores()).map(toRef)];
  return refs.filter(({ path }) => statFile(vault, path).state === "file");
}

/**
 * Returns the manifest of a store as it is on disk.
 *
 * @param scope `global`, `project` for the one that the caller works in, or the ULID of a store.
 * @throws {NoteNotFound} If there is no such store, or no memory in it so far.
 * @throws {ScopeUnresolved} If the caller works in no project.
 * @throws {PayloadTooLarge} If it is over the size that notes may have.
 */
export async function readManifest(
  { projects, vault }: ManifestDeps,
  caller: Caller,
  scope: string,
): Promise<{ readonly ref: ManifestRef; readonly text: string }> {
  const ref = await findRef({ projects, vault }, caller, scope);
  const { bytes } = readFile(vault, ref.path);
  return { ref, text: new TextDecoder().decode(bytes) };
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
  throw new NoteNotFound("There is no such store, or no memory in it so far");
}

function globalRef({ memoriesFolder }: Vault): ManifestRef {
  return { scopeId: GLOBAL_SCOPE_ID, path: manifestOf(memoriesFolder) };
}

function toRef({ folder, name, ulid }: ProjectStore): ManifestRef {
  return { scopeId: ulid, project: name, path: manifestOf(folder) };
}
