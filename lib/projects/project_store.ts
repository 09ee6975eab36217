/** The stores of projects, as `project.md` in each says whose it is. */
import { AppError } from "@/lib/errors.ts";
import { maskUserinfo } from "@/lib/mask_userinfo.ts";
import { type Clock, type NewUlid, runAtOnce, Slicer } from "@/lib/seams.ts";
import { isoTime } from "@/lib/time_text.ts";
import { isUlid } from "@/lib/ulid.ts";
import { editFrontmatter } from "@/lib/vault/edit_frontmatter.ts";
import { hashBytes } from "@/lib/vault/etag.ts";
import { formatFrontmatter } from "@/lib/vault/format_frontmatter.ts";
import type { FrontmatterValue } from "@/lib/vault/frontmatter.ts";
import { parseNote } from "@/lib/vault/note.ts";
import { decodeNote } from "@/lib/vault/note_text.ts";
import { retryOnConflict } from "@/lib/vault/retry_on_conflict.ts";
import {
  diskPathOf,
  type FileStamp,
  readFile,
  sameStamp,
  statFile,
  type Vault,
} from "@/lib/vault/vault.ts";
import { baseName, joinVaultPath, parseVaultPath, type VaultPath } from "@/lib/vault/vault_path.ts";
import { ABSENT, type VaultWriter } from "@/lib/vault/vault_writer.ts";
import { repoIdOf } from "./repo_identity.ts";

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

/** A folder of a project's memories of which nobody can tell whose it is. */
export interface LostStore {
  readonly folder: VaultPath;
  readonly path: VaultPath;
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
/** A file that is larger says more than whose store it is, and takes time to read. */
const MAX_IDENTITY_BYTES = 64 * 1024;
const MAX_NAME_CHARS = 200;

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
    const stores = (await this.#listFolders()).flatMap((folder) => this.#readStore(folder) ?? []);
    return stores.sort((a, b) => a.ulid < b.ulid ? -1 : 1);
  }

  /** Lists the folders of stores whose `project.md` is missing, broken, or names no repository. */
  async listLost(): Promise<LostStore[]> {
    const lost = (await this.#listFolders()).filter((folder) =>
      this.#readStore(folder)?.repoId === undefined
    );
    return lost.map((folder) => ({ folder, path: identityPathOf(folder) }));
  }

  async #listFolders(): Promise<VaultPath[]> {
    const folder = this.#folder();
    const ulids = (await listNames(diskPathOf(this.#options.vault, folder))).filter(isUlid);
    return ulids.flatMap((name) => joinVaultPath(folder, name) ?? []);
  }

  /**
   * Writes into `project.md` that a store belongs to a repository under another identity.
   *
   * @throws {FrontmatterNotEditable} If a person has written it so that it cannot be changed safely.
   */
  async adopt({ folder }: ProjectStore, repoId: string): Promise<void> {
    const { clock, vault, writer } = this.#options;
    const path = identityPathOf(folder);
    await retryOnConflict(async () => {
      const slicer = new Slicer(clock);
      const { bytes: before } = readFile(vault, path);
      const note = await slicer.run(decodeNote(before));
      if (note === undefined) throw new TypeError("What was read as text is none");
      const text = await slicer.run(editFrontmatter(note, new Map([["repo_id", repoId]])));
      const bytes = new TextEncoder().encode(note.bom ? `\ufeff${text}` : text);
      const expected = await slicer.run(hashBytes(before));
      await writer.write({ path, bytes, expected });
    });
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
    const path = identityPathOf(folder);
    const text = identityText(project, { ulid, createdAt: isoTime(clock.nowMs()) });
    let rival: ProjectStore | undefined;
    try {
      const change = { path, bytes: new TextEncoder().encode(text), expected: ABSENT };
      await writer.write(change, async () => {
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

  #readStore(folder: VaultPath): ProjectStore | undefined {
    const { vault } = this.#options;
    const path = identityPathOf(folder);
    const found = statFile(vault, path);
    if (found.state !== "file") return undefined;
    const known = this.#read.get(path);
    if (known && sameStamp(known.stamp, found.stamp)) return known.store;
    const store = readIdentity(vault, path, folder);
    this.#read.set(path, { stamp: found.stamp, store });
    return store;
  }
}

function identityPathOf(folder: VaultPath): VaultPath {
  return parseVaultPath(`${folder}/${IDENTITY_FILE}`);
}

function readIdentity(
  vault: Vault,
  path: VaultPath,
  folder: VaultPath,
): ProjectStore | undefined {
  try {
    const { bytes } = readFile(vault, path);
    const note = bytes.length > MAX_IDENTITY_BYTES ? undefined : runAtOnce(parseNote(path, bytes));
    const field = (key: string) => textOf(note?.frontmatter.fields.get(key));
    const written = field("repo_id");
    const repoId = written && toRepoId(written);
    const ulid = baseName(folder).toUpperCase();
    const name = maskUserinfo(field("project") ?? repoId ?? ulid).slice(0, MAX_NAME_CHARS);
    return { folder, ulid, name, repoId, commit: field("commit") };
  } catch (error) {
    // Being replaced, or nobody's to read.
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

/** A person may have put the URL there. */
function toRepoId(written: string): string {
  const isUrl = written.includes("://") || written.includes("@");
  return (isUrl ? repoIdOf(written) : undefined) ?? maskUserinfo(written);
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
