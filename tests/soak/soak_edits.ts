/** Thousands of random edits, each followed at once by searches that have to be right. */
import { join } from "node:path";
import { checkDisk } from "./check_disk.ts";
import { compareWithFresh, compareWithNotes } from "./compare_index.ts";
import { DiskModel, placesOfWords, VAULT } from "./disk_model.ts";
import { Draft } from "./draft.ts";
import { type EditKind, pickKind } from "./edit_kind.ts";
import { type Editor, otherEditor, ownEditor } from "./editor.ts";
import { editsByPrograms } from "./edits_by_programs.ts";
import { EDITS_OF_FILES } from "./edits_of_files.ts";
import { EDITS_OF_FOLDERS } from "./edits_of_folders.ts";
import { EDITS_OF_LINKS } from "./edits_of_links.ts";
import { fillVault } from "./fill_vault.ts";
import { inotifyWatches, watchedFolders } from "../_support/inotify_watches.ts";
import { GitRepository } from "./git_repository.ts";
import { type Expected, Judge } from "./judge.ts";
import { type EditRecord, Ledger } from "./ledger.ts";
import { Random } from "./random.ts";
import { type Freshness, openSoakWorld, type SoakWorld } from "./soak_world.ts";
import { FreshWords, wordAt } from "./words.ts";

const EDITS_A_COMPARISON = 50;
const EDITS_A_FRESH_COMPARISON = 500;
/** So many words are asked for after an edit. */
const MAX_ASKED = 12;
const GONE_WORDS = 100;

export interface EditsSettings {
  readonly edits: number;
  readonly seed: number;
  /** Who edits. */
  readonly by: "self" | "other" | "both";
  /** About so many are in the vault. */
  readonly notes: number;
  readonly freshness: Freshness;
  /** Those of `neededPrograms()` that are there. */
  readonly programs: ReadonlySet<string>;
}

/** Returns the programs that some kinds of edit need. */
export function neededPrograms(): string[] {
  return [...new Set(allKinds(new GitRepository("folder")).flatMap(({ needs = [] }) => needs))];
}

/** Edits a vault of its own and returns what came of it. */
export async function soakEdits(
  settings: EditsSettings,
  say: (line: string) => void,
): Promise<Ledger> {
  const base = await Deno.realPath(await Deno.makeTempDir({ prefix: "soak-" }));
  await using disposer = new AsyncDisposableStack();
  disposer.defer(() => Deno.remove(base, { recursive: true }));
  const random = new Random(settings.seed);
  const own = ownEditor(base, () => random.chance(70));
  const other = settings.by === "self" ? own : disposer.use(otherEditor(base));
  const run = new EditsRun({ base, settings, random, editors: { self: own, other }, say });
  await run.prepare();
  const world = disposer.use(await openSoakWorld(base, settings.freshness));
  return await run.run(world);
}

interface RunOptions {
  readonly base: string;
  readonly settings: EditsSettings;
  readonly random: Random;
  readonly editors: Readonly<Record<"self" | "other", Editor>>;
  readonly say: (line: string) => void;
}

class EditsRun {
  readonly #options: RunOptions;
  readonly #model = new DiskModel();
  readonly #words = new FreshWords();
  readonly #ledger = new Ledger();
  readonly #draft: Draft;
  readonly #kinds: readonly EditKind[];
  readonly #repository: GitRepository;
  #places: ReadonlyMap<string, readonly string[]> = new Map();

  constructor(options: RunOptions) {
    const { settings, random } = options;
    this.#options = options;
    this.#draft = new Draft({ model: this.#model, words: this.#words, random });
    this.#repository = new GitRepository(settings.seed % 2 === 0 ? "folder" : "vault");
    this.#kinds = allKinds(this.#repository).filter(({ needs = [] }) =>
      needs.every((program) => settings.programs.has(program))
    );
  }

  /** Fills the vault. */
  async prepare(): Promise<void> {
    const { editors, settings } = this.#options;
    const draft = this.#draft;
    fillVault(draft, settings.notes);
    if (settings.programs.has("git")) this.#repository.init(draft);
    await editors.self.apply(draft.take());
    this.#places = placesOfWords(this.#model.notes());
  }

  async run(world: SoakWorld): Promise<Ledger> {
    const { settings, say } = this.#options;
    const judge = new Judge(world.get, this.#ledger);
    for (let number = 1; number <= settings.edits; number++) {
      await this.#edit(number, judge);
      const isLast = number === settings.edits;
      if (isLast || number % EDITS_A_COMPARISON === 0) await this.#compare(world);
      if (isLast || number % EDITS_A_FRESH_COMPARISON === 0) {
        await this.#compareWithFresh(world);
        say(`${number} edits, ${this.#ledger.asked} answers, ${this.#ledger.wrongCount} wrong`);
      }
    }
    return this.#ledger;
  }

  /** Draws kinds until one finds something to edit. */
  async #edit(number: number, judge: Judge): Promise<void> {
    for (;;) {
      const { settings } = this.#options;
      const { name, plan } = pickKind(this.#kinds, this.#draft, settings.notes);
      let parts = 0;
      for (const _part of plan(this.#draft)) {
        if (await this.#carryOut({ number, kind: name, part: parts + 1 }, judge)) parts++;
      }
      if (await this.#carryOut({ number, kind: name, part: parts + 1 }, judge)) parts++;
      if (parts > 0) return;
    }
  }

  /** @returns False if there was nothing to do. */
  async #carryOut(
    { number, kind, part }: Pick<EditRecord, "number" | "kind" | "part">,
    judge: Judge,
  ): Promise<boolean> {
    const { editors, random, settings } = this.#options;
    const ops = this.#draft.take();
    if (ops.length === 0) return false;
    const by = settings.by === "both" ? random.pick(["self", "other"] as const) : settings.by;
    this.#ledger.noteEdit({ number, part, kind, by: by ?? "self", ops });

    const toldBefore = this.#ledger.told.length;
    const racing = random.chance(30) ? this.#race(judge) : [];
    await editors[by ?? "self"].apply(ops);
    await judge.check(this.#expect(), {
      mayBeUnverified: this.#draft.isBlocked,
      isTogether: random.chance(40),
    });
    await Promise.all(racing);
    if (this.#ledger.told.length > toldBefore) await this.#explain();
    return true;
  }

  /** A watcher that misses a change may not watch its folder at all. */
  async #explain(): Promise<void> {
    const watches = await inotifyWatches();
    if (!watches || watches.length === 0) return;
    const watched = await watchedFolders(join(this.#options.base, VAULT), watches);
    const unwatched = this.#draft.folders().map((folder) => folder.slice(VAULT.length + 1))
      .filter((folder) => !watched.includes(folder));
    this.#ledger.explain(`not watched now: ${unwatched.join(", ") || "nothing"}`);
  }

  #race(judge: Judge): Promise<void>[] {
    const { random } = this.#options;
    return Array.from({ length: 1 + random.below(3) }, async () => {
      const word = random.pick([...this.#places.keys()]) ?? "";
      const delayMs = random.below(4);
      if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
      await judge.race(word);
    });
  }

  /** Returns what is to be asked for now: words that came or went, and some that did not. */
  #expect(): Expected[] {
    const { random } = this.#options;
    const before = this.#places;
    const after = placesOfWords(this.#model.notes());
    this.#places = after;
    const pathsOf = (word: string) => after.get(word) ?? [];
    const changed = [...new Set([...before.keys(), ...after.keys()])].filter((word) =>
      before.get(word)?.join("\n") !== after.get(word)?.join("\n")
    );
    const kept = random.sample([...after.keys()], 1);
    return [...random.sample(changed, MAX_ASKED), ...kept]
      .map((word) => ({ word, paths: pathsOf(word) }));
  }

  async #compare({ services: { index } }: SoakWorld): Promise<void> {
    checkDisk(this.#options.base, this.#model);
    this.#ledger.comparisons++;
    await index.refresh();
    const differences = await compareWithNotes(index, this.#model.notes(), this.#goneWords());
    if (differences.length > 0) this.#ledger.noteWrong("differs", tell(differences));
  }

  async #compareWithFresh({ services: { index } }: SoakWorld): Promise<void> {
    this.#ledger.freshComparisons++;
    const { differences, staleTimes } = await compareWithFresh(index, this.#options.base);
    this.#ledger.staleTimes += staleTimes;
    if (differences.length === 0) return;
    this.#ledger.noteWrong("differs from a fresh one", tell(differences));
  }

  #goneWords(): string[] {
    const { random } = this.#options;
    const words = Array.from({ length: GONE_WORDS }, () => wordAt(random.below(this.#words.count)));
    return words.filter((word) => !this.#places.has(word));
  }
}

function allKinds(repository: GitRepository): EditKind[] {
  return [
    ...EDITS_OF_FILES,
    ...EDITS_OF_FOLDERS,
    ...EDITS_OF_LINKS,
    ...editsByPrograms(repository),
  ];
}

function tell(differences: readonly string[]): string {
  const more = differences.length > 10 ? `\n… and ${differences.length - 10} more` : "";
  return differences.slice(0, 10).join("\n") + more;
}
