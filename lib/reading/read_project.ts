/**
 * Deep reads of one project: its `memory.md`, or files of its `history/` in place of it. Both need a
 * person's consent of their own, and history is read only where somebody wants to look back.
 */
import type { DeepScope, ReadingAccess } from "@/lib/access/reading_access.ts";
import type { Caller } from "@/lib/contracts.ts";
import type { ReadProjectAnswer, ReadProjectInput } from "@/lib/contracts_reading.ts";
import { NoteNotFound } from "@/lib/errors.ts";
import { toHintLine } from "@/lib/hint_line.ts";
import { MEMORY_CURRENT_OBSERVATION_WINS } from "@/lib/protocol_keys.ts";
import { Slicer } from "@/lib/seams.ts";
import { formatDay } from "@/lib/time_text.ts";
import { scanMarkdown } from "@/lib/vault/markdown.ts";
import { parseVaultPath, type VaultPath } from "@/lib/vault/vault_path.ts";
import type { FoundRoute } from "./candidate.ts";
import { listHistory, requireHistoryFile } from "./_history_files.ts";
import { type FactNote, parseFacts, type RankedFact, rankFacts } from "./facts.ts";
import { findRoute, type FindRouteDeps } from "./find_route.ts";
import { requireProject } from "./_named_projects.ts";
import { type BodyDeps, isFileAt, loadBody, readBody, trimLines } from "./_read_body.ts";
import { ReadingLog } from "./_reading_report.ts";

export interface ReadProjectDeps extends FindRouteDeps, BodyDeps {
  readonly access: ReadingAccess;
}

type Content = Omit<
  ReadProjectAnswer,
  "project" | "precedence" | "files" | "budget" | "truncated" | "notRead" | "note"
>;
type ShownFact = NonNullable<ReadProjectAnswer["facts"]>[number];
type HistoryNote = NonNullable<ReadProjectAnswer["history"]>[number];

const PRECEDENCE =
  (MEMORY_CURRENT_OBSERVATION_WINS
    ? "What you observe in the task at hand goes before every fact here, then "
    : "") +
  "unexpired verified facts, then assumptions, which are clues to be checked; what is deprecated " +
  "is no evidence. Check settings, paths, versions and what runs on the spot. Where memory and " +
  "observation differ, tell the person, and write nothing back unasked";

/** Less of a fact than this is not worth a place. */
const MIN_FACT_UNITS = 40;

/**
 * Reads a project's `memory.md`, facts first and in the order of what they are worth, then the rest
 * of its text; with `history` the files named there instead, or the names of all if it is empty.
 *
 * @returns Of `memory.md` at most 3 000 characters, of history at most 2 files.
 * @throws {GrantMissing} If the person has not allowed this; then nothing is looked at.
 * @throws {InvalidRequest} If there is no such project, or several have that name.
 * @throws {NoteNotFound} If it has no `memory.md`, or no such file of history.
 * @throws {PathEscapesVault} If a name of history leads out of its folder.
 * @throws {BudgetExceeded} If there is no room for anything.
 */
export async function readProject(
  deps: ReadProjectDeps,
  caller: Caller,
  { project, history, cwd, repo }: ReadProjectInput,
): Promise<ReadProjectAnswer> {
  const scope: DeepScope = { project, history: history !== undefined };
  deps.access.requireDeep(caller, scope);
  const budget = deps.access.budgetOf(caller);
  const route = await findRoute(deps, caller, { cwd, repo, tags: [], alsoNamed: [project.trim()] });
  const found = requireProject(route, project, "project");
  const folder = found.folder.name;
  deps.access.noteDeepFolder(caller, scope, folder);

  const reading = new DeepReading(deps, new ReadingLog(budget), { folder, signal: caller.signal });
  const name = toHintLine(found.project);
  const content = await reading.read(name, history);
  return {
    project: name,
    precedence: PRECEDENCE,
    ...content,
    ...reading.log.report(route, isCandidate(route, folder) ? 1 : 0),
  };
}

function isCandidate({ candidates }: FoundRoute, name: string): boolean {
  return candidates.some(({ folder }) => folder.name === name);
}

interface DeepPlace {
  readonly folder: string;
  readonly signal: AbortSignal | undefined;
}

/** One answer while it is made. */
class DeepReading {
  readonly log: ReadingLog;
  readonly #deps: ReadProjectDeps;
  readonly #place: DeepPlace;
  readonly #slicer: Slicer;

  constructor(deps: ReadProjectDeps, log: ReadingLog, place: DeepPlace) {
    this.log = log;
    this.#deps = deps;
    this.#place = place;
    this.#slicer = new Slicer(deps.clock);
  }

  async read(project: string, history: readonly string[] | undefined): Promise<Content> {
    if (!this.log.takeWhole("other", project)) throw this.log.nothingLeft();
    if (history === undefined) return await this.#readMemory();
    return history.length === 0 ? await this.#listHistory() : await this.#readHistory(history);
  }

  async #readMemory(): Promise<Content> {
    const path = parseVaultPath(`${this.#place.folder}/memory.md`);
    if (!isFileAt(this.#deps.vault, path)) {
      throw new NoteNotFound(
        `There is no "${path}": the project has no facts written down. Its summary is what there is`,
      );
    }
    if (!this.log.open("facts", path)) throw this.log.nothingLeft();
    const { facts, text, ranked } = await this.#parse(path);
    const shown = this.#takeFacts(ranked);
    return {
      facts: shown,
      factsLeftOut: facts.length - shown.length,
      ...this.#takeText(trimLines(text)),
    };
  }

  async #parse(path: VaultPath): Promise<FactNote & { readonly ranked: readonly RankedFact[] }> {
    const { clock, noteReads, vault } = this.#deps;
    const today = formatDay(clock.nowMs());
    function* steps() {
      const body = yield* readBody(vault, path);
      const { bodyStartLine, text } = body;
      const { blocks } = bodyStartLine === null
        ? { blocks: [] }
        : yield* scanMarkdown(text, bodyStartLine);
      const note = yield* parseFacts({ ...body, blocks });
      return { ...note, ranked: yield* rankFacts(note.facts, today) };
    }
    const parsed = await noteReads.run(() => this.#slicer.run(steps()), this.#place.signal);
    this.log.noteFile(path);
    return parsed;
  }

  /** Takes the best facts, each with all its cells; only what it says itself may be cut. */
  #takeFacts(ranked: readonly RankedFact[]): ShownFact[] {
    const shown: ShownFact[] = [];
    for (const fact of ranked) {
      if (this.log.isOver) break;
      const { fact: said, overruled: _overruled, ...cells } = fact;
      const frame = Object.values(cells).join("");
      if (!this.log.hasRoom("facts", frame + said.slice(0, MIN_FACT_UNITS))) break;
      this.log.takeWhole("facts", frame);
      const { body, ...cut } = this.log.take("facts", said);
      shown.push({ ...fact, fact: body, ...cut });
    }
    return shown;
  }

  #takeText(rest: string): Pick<Content, "text" | "textTruncated"> {
    const isOver = this.log.isOver;
    const { body, truncated } = isOver
      ? { body: "", truncated: rest !== "" }
      : this.log.take("facts", rest);
    return { text: body, ...(truncated ? { textTruncated: true } : {}) };
  }

  async #listHistory(): Promise<Content> {
    const { folder } = this.#place;
    const { names, total } = await this.#slicer.run(listHistory(this.#deps.vault, folder));
    const rest = names.findIndex((name) => !this.log.takeWhole("other", name));
    if (rest === 0) throw this.log.nothingLeft();
    const shown = rest < 0 ? [...names] : names.slice(0, rest);
    return { historyNames: shown, historyNamesLeftOut: total - shown.length };
  }

  async #readHistory(names: readonly string[]): Promise<Content> {
    const { vault } = this.#deps;
    const paths = new Set<VaultPath>();
    for (const name of names) {
      paths.add(await this.#slicer.run(requireHistoryFile(vault, this.#place.folder, name)));
    }
    const history: HistoryNote[] = [];
    for (const path of paths) {
      if (this.log.isOver || !this.log.open("history", path)) break;
      if (!this.log.takeWhole("other", path)) break;
      const body = await loadBody(this.#deps, path, this.#place.signal);
      this.log.noteFile(path);
      history.push({ path, ...this.log.take("history", body) });
    }
    if (history.length === 0) throw this.log.nothingLeft();
    return { history };
  }
}
