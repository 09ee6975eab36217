/**
 * Reading the bodies of summaries, as far as budgets allow: the current project's first, then those
 * of candidates in the order of the route. Files of `_shared/` are read if they are named, and never
 * looked for. Nothing is repaired or migrated on the way.
 */
import type { Budget } from "@/lib/access/budget.ts";
import type { ReadingAccess } from "@/lib/access/reading_access.ts";
import type { Caller } from "@/lib/contracts.ts";
import type { LoadSummariesAnswer, LoadSummariesInput } from "@/lib/contracts_reading.ts";
import { AppError, NoteNotFound } from "@/lib/errors.ts";
import { toHintLine } from "@/lib/hint_line.ts";
import type { Vault } from "@/lib/vault/vault.ts";
import { isMarkdown, parseVaultPath, type VaultPath } from "@/lib/vault/vault_path.ts";
import type { Candidate, FoundRoute } from "./candidate.ts";
import { mayLoadSummary } from "./choose_candidates.ts";
import { findRoute, type FindRouteDeps } from "./find_route.ts";
import { requireProject } from "./_named_projects.ts";
import { type BodyDeps, isFileAt, loadBody } from "./_read_body.ts";
import { ReadingLog } from "./_reading_report.ts";
import { edgeSourcesOf, reasonsOf } from "./_reasons.ts";

export interface LoadSummariesDeps extends FindRouteDeps, BodyDeps {
  readonly access: ReadingAccess;
}

type Summary = LoadSummariesAnswer["summaries"][number];
type SharedNote = LoadSummariesAnswer["shared"][number];
type Skipped = LoadSummariesAnswer["skipped"][number];

const SHARED_FOLDER = "_shared";
/** Of the entries that say why a summary was not read; the others are counted. */
const MAX_SKIPPED = 10;

/**
 * Reads summaries, and the shared files that are named. Shared files come first, as somebody asked
 * for each of them, and count toward the same limits.
 *
 * @param input Without `projects` all candidates of the route are read that may be, in its order;
 * an empty list means none.
 * @returns At most 3 bodies with at most 4 000 characters together, without frontmatter; with names
 * and reasons at most 2 500 estimated tokens. The first limit that is reached ends it.
 * @throws {GrantMissing} If the person has not allowed the shared files that are named.
 * @throws {InvalidRequest} If a named project is not there, or several have that name.
 * @throws {NoteNotFound} If a shared file is not there.
 * @throws {BudgetExceeded} If there is no room for anything.
 */
export async function loadSummaries(
  deps: LoadSummariesDeps,
  caller: Caller,
  input: LoadSummariesInput,
): Promise<LoadSummariesAnswer> {
  // First, as nothing may be looked at without a grant.
  const budget = deps.access.budgetOf(caller);
  if (input.shared.length > 0) deps.access.requireShared(caller, input.shared);
  const sharedPaths = new Set(input.shared.map(toSharedPath));
  for (const path of sharedPaths) requireFile(deps.vault, path);
  const { projects, ...rest } = input;
  const route = await findRoute(deps, caller, {
    ...rest,
    alsoNamed: projects?.map((name) => name.trim()) ?? [],
  });
  const wanted = projects === undefined ? route.candidates : chooseNamed(route, projects);

  const reading = new SummaryReading(deps, budget, caller.signal);
  await reading.readShared(sharedPaths);
  await reading.readSummaries(wanted);
  return reading.answer(route);
}

/** Returns the projects with these names, in the order of the route, those without a place last. */
function chooseNamed(route: FoundRoute, names: readonly string[]): Candidate[] {
  const named = names.map((name) => requireProject(route, name, "projects"));
  const folders = new Set(named.map(({ folder }) => folder.name));
  const untied = new Map(named.map((candidate) => [candidate.folder.name, candidate]));
  for (const { folder } of route.candidates) untied.delete(folder.name);
  return [
    ...route.candidates.filter(({ folder }) => folders.has(folder.name)),
    ...untied.values(),
  ];
}

/** A topic may be named with its folder and its ending, or without. */
function toSharedPath(topic: string): VaultPath {
  const name = topic.trim().replace(new RegExp(`^${SHARED_FOLDER}/`), "");
  return parseVaultPath(`${SHARED_FOLDER}/${isMarkdown(name) ? name : `${name}.md`}`);
}

/** The folder is not searched for what may be meant: no one has named anything else in it. */
function requireFile(vault: Vault, path: VaultPath): void {
  if (!isFileAt(vault, path)) throw new NoteNotFound(`There is no shared note "${path}"`);
}

/** One answer while it is made. */
class SummaryReading {
  readonly #deps: LoadSummariesDeps;
  readonly #log: ReadingLog;
  readonly #signal: AbortSignal | undefined;
  readonly #summaries: Summary[] = [];
  readonly #shared: SharedNote[] = [];
  readonly #skipped: Skipped[] = [];
  /** Folders whose summary stands in the answer. */
  readonly #loaded = new Set<string>();

  constructor(deps: LoadSummariesDeps, budget: Budget, signal: AbortSignal | undefined) {
    this.#deps = deps;
    this.#log = new ReadingLog(budget);
    this.#signal = signal;
  }

  async readShared(paths: Iterable<VaultPath>): Promise<void> {
    for (const path of paths) {
      if (!this.#log.open("shared", path) || !this.#log.takeLabel(path)) return;
      this.#shared.push({ path, ...this.#log.take("shared", await this.#bodyOf(path)) });
      if (this.#log.isOver) return;
    }
  }

  async readSummaries(candidates: readonly Candidate[]): Promise<void> {
    for (const candidate of candidates) {
      if (this.#log.isOver) return;
      await this.#readSummary(candidate);
    }
  }

  /** @throws {BudgetExceeded} If a limit has kept everything back. */
  answer(route: FoundRoute): LoadSummariesAnswer {
    if (this.#log.isOver && this.#summaries.length + this.#shared.length === 0) {
      throw this.#log.nothingLeft();
    }
    // Last, as bodies go before what is said of others.
    const skipped = this.#skipped.slice(0, MAX_SKIPPED)
      .filter(({ project, reason }) => this.#log.takeLabel(project, reason));
    const conflicts = route.conflicts.map(toHintLine).filter((one) => this.#log.takeLabel(one));
    const read = route.candidates.filter(({ folder }) => this.#loaded.has(folder.name));
    return {
      summaries: this.#summaries,
      shared: this.#shared,
      skipped,
      conflicts,
      ...this.#log.report(route, read.length),
    };
  }

  async #readSummary(candidate: Candidate): Promise<void> {
    const project = toHintLine(candidate.project);
    const path = parseVaultPath(`${candidate.folder.name}/summary.md`);
    const refusal = this.#whyNot(candidate, path);
    if (refusal !== undefined) {
      this.#skipped.push({ project, reason: refusal });
      return;
    }
    const [reasons, sources] = [reasonsOf(candidate), edgeSourcesOf(candidate)];
    if (!this.#log.open("summary", path)) return;
    if (!this.#log.takeLabel(project, path, ...reasons, ...sources)) return;
    try {
      const body = await this.#bodyOf(path);
      const edgeSource = sources.length > 0 ? { edge_source: sources } : {};
      const taken = this.#log.take("summary", body);
      this.#summaries.push({ project, path, reasons, ...edgeSource, ...taken });
      this.#loaded.add(candidate.folder.name);
    } catch (error) {
      // One file that cannot be read keeps no other back.
      if (!(error instanceof AppError)) throw error;
      this.#skipped.push({ project, reason: error.message });
    }
  }

  #whyNot(candidate: Candidate, path: VaultPath): string | undefined {
    const { hasSummary, state } = candidate.folder;
    if (!hasSummary) return candidate.folder.problem ?? "has no summary.md";
    if (!mayLoadSummary(candidate)) {
      return `${state}: read only if it is the current project, or that one names it`;
    }
    return isFileAt(this.#deps.vault, path) ? undefined : "has no summary.md any more";
  }

  async #bodyOf(path: VaultPath): Promise<string> {
    const body = await loadBody(this.#deps, path, this.#signal);
    this.#log.noteFile(path);
    return body;
  }
}
