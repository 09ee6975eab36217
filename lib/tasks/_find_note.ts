/** From the name of a project, as people say it, to its note in the journal. */
import type { Caller } from "@/lib/contracts.ts";
import { invalidField } from "@/lib/errors.ts";
import {
  ARCHIVED_NOTES,
  type JournalFilesDeps,
  listProjectNotes,
  PROJECT_NOTES,
  readJournalFile,
} from "@/lib/journal/journal_files.ts";
import { nearestName } from "@/lib/nearest_name.ts";
import type { ProjectFolder, ProjectFolders } from "@/lib/projects/project_folders.ts";
import type { Projects, Where } from "@/lib/projects/projects.ts";
import { conflictCopyOf } from "@/lib/vault/conflict_copies.ts";
import { foldCase, joinVaultPath, stemOf, type VaultPath } from "@/lib/vault/vault_path.ts";

export interface FindNoteDeps extends JournalFilesDeps {
  readonly projectFolders: Pick<ProjectFolders, "scan">;
  readonly projects: Pick<Projects, "identify">;
}

/** What a name turned out to mean. */
export type NamedNote =
  | { readonly state: "active" | "archived"; readonly path: VaultPath }
  | { readonly state: "several"; readonly paths: readonly VaultPath[] }
  | { readonly state: "none"; readonly nearest: readonly string[] };

const MAX_NEAREST = 3;
/** Of notes whose titles are read, for a name that no file has. */
const MAX_TITLES = 200;
const MAX_NAME_CHARS = 80;
/** What some system, or a link in Obsidian, cannot have in a name. */
const NOT_IN_NAMES = /[/\\:*?"<>|#^[\]\p{Cc}]+/gu;

const NOT_COUNTED = /[\s_*`"'“”‘’《》「」『』★☆-]|[\p{Extended_Pictographic}\ufe0f\u200d]/gu;

/** Looks up names of projects in one listing of the vault. */
export class NoteFinder {
  readonly #deps: FindNoteDeps;
  readonly #signal: AbortSignal | undefined;
  #lists: Promise<{ active: VaultPath[]; archived: VaultPath[] }> | undefined;
  #folders: Promise<readonly ProjectFolder[]> | undefined;

  constructor(deps: FindNoteDeps, signal: AbortSignal | undefined) {
    this.#deps = deps;
    this.#signal = signal;
  }

  /**
   * Finds the note of a name: by its file, its title, or another name that the project's folder has;
   * among archived ones only if there is none else.
   */
  async find(name: string): Promise<NamedNote> {
    const { active, archived } = await this.#list();
    const byFile = matching(active, [name]);
    if (byFile.length > 0) return toNamed("active", byFile, name);
    const byTitle = await this.#byTitle(active, name);
    if (byTitle.length > 0) return toNamed("active", byTitle, name);
    const names = await this.#otherNames(name);
    const byFolder = matching(active, names);
    if (byFolder.length > 0) return toNamed("active", byFolder, name);
    const old = matching(archived, [name, ...names]);
    if (old.length > 0) return toNamed("archived", old, name);
    return { state: "none", nearest: nearest(name, [...active, ...archived].map(stemOf)) };
  }

  /**
   * Returns by which name the project is known that a caller works in.
   *
   * @throws {InvalidRequest} If it does not say where it works, or that is in no repository.
   */
  async nameHere(caller: Caller, where: Where): Promise<string> {
    const { projects } = this.#deps;
    const identity = await projects.identify(caller, where);
    if (identity === undefined) {
      const message = "must be given: it cannot be seen from here in which project you work";
      throw invalidField("Nothing was written", { field: "project", message });
    }
    const folders = (await this.#scan()).filter(({ meta }) => meta?.repoId === identity.repoId);
    const [only] = folders;
    return folders.length === 1 && only?.meta ? only.meta.project : identity.name;
  }

  /** Tells whether another project's note has a place, or one that some disk takes for it. */
  async isTaken(path: VaultPath): Promise<boolean> {
    return (await this.#list()).active.some((other) => foldCase(other) === foldCase(path));
  }

  #list(): Promise<{ active: VaultPath[]; archived: VaultPath[] }> {
    const { vault } = this.#deps;
    return this.#lists ??= Promise.all([
      listProjectNotes(vault, PROJECT_NOTES),
      listProjectNotes(vault, ARCHIVED_NOTES),
    ]).then(([active, archived]) => ({ active, archived }));
  }

  async #byTitle(paths: readonly VaultPath[], name: string): Promise<VaultPath[]> {
    const found: VaultPath[] = [];
    for (const path of paths.slice(0, MAX_TITLES)) {
      this.#signal?.throwIfAborted();
      const reading = await readJournalFile(this.#deps, path);
      if (reading.state !== "read") continue;
      const title = reading.document.sections.find(({ level }) => level === 1)?.title;
      if (title !== undefined && isSameName(title, name)) found.push(path);
    }
    return found;
  }

  async #otherNames(name: string): Promise<string[]> {
    const named = (await this.#scan())
      .map((folder) => [folder.name, ...(folder.meta ? namesOf(folder.meta) : [])])
      .filter((names) => names.some((each) => isSameName(each, name)));
    // Two folders of one name are two projects: neither says which is meant.
    return named.length === 1 ? named.flat() : [];
  }

  #scan(): Promise<readonly ProjectFolder[]> {
    return this.#folders ??= this.#deps.projectFolders.scan([], this.#signal)
      .then(({ folders }) => folders);
  }
}

/**
 * Returns where the note of a new project belongs.
 *
 * @throws {InvalidRequest} If no file can have that name.
 */
export function newNotePath(name: string): VaultPath {
  const stem = Array.from(
    name.trim().replace(/\.md$/i, "").replace(NOT_IN_NAMES, "-").replace(/\s+/g, " "),
  )
    .slice(0, MAX_NAME_CHARS).join("").replace(/^[\s.]+|[\s.]+$/g, "");
  const path = stem === "" ? undefined : joinVaultPath(PROJECT_NOTES, `${stem}.md`);
  const isUsable = path !== undefined && conflictCopyOf(path)?.certain !== true;
  if (isUsable && !/^_index$/i.test(stem)) return path;
  const message = "is no name that a file can have";
  throw invalidField("Nothing was written", { field: "project", message });
}

function namesOf({ project, aliases }: NonNullable<ProjectFolder["meta"]>): readonly string[] {
  return [project, ...aliases];
}

function toNamed(
  state: "active" | "archived",
  paths: readonly VaultPath[],
  name: string,
): NamedNote {
  const exact = paths.find((path) =>
    stemOf(path).normalize("NFC") === name.trim().normalize("NFC")
  );
  const path = exact ?? (paths.length === 1 ? paths[0] : undefined);
  return path === undefined ? { state: "several", paths } : { state, path };
}

function matching(paths: readonly VaultPath[], names: readonly string[]): VaultPath[] {
  return paths.filter((path) => names.some((name) => isSameName(stemOf(path), name)));
}

function isSameName(a: string, b: string): boolean {
  return fold(a) === fold(b);
}

/** Case, blanks and what decorates a name do not count; the signs of C++ and C# do. */
function fold(name: string): string {
  const plain = name.normalize("NFKC").toLowerCase().trim().replace(/\.md$/, "")
    // `1-2` is not `12`.
    .replace(/(?<=\d)[\s_-]+(?=\d)/g, "+");
  return plain.replace(NOT_COUNTED, "") || plain;
}

/** By slips of the keyboard, by a part of the name, by common characters. */
function nearest(wanted: string, names: readonly string[]): string[] {
  const typed = nearestName(wanted, names);
  const folded = fold(wanted);
  const alike = names
    .map((name) => ({ name, score: likeness(folded, fold(name)) }))
    .filter(({ score }) => score >= 0.5)
    .sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1))
    .map(({ name }) => name);
  return [...new Set([...(typed === undefined ? [] : [typed]), ...alike])].slice(0, MAX_NEAREST);
}

function likeness(a: string, b: string): number {
  if (a === "" || b === "") return 0;
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  // A letter or two are in every name.
  if (long.includes(short) && (short.length > 2 || short.length * 2 >= long.length)) return 1;
  const [one, other] = [pairsOf(a), pairsOf(b)];
  const shared = [...one].filter((pair) => other.has(pair)).length;
  return 2 * shared / Math.max(1, one.size + other.size);
}

function pairsOf(text: string): Set<string> {
  const chars = Array.from(text);
  return new Set(chars.slice(1).map((char, index) => `${chars[index]}${char}`));
}
