/**
 * Tells clients what has changed in the vault, whoever changed it. Changes are collected for a
 * moment, so that a Git checkout is one message and not thousands. While a client listens, somebody
 * has to look: the index hears of changes by itself only where it may rely on that.
 */
import { GLOBAL_SCOPE_ID } from "@/lib/contracts.ts";
import type { NoteEdit, VaultIndex } from "@/lib/index/vault_index.ts";
import type { IndexedNote } from "@/lib/index/indexed_note.ts";
import { PROFILED, profilePath } from "@/lib/journal/profiles.ts";
import { manifestOf } from "@/lib/memories/read_manifest.ts";
import type { Clock } from "@/lib/seams.ts";
import { storeOf } from "@/lib/vault/kinds.ts";
import type { Vault } from "@/lib/vault/vault.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";
import type { ResourceChange } from "./client_session.ts";
import { manifestUri, memoryUri, profileUri } from "./resource_uris.ts";

/** How long changes are collected, and so how often clients are told at the most. */
export const TELL_DELAY_MS = 500;
/** How often the vault is looked at where nothing is heard of changes. */
export const LOOK_EVERY_MS = 2_000;
/** A look is to take no more than one part of so many of the time. */
const LOOK_SHARE = 20;

export interface ResourceChangesOptions {
  readonly vault: Vault;
  readonly index: Pick<VaultIndex, "freshness" | "onChanged" | "refresh">;
  readonly clock: Clock;
  /** Tells whether any client wants to hear of changes. */
  readonly isAnybodyListening: () => boolean;
  readonly tell: (change: ResourceChange) => void;
  readonly tellDelayMs?: number;
  readonly lookEveryMs?: number;
}

/** Follows the index from the moment it is made. */
export class ResourceChanges {
  readonly #options: Required<ResourceChangesOptions>;
  readonly #unsubscribe: () => void;
  #uris = new Set<string>();
  #isListChanged = false;
  #tellTimer: ReturnType<typeof setTimeout> | undefined;
  #lookTimer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(options: ResourceChangesOptions) {
    this.#options = { tellDelayMs: TELL_DELAY_MS, lookEveryMs: LOOK_EVERY_MS, ...options };
    this.#unsubscribe = options.index.onChanged((paths, edits) => this.#note(paths, edits));
  }

  /** To be called when a client begins to listen. */
  watch(): void {
    if (this.#lookTimer === undefined) this.#lookAfter(this.#options.lookEveryMs);
  }

  /** Tells nobody anything any more. */
  close(): void {
    this.#isClosed = true;
    this.#unsubscribe();
    clearTimeout(this.#tellTimer);
    clearTimeout(this.#lookTimer);
  }

  #note(paths: ReadonlySet<VaultPath>, edits: readonly NoteEdit[]): void {
    if (!this.#options.isAnybodyListening()) return;
    for (const path of paths) this.#noteFile(path);
    for (const edit of edits) this.#noteEdit(edit);
    if (this.#uris.size === 0 && !this.#isListChanged) return;
    this.#tellTimer ??= setTimeout(() => this.#tell(), this.#options.tellDelayMs);
    Deno.unrefTimer(this.#tellTimer);
  }

  #noteFile(path: VaultPath): void {
    const { vault } = this.#options;
    const who = PROFILED.find((each) => profilePath(each) === path);
    if (who !== undefined) this.#uris.add(profileUri(who));
    const store = storeOf(vault, path);
    if (store === undefined) return;
    if (path === manifestOf(store.folder)) this.#uris.add(manifestUri(store.scopeId));
    // It says whose store it is, and that there is one.
    const isProject = store.scopeId !== GLOBAL_SCOPE_ID;
    if (isProject && path === `${store.folder}/project.md`) this.#isListChanged = true;
  }

  #noteEdit({ path, before, after }: NoteEdit): void {
    this.#uris.add(memoryUri(path));
    for (const note of [before, after]) if (note) this.#uris.add(memoryUri(note.id));
    const isProfile = PROFILED.some((who) => profilePath(who) === path);
    const isNewOrGone = before === undefined || after === undefined;
    if (describe(before) !== describe(after) || (isProfile && isNewOrGone)) {
      this.#isListChanged = true;
    }
  }

  #tell(): void {
    const change = { uris: this.#uris, isListChanged: this.#isListChanged };
    this.#uris = new Set();
    this.#isListChanged = false;
    this.#tellTimer = undefined;
    if (!this.#isClosed) this.#options.tell(change);
  }

  #lookAfter(ms: number): void {
    if (this.#isClosed) return;
    this.#lookTimer = setTimeout(() => void this.#look(), ms);
    Deno.unrefTimer(this.#lookTimer);
  }

  async #look(): Promise<void> {
    const { clock, index, isAnybodyListening, lookEveryMs } = this.#options;
    this.#lookTimer = undefined;
    if (!isAnybodyListening()) return;
    const startMs = clock.monotonicMs();
    // Heard of: then the index looks by itself.
    if (index.freshness.mode === "scan") await index.refresh().catch(() => undefined);
    const tookMs = clock.monotonicMs() - startMs;
    this.#lookAfter(Math.max(lookEveryMs, tookMs * LOOK_SHARE));
  }
}

/** What the list of resources shows of a note. */
function describe(note: IndexedNote | undefined): string {
  if (note?.kind !== "memory") return "";
  const { id, name, description, status } = note;
  return JSON.stringify([id, name, description, status]);
}
