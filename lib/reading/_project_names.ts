/** What projects are called, and what several of them claim to be called. */
import type { ProjectFolder } from "@/lib/projects/project_folders.ts";

type Folders = readonly ProjectFolder[];

/** Of the projects that a claim names. */
const MAX_NAMED = 5;

/** Finds folders by what they are called; names are compared exactly, in NFC. */
export class ProjectNames {
  /** Those whose metadata count. */
  readonly canonical: Folders;
  readonly #byRepoId = new Map<string, ProjectFolder[]>();
  readonly #byProject = new Map<string, ProjectFolder[]>();
  readonly #byAlias = new Map<string, ProjectFolder[]>();
  readonly #byFolder = new Map<string, ProjectFolder[]>();

  constructor(folders: Folders) {
    this.canonical = folders.filter(({ meta }) => meta !== undefined);
    for (const folder of folders) {
      addTo(this.#byFolder, folder.name.normalize("NFC"), folder);
      const { meta } = folder;
      if (meta === undefined) continue;
      addTo(this.#byProject, meta.project, folder);
      if (meta.repoId !== undefined) addTo(this.#byRepoId, meta.repoId, folder);
      for (const alias of new Set(meta.aliases)) addTo(this.#byAlias, alias, folder);
    }
  }

  withRepoId(repoId: string): Folders {
    return this.#byRepoId.get(repoId) ?? [];
  }

  withProject(name: string): Folders {
    return this.#byProject.get(name) ?? [];
  }

  withAlias(name: string): Folders {
    return this.#byAlias.get(name) ?? [];
  }

  /** Whatever state the folder is in; disks that keep both forms of a letter may have two. */
  withFolder(name: string): Folders {
    return this.#byFolder.get(name) ?? [];
  }

  /**
   * Finds what a project means that declares a name: a project, else an alias, else a folder
   * without metadata that count.
   *
   * @returns More than one if nobody can tell which is meant.
   */
  resolve(name: string): Folders {
    for (const matches of [this.withProject(name), this.withAlias(name)]) {
      if (matches.length > 0) return matches;
    }
    return this.withFolder(name).filter(({ meta }) => meta === undefined);
  }

  /** Says that a name means several; in the words of `claims` where these say it too. */
  describeClaim(name: string): string {
    return formatClaim(
      this.withProject(name).length > 1 ? "project" : `name ${name}`,
      this.resolve(name),
    );
  }

  /** Returns what may be had once only, and several folders claim. */
  get claims(): string[] {
    const of = (by: string, claimants: ReadonlyMap<string, Folders>) =>
      [...claimants.values()].filter(({ length }) => length > 1)
        .map((folders) => formatClaim(by, folders));
    return [...of("repo_id", this.#byRepoId), ...of("project", this.#byProject)];
  }
}

/** Returns what a project is called: as its summary says, else as its folder. */
export function projectOf({ meta, name }: ProjectFolder): string {
  return meta?.project ?? name.normalize("NFC");
}

/**
 * Writes what several projects claim, for people and models: `repo_id: site, site-old`.
 *
 * @param by Never the value of a `repo_id`.
 */
export function formatClaim(by: string, folders: Folders): string {
  const counts = new Map<string, number>();
  for (const name of folders.map(projectOf)) counts.set(name, (counts.get(name) ?? 0) + 1);
  const names = [...counts].sort(([a], [b]) => a < b ? -1 : 1)
    .map(([name, count]) => count === 1 ? name : `${name} (${count} folders)`);
  const rest = names.length - MAX_NAMED;
  const more = rest > 0 ? ` and ${rest} more` : "";
  return `${by}: ${names.slice(0, MAX_NAMED).join(", ")}${more}`;
}

function addTo(
  map: Map<string, ProjectFolder[]>,
  name: string,
  folder: ProjectFolder,
): void {
  const folders = map.get(name);
  if (folders === undefined) map.set(name, [folder]);
  else folders.push(folder);
}
