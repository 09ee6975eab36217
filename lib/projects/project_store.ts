/** The stores of projects, as `project.md` in each says whose it is. */
import { AppError } from "@/lib/errors.ts";
import { type NewUlid, runAtOnce } from "@/lib/seams.ts";
import type { Clock } from "@/lib/seams.ts";
import { isUlid } from "@/lib/ulid.ts";
import { formatFrontmatter } from "@/lib/vault/format_frontmatter.ts";
import type { FrontmatterValue } from "@/lib/vault/frontmatter.ts";
import { parseNote } from "@/lib/vault/note.ts";
import {
  diskPathOf,
  type FileStamp,
  readFile,
  sameStamp,
  statFile,
  type Vault,
} from "@/lib/vault/vault.ts";
import { joinVaultPath, parseVaultPath, type VaultPath } from "@/lib/vault/vault_path.ts";
import { ABSENT, type VaultWriter } from "@/lib/vault/vault_writer.ts";

/** The folder of memories of one project. */
export interface ProjectStore {
  /** In upper case. */
  readonly ulid: string;
  readonly folder: VaultPath;
  readonly name: string;
  /** Absent where a person has taken it out: then no repository finds the store. */
  readonly repoId: string | undefined;
  /** Of a repository without a remote: a commit that it had, by which it is found when it moved. */
  readonly commit: string | undefined;
}

/** Whose store is to be made. */
export interface NewStore {
  readonly name: string;
  readonly repoId: string;
  readonly commit?: string | undefined;
}

export interface ProjectStoresOptions {
  readonly vault: Vault;
  readonly writer: VaultWriter;
  readonly clock: Clock;
  readonly newUlid: NewUlid;
}

const IDENTITY_FILE = "project.md";

/** Finds and makes the stores of projects. */
export class ProjectStores {
  readonly #options: ProjectStoresOptions;
  /** What was read last, so that an unchanged file is not read again. */
  readonly #read = new Map<VaultPath, { stamp: FileStamp; store: ProjectStore | undefined }>();

  constructor(options: ProjectStoresOptions) {
    this.#options = options;
  }

  /** Lists all stores, the oldest first; one whose `project.md` cannot be read is left out. */
  async list(): Promise<ProjectStore[]> {
    const folder = this.#folder();
    const ulids = (await listNames(diskPathOf(this.#options.vault, folder))).filter(isUlid);
    const stores = ulids.flatMap((name) => {
      const inner = joinVaultPath(folder, name);
      return inner === undefined ? [] : this.#readStore(inner, name.toUpperCase()) ?? [];
    });
    return stores.sort((a, b) => a.ulid < b.ulid ? -1 : 1);
  }

  /** Returns the stores of a repository, the oldest first: two machines may have made one each. */
  async findByRepo(repoId: string): Promise<ProjectStore[]> {
    return (await this.list()).filter((store) => store.repoId === repoId);
  }

  /** Makes a store, unless another process has just made one for the same repository. */
  async make(project: NewStore): Promise<{ store: ProjectStore; isNew: boolean }> {
    const { writer, clock, newUlid } = this.#options;
    const ulid = newUlid();
    const folder = parseVaultPath(`${this.#folder()}/${ulid}`);
    const path = parseVaultPath(`${folder}/${IDENTITY_FILE}`);
    const text = identityText(project, { ulid, createdAt: toIso(clock) });
    let rival: ProjectStore | undefined;
    try {
      const change = { path, bytes: new TextEncoder().encode(text), expected: ABSENT };
      await writer.writeAll([change], async () => {
        [rival] = await this.findByRepo(project.repoId);
        if (rival) throw new AppError("unavailable", "The store is there already");
      });
    } catch (error) {
      if (rival) return { store: rival, isNew: false };
      throw error;
    }
    return { store: { ...project, commit: project.commit, ulid, folder }, isNew: true };
  }

  #folder(): VaultPath {
    const { memoriesFolder } = this.#options.vault;
    return parseVaultPath(memoriesFolder === "." ? "projects" : `${memoriesFolder}/projects`);
  }

  #readStore(folder: VaultPath, ulid: string): ProjectStore | undefined {
    const { vault } = this.#options;
    const path = parseVaultPath(`${folder}/${IDENTITY_FILE}`);
    const found = statFile(vault, path);
    if (found.state !== "file") return undefined;
    const known = this.#read.get(path);
    if (known && sameStamp(known.stamp, found.stamp)) return known.store;
    const store = readIdentity(vault, path, { folder, ulid });
    this.#read.set(path, { stamp: found.stamp, store });
    return store;
  }
}

function readIdentity(
  vault: Vault,
  path: VaultPath,
  place: Pick<ProjectStore, "folder" | "ulid">,
): ProjectStore | undefined {
  try {
    const note = runAtOnce(parseNote(path, readFile(vault, path).bytes));
    const field = (key: string) => textOf(note?.frontmatter.fields.get(key));
    const repoId = field("repo_id");
    const name = field("project") ?? repoId ?? place.ulid;
    return { ...place, name, repoId, commit: field("commit") };
  } catch (error) {
    // Being replaced, or nobody's to read.
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

function textOf(value: FrontmatterValue | undefined): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

function identityText(
  { name, repoId, commit }: NewStore,
  { ulid, createdAt }: { readonly ulid: string; readonly createdAt: string },
): string {
  const fields = new Map<string, FrontmatterValue>([
    ["project", name],
    ["repo_id", repoId],
    ["ulid", ulid],
    ["created_at", createdAt],
  ]);
  if (commit !== undefined) fields.set("commit", commit);
  const words = "这个文件夹保存这个项目的记忆；上面的 `repo_id` 说明它属于哪个仓库。\n\n" +
    "This folder holds the memories of the project; `repo_id` above says whose they are.\n";
  return `${formatFrontmatter(fields)}\n${words}`;
}

function toIso(clock: Clock): string {
  return new Date(clock.nowMs()).toISOString();
}

async function listNames(disk: string): Promise<string[]> {
  try {
    const entries = await Array.fromAsync(Deno.readDir(disk));
    return entries.filter(({ isDirectory }) => isDirectory).map(({ name }) => name);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
      return [];
    }
    throw error;
  }
}
