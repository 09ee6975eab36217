/**
 * When vault and index are compared, and how much of the vault has to be looked at for that: all of
 * it or, where changes are heard of, the places that changed. One comparison runs at a time.
 */
import type { Diagnostic, Freshness, Indexing } from "@/lib/contracts.ts";
import { describeFailure } from "@/lib/errors.ts";
import { settleWithin, Slicer } from "@/lib/seams.ts";
import { isRootStill, scanPlaces, scanVault, type VaultScan } from "@/lib/vault/scan.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";
import type { VaultWatcher } from "@/lib/vault/watcher.ts";
import type { IndexedNote } from "./indexed_note.ts";
import { NoteSync, type NoteSyncOptions, type SyncOutcome } from "./note_sync.ts";
import { covers, type Look } from "./seen_vault.ts";
import { SingleFlight } from "./_single_flight.ts";
import { mustCompare } from "./sync.ts";
import type { VaultWatch } from "./vault_watch.ts";

/** So long after its begin the first load is waited for: a small vault is read by then. */
const FIRST_LOAD_WAIT_MS = 500;
/** Shorter than other slices: scans run before every search. */
const SCAN_SLICE_MS = 4;
/** After a change; a search that comes sooner does not wait for it. */
const SOON_MS = 500;
/** A scan of 50 000 notes takes a quarter of a second: that is .1 % of the time. */
const PROOF_INTERVAL_MS = 240_000;
/** The first one comes sooner: where events get lost at all, they may from the start. */
const FIRST_PROOF_MS = 15_000;

export interface VaultSyncOptions extends NoteSyncOptions {
  /** Absent if every file is to be looked at each time. */
  readonly watch?: VaultWatch | undefined;
  /** Fills the empty index with what is known from an earlier run, if anything. */
  readonly restore?: (() => Promise<void>) | undefined;
  /** Called at the end of each run. */
  readonly onSettled?: ((kind: RunKind) => void) | undefined;
}

/** How a comparison is to be done. */
export type RunKind =
  | "compare"
  /** The first one, that searches wait for only a moment. */
  | "load"
  /** Reads every file again. */
  | "reread";

/** Compares vault and index, one comparison at a time. */
export class VaultSync {
  readonly #options: VaultSyncOptions;
  readonly #notes: NoteSync;
  readonly #flight = new SingleFlight(() => this.#run());
  #warnings: readonly string[] = [];
  /** When the last comparison that ended began; `undefined` = never. */
  #comparedAtMs: number | undefined;
  /** The same for one that saw the whole vault. */
  #verifiedAtMs: number | undefined;
  /** Progress of a run that searches do not wait for: one that reads every file. */
  #indexing: Indexing | undefined;
  #firstLoad: { readonly run: Promise<SyncOutcome>; readonly startMs: number } | undefined;
  #queuedFullRun: Promise<SyncOutcome> | undefined;
  #nextRun: RunKind = "compare";
  /** Whether the next run is asked for more than a look at what was marked. */
  #isCompareDue = false;
  /** What was written by ourselves, and not looked at since. */
  #marked = new Set<VaultPath>();
  /** A look at everything from outside a run, by which the watcher is to be judged. */
  #proof: VaultScan | undefined;
  #compaction: Promise<void> = Promise.resolve();
  #renewal: Promise<void> = Promise.resolve();
  #proofTimer: ReturnType<typeof setTimeout> | undefined;
  #soonTimer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;
  #outcome: SyncOutcome = { added: 0, changed: 0, removed: 0 };

  constructor(options: VaultSyncOptions) {
    this.#options = options;
    this.#notes = new NoteSync(options);
    options.watch?.onHeard(() => this.#refreshSoon());
  }

  /** Progress of the first load or of a full one; `undefined` when there is none under way. */
  get indexing(): Indexing | undefined {
    return this.#indexing;
  }

  /** What concerns the vault as a whole. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /** Files that were left out, wholly or in part, with the reason. */
  diagnostics(): Diagnostic[] {
    return this.#notes.diagnostics();
  }

  /** Files that are never read, in no order. */
  get derivedPaths(): readonly VaultPath[] {
    return this.#notes.derivedPaths;
  }

  /**
   * Returns when the index holds every change that was made before the call. It does not wait for a
   * run that reads everything nor, in a large vault of whose changes nothing is heard, more often
   * than every few seconds, unless `when` is "always": then the answer is not verified, nor is it
   * when a part cannot be seen.
   */
  async refresh(when: "due" | "always" = "due"): Promise<Freshness> {
    await this.#waitForFirstLoad();
    const isDue = when === "always" || this.#isCompareDue || this.#mustCompare();
    if (this.#indexing || (!isDue && this.#marked.size === 0)) return this.#unverified();
    this.#isCompareDue ||= isDue;
    const calledMs = this.#options.clock.monotonicMs();
    await this.#flight.join();
    const isVerified = this.#verifiedAtMs !== undefined && this.#verifiedAtMs >= calledMs;
    return isVerified ? { verified: true, ageMs: 0 } : this.#unverified();
  }

  /** Names a file that was written just now: a look at it comes soon, whoever asks. */
  markChanged(path: VaultPath): void {
    this.#marked.add(path);
    this.#refreshSoon();
  }

  /** Takes in soon what came late, such as vectors, although nobody searches. */
  settleSoon(): void {
    this.#isCompareDue = true;
    this.#refreshSoon();
  }

  #refreshSoon(): void {
    if (this.#isClosed || this.#soonTimer !== undefined) return;
    this.#soonTimer = setTimeout(() => {
      this.#soonTimer = undefined;
      void this.refresh().catch(() => undefined);
    }, SOON_MS);
    Deno.unrefTimer(this.#soonTimer);
  }

  /** Reads the vault the first time, later every file again. Calls that wait share a run. */
  readAll(): Promise<SyncOutcome> {
    const startMs = this.#options.clock.monotonicMs();
    this.#indexing ??= { done: 0, total: 0 };
    const run = this.#queuedFullRun ??= this.#runFull(this.#firstLoad ? "reread" : "load");
    if (!this.#firstLoad && this.#options.watch) this.#proveAfter(FIRST_PROOF_MS);
    this.#firstLoad ??= { run, startMs };
    return run;
  }

  /**
   * Looks at everything, and whether the watcher has told of all that is different by now: one miss,
   * and it is never relied on again. Does nothing where it is not relied on anyway.
   */
  async prove(): Promise<void> {
    const { vault, watch } = this.#options;
    if (watch?.mode !== "watch" || this.#isClosed) return;
    const scan = await this.#scan(scanVault(vault));
    if (this.#isClosed) return;
    this.#proof = scan;
    this.#isCompareDue = true;
    await this.#flight.join();
  }

  #proveAfter(delayMs: number): void {
    if (this.#isClosed) return;
    this.#proofTimer = setTimeout(async () => {
      await this.prove().catch(() => undefined);
      this.#proveAfter(PROOF_INTERVAL_MS);
    }, delayMs);
    // Nothing else may be kept waiting for it.
    Deno.unrefTimer(this.#proofTimer);
  }

  /**
   * Tells whether notes that were found are what they were when they were indexed, where changes
   * are listened for: there is a kind of which nothing is heard. If not, everything is looked at.
   */
  async confirm(notes: readonly IndexedNote[]): Promise<boolean> {
    const { watch } = this.#options;
    if (watch?.mode !== "watch" || this.#notes.areAsIndexed(notes)) return true;
    await this.refresh();
    if (!this.#notes.areAsIndexed(notes)) {
      watch.distrust("a note changed, and nothing was heard of it");
      await this.refresh("always");
    }
    return false;
  }

  /** Stops between two notes, and returns when nothing runs any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#proofTimer);
    clearTimeout(this.#soonTimer);
    // Who asked for the run is told how it ended.
    await this.#queuedFullRun?.catch(() => undefined);
    await this.#flight.idle();
    await this.#compaction;
    await this.#renewal;
    await this.#options.watch?.close();
  }

  /** Waits its turn, so that no search which waits for a comparison has to wait for this. */
  async #runFull(kind: RunKind): Promise<SyncOutcome> {
    await this.#flight.idle();
    this.#queuedFullRun = undefined;
    this.#nextRun = kind;
    await this.#flight.join();
    return this.#outcome;
  }

  /** An answer from half a vault looks like one that knows nothing. */
  async #waitForFirstLoad(): Promise<void> {
    if (!this.#firstLoad || this.#comparedAtMs !== undefined) return;
    const { run, startMs } = this.#firstLoad;
    const leftMs = startMs + FIRST_LOAD_WAIT_MS - this.#options.clock.monotonicMs();
    if (leftMs > 0) await settleWithin(run, leftMs);
  }

  #mustCompare(): boolean {
    const { clock, table, watch } = this.#options;
    if (watch?.isHopeful) return true;
    const nowMs = clock.monotonicMs();
    return mustCompare({ notes: table.size, comparedAtMs: this.#comparedAtMs, nowMs });
  }

  #unverified(): Freshness {
    const ageMs = this.#verifiedAtMs === undefined
      ? null
      : Math.round(this.#options.clock.monotonicMs() - this.#verifiedAtMs);
    return { verified: false, ageMs };
  }

  async #run(): Promise<void> {
    const kind = this.#nextRun;
    const isDue = this.#isCompareDue || kind !== "compare";
    this.#nextRun = "compare";
    this.#isCompareDue = false;
    const startMs = this.#options.clock.monotonicMs();
    this.#outcome = { added: 0, changed: 0, removed: 0 };
    try {
      if (kind === "load" && !this.#isClosed) await this.#options.restore?.();
      if (!this.#isClosed) {
        if (isDue) await this.#compare(startMs, kind);
        else await this.#lookWhereMarked();
      }
      if (!this.#isClosed) await this.#judgeWatcher(startMs);
    } catch (error) {
      // What was heard may not have been taken in.
      this.#options.watch?.distrust("a comparison failed");
      throw error;
    } finally {
      if (kind !== "compare" && !this.#queuedFullRun) this.#indexing = undefined;
    }
    const { clock, embeddings, files } = this.#options;
    embeddings?.settle();
    if (files) await new Slicer(clock).run(files().flush());
    this.#keepUp();
    this.#options.onSettled?.(kind);
  }

  async #compare(startMs: number, kind: RunKind): Promise<void> {
    const { vault, watch } = this.#options;
    const marked = this.#takeMarked();
    const heard = kind === "compare" ? await this.#lookWhereHeard(marked) : undefined;
    const watcher = watch?.beforeScan();
    const look = heard ?? { scan: await this.#scan(scanVault(vault)) };
    await this.#takeIn(look, kind);
    if (this.#isClosed) return;
    this.#comparedAtMs = startMs;
    const isWhole = this.#warnings.length === 0;
    if (isWhole && this.#notes.unreadable().length === 0) this.#verifiedAtMs = startMs;
    this.#settleTrust(look, watcher);
  }

  /** @param watcher Has heard of what changed since the look began, if that was at everything. */
  #settleTrust({ places, scan }: Look, watcher: VaultWatcher | undefined): void {
    const { watch } = this.#options;
    if (this.#warnings.length > 0) watch?.distrust("a part of the vault cannot be seen");
    else if (places) watch?.afterLook(scan);
    else watch?.afterScan(watcher, scan.folders);
  }

  async #takeIn(look: Look, kind: RunKind): Promise<void> {
    this.#setWarnings(look.scan);
    if (look.scan.rootError === undefined) await this.#apply(look, kind);
  }

  /** Returns `undefined` if everything has to be looked at. */
  async #lookWhereHeard(marked: Iterable<VaultPath> = []): Promise<Look | undefined> {
    const { vault, watch } = this.#options;
    const wasFolder = (place: string) => this.#notes.folders.has(place);
    const heard = await watch?.catchUp(wasFolder);
    if (!heard) return undefined;
    if (!isRootStill(vault, this.#notes.folders)) {
      watch?.distrust("another folder stands where the vault was");
      return undefined;
    }
    const places = new Set([...heard, ...marked, ...this.#notes.unreadable()]);
    return { scan: await this.#scan(scanPlaces(vault, places)), places };
  }

  /** Not a comparison: what else has changed stays unknown. */
  async #lookWhereMarked(): Promise<void> {
    const places = this.#takeMarked();
    if (places.size === 0) return;
    const scan = await this.#scan(scanPlaces(this.#options.vault, places));
    if (scan.rootError === undefined) await this.#apply({ scan, places }, "compare");
  }

  #takeMarked(): ReadonlySet<VaultPath> {
    const marked = this.#marked;
    this.#marked = new Set();
    return marked;
  }

  #scan(steps: Generator<void, VaultScan>): Promise<VaultScan> {
    return new Slicer(this.#options.clock, SCAN_SLICE_MS).run(steps);
  }

  async #apply(look: Look, kind: RunKind): Promise<void> {
    const { outcome, kept } = await this.#notes.apply(look, {
      slicer: new Slicer(this.#options.clock),
      isFull: kind === "reread",
      beforeChanges: () => this.#compaction,
      onProgress: (done, total) => {
        if (kind !== "compare") this.#indexing = { done, total };
      },
      isStopped: () => this.#isClosed,
    });
    this.#outcome = outcome;
    if (kept === 0) return;
    this.#warnings = [
      ...this.#warnings,
      `${kept} notes cannot be seen now, but are not known to be deleted, so that they stay in ` +
      "the index. Is a folder unreadable or a disk not mounted?",
    ];
  }

  /** Whatever differs from the index now, the watcher must have told of, or be about to. */
  async #judgeWatcher(startMs: number): Promise<void> {
    const { clock, watch } = this.#options;
    const proof = this.#proof;
    this.#proof = undefined;
    if (!proof || proof.rootError !== undefined || watch?.mode !== "watch") return;
    const stale = await this.#notes.findStale(proof, new Slicer(clock));
    if (stale.length === 0) return;
    const look = await this.#lookWhereHeard();
    if (!look) return await this.#compare(startMs, "compare");
    if (stale.some((path) => !covers(look.places ?? new Set(), path))) {
      watch.demote();
      return await this.#compare(startMs, "compare");
    }
    await this.#takeIn(look, "compare");
    this.#settleTrust(look, undefined);
  }

  #keepUp(): void {
    if (this.#isClosed) return;
    this.#compaction = this.#compaction.then(() => this.#compact());
    this.#renewal = this.#renewal.then(() => this.#renewWatcher());
  }

  /** Gives back what removed notes took; only the next change waits for it. */
  async #compact(): Promise<void> {
    const { clock, database, logger } = this.#options;
    if (this.#isClosed || !database.isWasteful) return;
    try {
      await new Slicer(clock).run(database.compact());
    } catch (error) {
      logger.error("compaction-failed", { cause: describeFailure(error).cause });
    }
  }

  /** A watcher that is new is of use after one more look at everything. */
  async #renewWatcher(): Promise<void> {
    const { watch } = this.#options;
    if (this.#isClosed || !watch || this.#notes.folders.size === 0) return;
    const isNew = await watch.renew(this.#notes.folders, this.#warnings.length === 0);
    if (!isNew || this.#isClosed) return;
    this.#isCompareDue = true;
    void this.#flight.join().catch(() => undefined);
  }

  #setWarnings(scan: VaultScan): void {
    const before = this.#warnings.length;
    const unreadable = scan.unreadableFolders.size;
    this.#warnings = warningsOf(scan);
    if (this.#warnings.length > before) {
      this.#options.logger.warn("vault-not-readable", { folders: unreadable });
    }
  }
}

function warningsOf({ rootError, unreadableFolders }: VaultScan): string[] {
  if (rootError !== undefined) {
    return [
      `The vault cannot be read (${rootError}), so that answers come from what was read before`,
    ];
  }
  return unreadableFolders.size > 0 ? [`${unreadableFolders.size} folders cannot be read`] : [];
}
