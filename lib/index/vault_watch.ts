/**
 * Whether the index may rely on being told of changes, instead of looking at every file. A watcher
 * is relied on from the first whole look at the vault on that began after it was open. Whatever is
 * odd ends that: then there is a whole look before each answer, until a new watcher is open.
 */
import { dirname } from "node:path";
import { describeFailure } from "@/lib/errors.ts";
import type { Clock, Logger, NewId } from "@/lib/seams.ts";
import { unheardBecause } from "@/lib/vault/local_disk.ts";
import type { FolderStamp, VaultScan } from "@/lib/vault/scan.ts";
import { isAbsence, type Vault } from "@/lib/vault/vault.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";
import { type OpenEvents, VaultWatcher } from "@/lib/vault/watcher.ts";
import { planWatch } from "@/lib/vault/watch_plan.ts";

/** After so many cookies in a row that came late, nothing is waited for for a while. */
const MAX_LATE = 5;
/** After so many watchers that were out of date when they were open, nothing is tried for a while. */
const MAX_TRIES = 5;
/** How long nothing is tried after that, or when a watcher cannot be opened. */
const REST_MS = 60_000;
/** Somebody moves folders about, which ends. */
const SHORT_REST_MS = 5_000;

export interface WatchOptions {
  /** Inside the state directory. */
  readonly cookieFolder: string;
  readonly openEvents: OpenEvents;
  readonly newId: NewId;
}

export interface VaultWatchOptions extends WatchOptions {
  readonly vault: Vault;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What the state of a watcher is worth, and what people should know of it. */
export class VaultWatch {
  readonly #options: VaultWatchOptions;
  #watcher: VaultWatcher | undefined;
  #isTrusted = false;
  #opening: Promise<void> | undefined;
  /** Why there is no watcher now, for people. */
  #reason: string | undefined;
  #restUntilMs = 0;
  #isDemoted = false;
  #lateCount = 0;
  /** How many watchers were opened since one could be relied on. */
  #tries = 0;
  #isClosed = false;

  #onHeard: (() => void) | undefined;

  constructor(options: VaultWatchOptions) {
    this.#options = options;
  }

  /** Has something called whenever a change is heard of, before anybody asks for it. */
  onHeard(listener: () => void): void {
    this.#onHeard = listener;
  }

  get mode(): "scan" | "watch" {
    return this.#isTrusted ? "watch" : "scan";
  }

  /** Why every file is looked at, where that is going to stay so for a while. */
  get reason(): string | undefined {
    return this.#isTrusted ? undefined : this.#reason;
  }

  /**
   * Returns the files that may have changed since the last call, `undefined` if only a look at
   * everything can tell; then `beforeScan()` and `afterScan()` have to frame that.
   *
   * @param wasFolder Tells whether a place was a folder when it was last looked at.
   */
  async catchUp(
    wasFolder: (place: string) => boolean,
  ): Promise<ReadonlySet<VaultPath> | undefined> {
    const watcher = this.#watcher;
    if (!watcher || !this.#isTrusted) return undefined;
    const state = await watcher.catchUp();
    if (state === "late") {
      if (++this.#lateCount >= MAX_LATE) this.#rest("events come too late");
      return undefined;
    }
    this.#lateCount = 0;
    const heard = state === "caught-up" ? watcher.take(wasFolder) : undefined;
    if (heard && watcher.lost === undefined && this.#watcher === watcher) return heard;
    this.distrust(watcher.lost ?? "it was closed");
    return undefined;
  }

  /** Returns the watcher that has heard all that changes while the scan runs. */
  beforeScan(): VaultWatcher | undefined {
    return this.#watcher?.lost === undefined ? this.#watcher : undefined;
  }

  /**
   * Takes note of a look at the whole vault.
   *
   * @param watcher What `beforeScan()` returned.
   * @param folders What the scan saw: all of them.
   */
  afterScan(
    watcher: VaultWatcher | undefined,
    folders: ReadonlyMap<string, FolderStamp>,
  ): void {
    if (this.#isTrusted || this.#isDemoted) return;
    watcher?.check(folders);
    this.#isTrusted = watcher !== undefined && watcher === this.#watcher &&
      watcher.lost === undefined;
    if (!this.#isTrusted) return;
    this.#tries = 0;
    this.#options.logger.debug("watching");
  }

  /** Takes note of a look at some files that were heard of. */
  afterLook({ folders, unreadableFolders }: VaultScan): void {
    if (folders.size + unreadableFolders.size > 0) this.distrust("a folder changed");
  }

  /** Ends it that the watcher is relied on: what was heard may not be all. */
  distrust(why: string): void {
    if (!this.#isTrusted) return;
    this.#isTrusted = false;
    this.#watcher?.lose(why);
    this.#options.logger.debug("watcher-distrusted", { why });
  }

  /** Never relies on it again: it has missed a change. */
  demote(): void {
    this.#isDemoted = true;
    this.#isTrusted = false;
    this.#reason = "the watcher has missed a change";
    this.#options.logger.warn("watcher-demoted");
  }

  /**
   * Sees to it that there is a watcher, for the folders of the last scan; to be called while
   * nothing else changes the index, and another scan has to follow.
   *
   * @returns True if one was opened.
   */
  async renew(folders: ReadonlyMap<string, FolderStamp>, isWhole: boolean): Promise<boolean> {
    if (this.#isTrusted || this.#isClosed) return false;
    const isUsable = this.#watcher !== undefined && this.#watcher.lost === undefined;
    if (isUsable && !this.#isDemoted) return false;
    await this.#closeWatcher();
    if (this.#isDemoted || this.#isResting()) return false;
    if (!isWhole) {
      this.#rest("a part of the vault cannot be seen");
      return false;
    }
    if (++this.#tries > MAX_TRIES) {
      this.#rest("folders come and go all the time", SHORT_REST_MS);
      return false;
    }
    this.#opening = this.#open(folders);
    await this.#opening;
    this.#opening = undefined;
    return this.#watcher !== undefined;
  }

  /** True while a look at everything before each answer is the exception. */
  get isHopeful(): boolean {
    return !this.#isDemoted && (this.#isTrusted || !this.#isResting());
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#isTrusted = false;
    await this.#opening;
    await this.#closeWatcher();
  }

  async #open(folders: ReadonlyMap<string, FolderStamp>): Promise<void> {
    const { vault, cookieFolder, newId, openEvents, logger } = this.#options;
    const unheard = this.#unheardBecause(folders);
    if (unheard !== undefined) return this.#rest(unheard);
    const plan = planWatch(folders);
    if (!plan) return this.#rest("too many folders lie beside some that must not be watched");
    try {
      const id = newId();
      const onHeard = () => this.#onHeard?.();
      const options = { vault, plan, cookieFolder, id, openEvents, onHeard };
      this.#watcher = await VaultWatcher.open(options);
      this.#reason = undefined;
    } catch (error) {
      // A folder has gone since it was seen: the next look knows better.
      if (isAbsence(error)) return;
      logger.warn("watcher-not-opened", { cause: describeFailure(error).cause });
      this.#rest("no watcher can be opened; see the log");
    }
  }

  #unheardBecause(folders: ReadonlyMap<string, FolderStamp>): string | undefined {
    const { vault, cookieFolder } = this.#options;
    const unheard = unheardBecause(vault.root);
    if (unheard !== undefined) return unheard;
    const devices = new Set([...folders.values()].map(({ dev }) => dev));
    if (devices.size > 1) return "the vault lies on more than one device";
    const state = deviceOf(cookieFolder);
    return state !== undefined && devices.has(state)
      ? undefined
      : "the vault and the state lie on different devices";
  }

  #rest(reason: string, restMs: number = REST_MS): void {
    if (this.#reason !== reason) this.#options.logger.info("not-watching", { reason });
    this.#reason = reason;
    this.#restUntilMs = this.#options.clock.monotonicMs() + restMs;
    this.#lateCount = 0;
    this.#tries = 0;
    this.distrust(reason);
  }

  #isResting(): boolean {
    return this.#options.clock.monotonicMs() < this.#restUntilMs;
  }

  async #closeWatcher(): Promise<void> {
    const watcher = this.#watcher;
    this.#watcher = undefined;
    await watcher?.close();
  }
}

/** Returns on which device a folder lies, or will lie once it is made. */
function deviceOf(folder: string): number | undefined {
  try {
    return Deno.statSync(folder).dev;
  } catch {
    const parent = dirname(folder);
    return parent === folder ? undefined : deviceOf(parent);
  }
}
