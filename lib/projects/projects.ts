/** From where an agent works to the project, its stores, and the part of the vault that is meant. */
import { type AskedScope, type Caller, GLOBAL_SCOPE_ID, type Scope } from "@/lib/contracts.ts";
import { AppError, InvalidRequest, ScopeUnresolved } from "@/lib/errors.ts";
import { didYouMean } from "@/lib/nearest_name.ts";
import { show } from "@/lib/parse_input.ts";
import { NO_STORE } from "@/lib/vault/kinds.ts";
import type { Git, Repository, RepositoryFolders } from "./git.ts";
import type { LostStore, ProjectStore, ProjectStores } from "./project_store.ts";
import { projectNameOf, repoIdOf } from "./repo_identity.ts";

/** A codebase, by what is known of it. */
export interface ProjectRef {
  readonly name: string;
  readonly repoId: string;
  /** Of the store that new memories go to; absent before anything was saved. */
  readonly ulid?: string;
}

/** A repository by what can be told of it without the vault. */
export type RepoIdentity = Pick<ProjectRef, "name" | "repoId">;

/** Where an agent says that it works. */
export type Where = Pick<AskedScope, "cwd" | "repo">;

/** A project that an agent works in, as it was found. */
export interface FoundProject {
  readonly ref: ProjectRef;
  /** All that belong to it, the oldest first. */
  readonly stores: readonly ProjectStore[];
  readonly source: Repository["source"] | "repo";
  /** `undefined` = a detached HEAD, or not known. */
  readonly branch: string | undefined;
  readonly commit: string | undefined;
  /** True if its stores name the place where it lay before it got its remote. */
  readonly isFromBeforeRemote?: boolean;
}

export interface ProjectsOptions {
  readonly git: Git;
  readonly stores: ProjectStores;
}

/** A store to write into. */
export interface OpenedStore {
  readonly store: ProjectStore;
  /** For the caller, if a new store may not be what was expected. */
  readonly notice?: string;
}

/** More stores of repositories without a remote are not asked about. */
const MAX_CANDIDATES = 16;
/** Of the stores that a notice names. */
const MAX_NAMED = 3;

export class Projects {
  readonly #git: Git;
  readonly #stores: ProjectStores;

  constructor({ git, stores }: ProjectsOptions) {
    this.#git = git;
    this.#stores = stores;
  }

  /**
   * Finds the project that an agent works in.
   *
   * @returns `undefined` if it does not say where, or that is in no Git repository.
   * @throws {InvalidRequest} If `repo` is no remote, `cwd` is no absolute path, or it comes from
   * another machine.
   */
  async find(caller: Caller, where: Where): Promise<FoundProject | undefined> {
    const { repo, cwd } = whereOf(caller, where);
    if (repo !== undefined) return await this.#findByRemote(repo);
    if (cwd === undefined) return undefined;
    const repository = await this.#repositoryAt(caller, cwd);
    return repository && await this.#describe(repository, cwd, caller.signal);
  }

  /**
   * Tells the repository that an agent works in, and touches nothing of the vault.
   *
   * @returns `undefined` as `find()`; `name` is the last part of its remote's path, or its folder.
   * @throws {InvalidRequest} As `find()`.
   */
  async identify(caller: Caller, where: Where): Promise<RepoIdentity | undefined> {
    const { repo, cwd } = whereOf(caller, where);
    if (repo !== undefined) return toIdentity(requireRemote(repo));
    if (cwd === undefined) return undefined;
    const repository = await this.#repositoryAt(caller, cwd);
    return repository && toIdentity(repository.repoId);
  }

  /**
   * Finds where the project lies that an agent works in, for files of the project itself.
   *
   * @returns `undefined` as `find()`, and for a remote, which lies nowhere.
   * @throws {InvalidRequest} As `find()`.
   */
  async findFolders(caller: Caller, where: Where): Promise<RepositoryFolders | undefined> {
    const { repo, cwd } = whereOf(caller, where);
    if (repo !== undefined || cwd === undefined) return undefined;
    requireNear(caller, cwd);
    return await this.#git.findFolders(cwd, caller.signal);
  }

  /**
   * Finds the project that an agent works in, for what cannot do without.
   *
   * @throws {ScopeUnresolved} If there is none.
   * @throws {InvalidRequest} As `find()`.
   */
  async require(caller: Caller, where: Where): Promise<FoundProject> {
    const found = await this.find(caller, where);
    if (found) return found;
    const isSaid = where.cwd !== undefined || caller.cwd !== undefined;
    throw new ScopeUnresolved(
      isSaid
        ? "Cannot use scope project: the working directory is in no Git repository that can be " +
          "read. Use scope global, or name the repository with repo"
        : "Cannot use scope project: it is not known where you work. Pass cwd (your working " +
          "directory) or repo (the URL of the Git remote), or use scope global",
    );
  }

  /**
   * Returns the ids of the stores that a scope means, as the index has them.
   *
   * @returns `undefined` = no limit; an empty list = nothing is there yet.
   * @throws {ScopeUnresolved} If the scope needs a project and there is none.
   * @throws {InvalidRequest} As `find()`, or if no project has that name.
   */
  async scopeIds(caller: Caller, asked: AskedScope): Promise<readonly string[] | undefined> {
    if (asked.project !== undefined) return await this.#idsOfNamed(asked.project, asked.scope);
    switch (asked.scope) {
      case "all":
        return undefined;
      case "global":
        return [GLOBAL_SCOPE_ID];
      case "project":
        return idsOf(await this.require(caller, asked));
      case "here":
        return [GLOBAL_SCOPE_ID, NO_STORE, ...idsOf(await this.find(caller, asked))];
    }
  }

  /** Returns the store that new memories of a project go to, and makes it if there is none. */
  async openStore(project: FoundProject): Promise<OpenedStore> {
    const [store] = project.stores;
    const { name, repoId } = project.ref;
    if (store) {
      // From now on every clone finds it.
      if (project.isFromBeforeRemote) await this.#adopt(store, repoId);
      return { store };
    }
    const commit = project.source === "local" ? project.commit : undefined;
    const made = await this.#stores.make({ name, repoId, commit });
    if (!made.isNew) return { store: made.store };
    const notice = await this.#noticeOf(made.store);
    return { store: made.store, ...(notice === undefined ? {} : { notice }) };
  }

  async #adopt(store: ProjectStore, repoId: string): Promise<void> {
    try {
      await this.#stores.adopt(store, repoId);
    } catch (error) {
      // The next save tries again; until then this clone alone finds the store.
      if (!(error instanceof AppError)) throw error;
    }
  }

  async #repositoryAt(caller: Caller, cwd: string): Promise<Repository | undefined> {
    requireNear(caller, cwd);
    return await this.#git.find(cwd, caller.signal);
  }

  async #findByRemote(url: string): Promise<FoundProject> {
    const repoId = requireRemote(url);
    const stores = await this.#stores.findByRepo(repoId);
    return toFound(toIdentity(repoId), stores, {
      source: "repo",
      branch: undefined,
      commit: undefined,
    });
  }

  async #describe(
    repository: Repository,
    cwd: string,
    signal: AbortSignal | undefined,
  ): Promise<FoundProject> {
    const own = await this.#stores.findByRepo(repository.repoId);
    if (own.length > 0) return toFound(repository, own, repository);
    if (repository.source === "local") {
      return toFound(repository, await this.#findMoved(repository, cwd, signal), repository);
    }
    const stores = await this.#findFromBeforeRemote(cwd, signal);
    return { ...toFound(repository, stores, repository), isFromBeforeRemote: stores.length > 0 };
  }

  /**
   * Before it got a remote, a repository was known by its place; a commit tells it from another that
   * lies there now.
   */
  async #findFromBeforeRemote(
    cwd: string,
    signal: AbortSignal | undefined,
  ): Promise<ProjectStore[]> {
    const localId = await this.#git.findLocalId(cwd, signal);
    const stores = localId === undefined ? [] : await this.#stores.findByRepo(localId);
    return await this.#withCommitIn(stores, cwd, signal);
  }

  async #withCommitIn(
    stores: readonly ProjectStore[],
    cwd: string,
    signal: AbortSignal | undefined,
  ): Promise<ProjectStore[]> {
    const matches: ProjectStore[] = [];
    for (const store of stores.slice(-MAX_CANDIDATES)) {
      const { commit } = store;
      const isThere = commit !== undefined && await this.#git.hasCommit(cwd, commit, signal);
      if (isThere) matches.push(store);
    }
    return matches;
  }

  /**
   * A repository without a remote is known by its path. One that has moved is known by its name and
   * by a commit that it had; if several could be it, none is.
   */
  async #findMoved(
    { name }: Repository,
    cwd: string,
    signal: AbortSignal | undefined,
  ): Promise<ProjectStore[]> {
    const matches = await this.#withCommitIn(await this.#localStores(name), cwd, signal);
    return matches.length === 1 ? matches : [];
  }

  /** Says of a new store what else might be meant. */
  async #noticeOf({ name, ulid }: ProjectStore): Promise<string | undefined> {
    const alike = (await this.#stores.list()).filter((other) =>
      other.ulid !== ulid && other.name.toLowerCase() === name.toLowerCase()
    );
    const lost = await this.#stores.listLost();
    const folders = [...alike, ...lost].map(({ folder }) => `"${folder}"`);
    if (folders.length === 0) return undefined;
    const named = folders.slice(0, MAX_NAMED).join(" or ");
    return `A new store ${ulid} was made for project ${name}, as its repository was not seen ` +
      `before. If its memories lie in ${named}, put that store's project.md right, and move the new ` +
      "notes there";
  }

  /** Lists all stores of projects, the oldest first. */
  async listStores(): Promise<readonly ProjectStore[]> {
    return await this.#stores.list();
  }

  /** Lists the stores of which nobody can tell whose they are. */
  async listLost(): Promise<readonly LostStore[]> {
    return await this.#stores.listLost();
  }

  async #localStores(name: string): Promise<ProjectStore[]> {
    return (await this.#stores.list()).filter(({ repoId = "" }) =>
      repoId.startsWith("local:") && projectNameOf(repoId) === name
    );
  }

  async #idsOfNamed(project: string, scope: Scope): Promise<string[]> {
    if (scope === "global") throw globalHasNone();
    const stores = await this.#stores.list();
    const wanted = project.trim();
    const named = stores.filter((store) =>
      store.ulid === wanted.toUpperCase() || store.repoId === wanted ||
      store.name.toLowerCase() === wanted.toLowerCase()
    );
    if (named.length === 0) throw noSuchProject(wanted, stores);
    const ids = named.map(({ ulid }) => ulid);
    return scope === "here" ? [GLOBAL_SCOPE_ID, NO_STORE, ...ids] : ids;
  }
}

/**
 * Returns by what it is known where an agent works: the remote alone, if there is one. A task that
 * works with a remote means that, unless the call says something else.
 */
export function whereOf(caller: Caller, where: Where): Where {
  const repo = where.repo ?? (where.cwd === undefined ? caller.repo : undefined);
  return repo === undefined ? { cwd: where.cwd ?? caller.cwd } : { repo };
}

function toIdentity(repoId: string): RepoIdentity {
  return { repoId, name: projectNameOf(repoId) };
}

function idsOf(project: FoundProject | undefined): string[] {
  return project?.stores.map(({ ulid }) => ulid) ?? [];
}

function toFound(
  { name, repoId }: Pick<Repository, "name" | "repoId">,
  stores: readonly ProjectStore[],
  { source, branch, commit }: Pick<FoundProject, "source" | "branch" | "commit">,
): FoundProject {
  const [store] = stores;
  const ref = { name: store?.name ?? name, repoId, ...(store ? { ulid: store.ulid } : {}) };
  return { ref, stores, source, branch, commit };
}

/**
 * Checks what is said of where an agent works, as far as that can be told at once.
 *
 * @throws {InvalidRequest} If `repo` is no remote, `cwd` is no absolute path, or it comes from
 * another machine.
 */
export function requireWhere(caller: Caller, { repo, cwd = caller.cwd }: Where): void {
  if (repo !== undefined) requireRemote(repo);
  else if (cwd !== undefined) requireNear(caller, cwd);
}

/** Tells what may be where an agent works: a path from a root on, of this system or another. */
export function isUsableCwd(path: string): boolean {
  const isAbsolute = path.startsWith("/") || /^(?:[a-z]:[/\\]|\\\\)/i.test(path);
  return isAbsolute && !path.includes("\0");
}

function requireRemote(url: string): string {
  const repoId = repoIdOf(url);
  if (repoId === undefined) throw notARemote();
  return repoId;
}

function requireNear({ loopback }: Caller, cwd: string): void {
  if (!loopback) {
    throw new InvalidRequest(
      "Cannot use cwd: it is taken from this machine only. Send repo, the URL of the Git remote",
      [{ field: "cwd", message: "is taken from this machine only: send repo instead" }],
    );
  }
  if (isUsableCwd(cwd)) return;
  throw new InvalidRequest(
    "Cannot use cwd: it must be an absolute path",
    [{ field: "cwd", value: show(cwd), message: "must be an absolute path" }],
  );
}

/** Without the URL, which may hold a password. */
function notARemote(): InvalidRequest {
  const message = "must be the URL of a Git remote on a network, such as " +
    "https://example.org/team/site.git or git@example.org:team/site.git";
  return new InvalidRequest(`Cannot use repo: it ${message}`, [{ field: "repo", message }]);
}

function globalHasNone(): InvalidRequest {
  const message = "cannot be named together with scope global";
  return new InvalidRequest(`Cannot use project: it ${message}`, [{ field: "project", message }]);
}

function noSuchProject(wanted: string, stores: readonly ProjectStore[]): InvalidRequest {
  const names = [...new Set(stores.map(({ name }) => name))];
  const message = `names no project that has a store${didYouMean(wanted, names)}`;
  // What may be a URL with a password is not repeated.
  const shown = wanted.includes("@") ? undefined : show(wanted);
  return new InvalidRequest(
    `Cannot use project${shown === undefined ? "" : ` "${shown}"`}: it ${message}`,
    [{ field: "project", ...(shown === undefined ? {} : { value: shown }), message }],
  );
}
