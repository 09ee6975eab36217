/**
 * Handoffs: the working state that one run leaves for the next on the same project and branch. They
 * lie in one Markdown file a branch, the newest first.
 */
import type { Caller } from "@/lib/contracts.ts";
import type {
  HandoffAnswer,
  HandoffInput,
  ResumeAnswer,
  ResumeInput,
} from "@/lib/contracts_memories.ts";
import { InvalidRequest, ScopeUnresolved } from "@/lib/errors.ts";
import type { VaultIndex } from "@/lib/index/vault_index.ts";
import type { ProjectStore } from "@/lib/projects/project_store.ts";
import type { FoundProject, Projects } from "@/lib/projects/projects.ts";
import { requireNoSecrets } from "@/lib/require_no_secrets.ts";
import { type Clock, Slicer } from "@/lib/seams.ts";
import { isoTime } from "@/lib/time_text.ts";
import { hashBytes } from "@/lib/vault/etag.ts";
import { retryOnConflict } from "@/lib/vault/retry_on_conflict.ts";
import { diskPathOf, readFile, statFile, type Vault } from "@/lib/vault/vault.ts";
import { foldCase, parseVaultPath, type VaultPath } from "@/lib/vault/vault_path.ts";
import { ABSENT, type VaultWriter, type Written } from "@/lib/vault/vault_writer.ts";
import {
  addHandoff,
  branchFileName,
  distinctFileName,
  type Handoff,
  readHandoffs,
} from "./handoff_text.ts";

export interface ResumeDeps {
  readonly vault: Vault;
  readonly projects: Projects;
}

export interface HandoffDeps extends ResumeDeps {
  readonly writer: VaultWriter;
  readonly index: Pick<VaultIndex, "markChanged">;
  readonly clock: Clock;
}

/** Of the branches that a note names. */
const MAX_BRANCHES = 5;

/**
 * Keeps a handoff for the branch that the agent works on, with the nine before it.
 *
 * @throws {ScopeUnresolved} If there is no project, or no branch (a detached HEAD).
 * @throws {InvalidRequest} If the branch that is named is none.
 * @throws {AppError} `secret-found` if the text looks like it holds a secret.
 */
export async function setHandoff(
  deps: HandoffDeps,
  caller: Caller,
  { body, branch: asked, allow_secret, ...where }: HandoffInput,
): Promise<HandoffAnswer> {
  if (!allow_secret) {
    await new Slicer(deps.clock).run(requireNoSecrets({ body, branch: asked }));
  }
  const project = await deps.projects.require(caller, where);
  const branch = requireBranch(project, asked);
  const { store } = await deps.projects.openStore(project);
  const path = await findFile(deps.vault, store, branch);
  const updatedAt = isoTime(deps.clock.nowMs());
  const actor = caller.client === undefined ? {} : { actor: caller.client };
  const add = (text: string | undefined) => addHandoff(text, { updatedAt, ...actor, body }, branch);
  const { conflictCopy } = await deps.writer.inTurn(() => append(deps, path, add), caller.signal);
  deps.index.markChanged(path);
  const copy = conflictCopy === undefined ? {} : { conflictCopy };
  return { status: "saved", branch, scope: store.ulid, path, ...copy };
}

/** Returns the newest handoff of the branch that the agent works on; says why if there is none. */
export async function resume(
  { vault, projects }: ResumeDeps,
  caller: Caller,
  { branch: asked, ...where }: ResumeInput,
): Promise<ResumeAnswer> {
  const project = await projects.find(caller, where);
  if (!project) {
    return {
      found: false,
      note:
        "There is no Git repository that can be read: pass cwd, your working directory, or repo",
    };
  }
  const branch = readBranch(asked) ?? project.branch;
  if (branch === undefined) return { found: false, note: noBranch(project) };
  for (const store of project.stores) {
    const path = await findFile(vault, store, branch);
    const [newest] = readAll(vault, path);
    if (newest) {
      return { found: true, branch, body: newest.body, updated_at: newest.updatedAt, path };
    }
  }
  return { found: false, branch, note: await describeOthers(vault, project, branch) };
}

function noBranch({ source }: FoundProject): string {
  return source === "repo"
    ? "The branch cannot be seen from repo, and handoffs are kept by branch: pass branch"
    : "HEAD is detached, and handoffs are kept by branch: check one out, or pass branch";
}

function requireBranch(project: FoundProject, asked: string | undefined): string {
  const name = readBranch(asked) ?? project.branch;
  if (name !== undefined) return name;
  throw new ScopeUnresolved(`Cannot keep a handoff: ${noBranch(project)}`);
}

/** What Git lets no branch have: among it all that a URL with a password needs. */
const NO_BRANCH_NAME = /[\s\p{Cc}:~^?*[\\]|@\{|\.\.|^[-/]|\/$/u;

/** @throws {InvalidRequest} If Git would take it for no branch. */
function readBranch(asked: string | undefined): string | undefined {
  const name = asked?.trim();
  if (!name) return undefined;
  if (!NO_BRANCH_NAME.test(name)) return name;
  const message = "must be the name of a Git branch, such as main or feature/search";
  throw new InvalidRequest(`Cannot use branch: it ${message}`, [{ field: "branch", message }]);
}

/** Branches whose names differ in case alone are two to Git, and their files one to some disks. */
async function findFile(
  vault: Vault,
  store: ProjectStore,
  branch: string,
): Promise<VaultPath> {
  const name = branchFileName(branch);
  const hasTwin = (await listNames(vault, store)).some((other) =>
    other !== name && foldCase(other) === foldCase(name)
  );
  const file = hasTwin ? distinctFileName(branch) : name;
  return parseVaultPath(`${store.folder}/handoff/${file}`);
}

function readAll(vault: Vault, path: VaultPath): readonly Handoff[] {
  if (statFile(vault, path).state !== "file") return [];
  return readHandoffs(decode(readFile(vault, path).bytes));
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

async function append(
  { vault, writer, clock }: HandoffDeps,
  path: VaultPath,
  edit: (text: string | undefined) => string,
): Promise<Written> {
  return await retryOnConflict(async () => {
    const isThere = statFile(vault, path).state !== "absent";
    const before = isThere ? readFile(vault, path).bytes : undefined;
    const expected = before ? await new Slicer(clock).run(hashBytes(before)) : ABSENT;
    const bytes = new TextEncoder().encode(edit(before && decode(before)));
    return await writer.write({ path, bytes, expected });
  });
}

async function describeOthers(
  vault: Vault,
  { stores, ref }: FoundProject,
  branch: string,
): Promise<string> {
  const names = (await Promise.all(stores.map((store) => listBranches(vault, store)))).flat();
  const nothing = `Nothing was handed off on branch ${branch} of ${ref.name}`;
  if (names.length === 0) return nothing;
  const shown = names.slice(0, MAX_BRANCHES).join(", ");
  const more = names.length > MAX_BRANCHES ? ` and ${names.length - MAX_BRANCHES} more` : "";
  return `${nothing}; there are handoffs on ${shown}${more}: pass branch for one of them`;
}

async function listBranches(vault: Vault, store: ProjectStore): Promise<string[]> {
  return (await listNames(vault, store)).flatMap((name) => branchOf(name) ?? []).sort();
}

async function listNames(vault: Vault, { folder }: ProjectStore): Promise<string[]> {
  try {
    const entries = await Array.fromAsync(
      Deno.readDir(diskPathOf(vault, parseVaultPath(`${folder}/handoff`))),
    );
    return entries.filter(({ isFile }) => isFile).map(({ name }) => name);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** Undoes what `branchFileName()` does to the names of most branches. */
function branchOf(fileName: string): string | undefined {
  if (!fileName.endsWith(".md") || fileName.startsWith(".")) return undefined;
  try {
    return decodeURIComponent(fileName.slice(0, -".md".length));
  } catch {
    // A person's own file.
    return undefined;
  }
}
