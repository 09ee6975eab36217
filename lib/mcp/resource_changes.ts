/**
 * Tells clients what has changed in the vault, whoever changed it. Changes are collected for a
 * moment, so that a Git checkout is one message and not thousands. While a client listens, somebody
 * has to look: the index hears of changes by itself only where it may rely on that.
 */
import { GLOBAL_SCOPE_ID } from "@/lib/contracts.ts";
import type { NoteEdit, VaultIndex } from "@/lib/index/vault_index.ts";
import type { IndexedNote } from "@/lib/index/indexed_note.ts";
import { isInactive } from "@/lib/index/note_table.ts";
import { PROFILED, type Profiled, profilePath } from "@/lib/journal/profiles.ts";
import { MANIFEST } from "@/lib/memories/read_manifest.ts";
import type { Clock } from "@/lib/seams.ts";
import { pathInStore, storeOf } from "@/lib/vault/kinds.ts";
import type { Vault } from "@/lib/vault/vault.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";
import type { Attention, ResourceChange } from "./client_session.ts";
import { manifestUri, memoryUri, profileUri } from "./resource_uris.ts";

const PROFILES: ReadonlyMap<VaultPath, Profiled> = new Map(
  PROFILED.map((who) => [profilePath(who), who]),
);
/** How long changes are collected, and so how often clients are told at the most. */
const TELL_DELAY_MS = 300;
/** How often the vault is looked at where nothing is heard of changes. */
const LOOK_EVERY_MS = 2_000;
/** A look is to take no more than one part of so many of the time. */
const LOOK_SHARE = 20;

export interface ResourceChangesOptions {
  readonly vault: Vault;
  readonly index: Pick<VaultIndex, "freshness" | "indexing" | "onChanged" | "refresh">;
  readonly clock: Clock;
  /** Of all clients together: of the one that pays most. */
  readonly audience: () => Attention;
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
  /** Whether there is a next look, or one under way. */
  #isLooking = false;
  /** Whether the vault was being read at the last look: what that brings in is told by nobody. */
  #wasIndexing = false;
  #isClosed = false;

  constructor(options: ResourceChangesOptions) {
    this.#options = { tellDelayMs: TELL_DELAY_MS, lookEveryMs: LOOK_EVERY_MS, ...options };
    this.#unsubscribe = options.index.onChanged((paths, edits) => this.#note(paths, edits));
  }

  /** To be called when a client begins to listen. */
  watch(): void {
    this.#wasIndexing ||= this.#options.index.indexing !== undefined;
    if (this.#isLooking || this.#isClosed) return;
    this.#isLooking = true;
    this.#lookAfter(this.#options.lookEveryMs);
  }

  /** Tells nobody anything any more. */
  close(): void {
    this.#isClosed = true;
    this.#unsubscribe();
    clearTimeout(this.#tellTimer);
    clearTimeout(this.#lookTimer);
  }

  #note(paths: ReadonlySet<VaultPath>, edits: readonly NoteEdit[]): void {
    if (this.#options.audience() === "none") return;
    for (const path of paths) this.#noteFile(path);
    for (const edit of edits) this.#noteEdit(edit);
    if (isListChangedBy(edits)) this.#isListChanged = true;
    this.#tellSoon();
  }

  #noteFile(path: VaultPath): void {
    const who = PROFILES.get(path);
    if (who !== undefined) this.#uris.add(profileUri(who));
    const store = storeOf(this.#options.vault, path);
    if (store === undefined) return;
    const inner = pathInStore(path, store);
    if (inner === MANIFEST) this.#uris.add(manifestUri(store.scopeId));
    // It says whose store it is, and that there is one.
    const isProject = store.scopeId !== GLOBAL_SCOPE_ID;
    if (isProject && inner === "project.md") this.#isListChanged = true;
  }

  #noteEdit({ path, before, after }: NoteEdit): void {
    this.#uris.add(memoryUri(path));
    for (const note of [before, after]) if (note) this.#uris.add(memoryUri(note.id));
  }

  #tellSoon(): void {
    if (this.#uris.size === 0 && !this.#isListChanged) return;
    this.#tellTimer ??= setTimeout(() => this.#tell(), this.#options.tellDelayMs);
    Deno.unrefTimer(this.#tellTimer);
  }

  #tell(): void {
    const change = { uris: this.#uris, isListChanged: this.#isListChanged };
    this.#uris = new Set();
    this.#isListChanged = false;
    this.#tellTimer = undefined;
    if (!this.#isClosed) this.#options.tell(change);
  }

  #lookAfter(ms: number): void {
    this.#lookTimer = setTimeout(() => void this.#look(), ms);
    Deno.unrefTimer(this.#lookTimer);
  }

  async #look(): Promise<void> {
    const { audience, clock, index, lookEveryMs } = this.#options;
    const startMs = clock.monotonicMs();
    const isIndexing = index.indexing !== undefined;
    if (this.#wasIndexing && !isIndexing) {
      this.#isListChanged = true;
      this.#tellSoon();
    }
    this.#wasIndexing = isIndexing;
    // Heard of: then the index looks by itself.
    if (index.freshness.mode === "scan") await index.refresh().catch(() => undefined);
    this.#isLooking = !this.#isClosed && audience() === "here";
    if (!this.#isLooking) return;
    const tookMs = clock.monotonicMs() - startMs;
    this.#lookAfter(Math.max(lookEveryMs, tookMs * LOOK_SHARE));
  }
}

/** Tells whether the list of resources shows other lines; a file that was moved is the same line. */
function isListChangedBy(edits: readonly NoteEdit[]): boolean {
  const lines = new Map<string, number>();
  const count = (note: IndexedNote | undefined, change: 1 | -1): void => {
    const line = describe(note);
    if (line !== undefined) lines.set(line, (lines.get(line) ?? 0) + change);
  };
  for (const { before, after } of edits) {
    count(before, -1);
    count(after, 1);
  }
  return lines.values().some((number) => number !== 0);
}

function describe(note: IndexedNote | undefined): string | undefined {
  if (note !== undefined && PROFILES.has(note.path)) return note.path;
  if (note?.kind !== "memory" || isInactive(note)) return undefined;
  return JSON.stringify([note.id, note.name, note.description]);
}
