/** The only place where parts are put together. */
import { join } from "node:path";
import type { Config } from "./config.ts";
import type { NoteKind } from "./contracts.ts";
import type { Embedder } from "./embed/embedder.ts";
import { readModelFile } from "./embed/model_file.ts";
import { StaticEmbedder } from "./embed/static_embedder.ts";
import { type Cache, type CacheOptions, openCache } from "./index/cache.ts";
import { CHUNKER_VERSION } from "./index/chunker.ts";
import { VECTORS_VERSION } from "./index/embeddings.ts";
import { TOKENIZER_VERSION } from "./index/tokenizer.ts";
import { type EmbeddingOptions, VaultIndex } from "./index/vault_index.ts";
import type { WatchOptions } from "./index/vault_watch.ts";
import { type Clock, type Logger, type NewId, Semaphore } from "./seams.ts";
import type { Grep } from "./recall/search_notes.ts";
import { grepVault } from "./vault/grep.ts";
import { VERSION } from "./version.ts";
import { openVault, type Vault } from "./vault/vault.ts";
import type { OpenEvents } from "./vault/watcher.ts";

/** More at once would answer none sooner, and everything else later. */
const GREPS_AT_ONCE = 2;
/** Fewer than all: a pattern may take seconds, for which plain texts should not have to wait. */
const PATTERNS_AT_ONCE = 1;

/** A large note takes a hundred megabytes while it is read. */
const NOTE_READS_AT_ONCE = 2;

/** What comes from the machine, so that a test can replace it. */
export interface Seams {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly newId: NewId;
  /** Path of ripgrep's binary; `undefined` = the built-in scanner. */
  readonly ripgrepPath: string | undefined;
  /** Stands in for the model that the configuration names, unless that is none. */
  readonly embedder?: Embedder;
  /** Stands in for `Deno.watchFs`. */
  readonly openEvents?: OpenEvents;
}

/** All that a request needs. */
export interface Services extends Seams {
  readonly config: Config;
  readonly vault: Vault;
  readonly index: VaultIndex;
  readonly grep: Grep;
  /** Bounds how many notes are read for people and agents at a time. */
  readonly noteReads: Semaphore;
  /** Begins to read the vault and returns at once; requests are answered meanwhile. */
  start(): void;
  /** Returns when the vault was read whole, for programs that have to wait for it. */
  ready(): Promise<void>;
  /** Ends work under way. */
  close(): Promise<void>;
}

/**
 * Wires everything for one vault. Nothing is read before `start()`.
 *
 * @throws {ConfigError} If the vault cannot be opened.
 */
export function createServices(config: Config, seams: Seams): Services {
  const { clock, logger } = seams;
  const vault = openVault({
    root: config.vault,
    memoriesFolder: config.memoriesFolder,
    exclude: config.exclude,
  });
  const onlyKinds = config.index === "memories" ? new Set<NoteKind>(["memory"]) : undefined;
  const cache = new LateCache({ folder: config.state, scope: vault.root, logger });
  const embedding = toEmbedding(config, seams, cache);
  const watch = toWatch(config, seams);
  const state = {
    files: () => cache.open().files,
    snapshot: { folder: config.state, key: snapshotKeyOf(config, vault, embedding) },
  };
  const index = new VaultIndex({ vault, clock, logger, onlyKinds, embedding, watch, state });
  const greps = new Semaphore(GREPS_AT_ONCE);
  const patterns = new Semaphore(PATTERNS_AT_ONCE);
  let loading: Promise<void> | undefined;
  let isClosing = false;
  const load = (): Promise<void> => loading ??= loadIndex(index, logger, () => isClosing);
  return {
    ...seams,
    config,
    vault,
    index,
    noteReads: new Semaphore(NOTE_READS_AT_ONCE),
    grep: (request) => {
      const files = { vault, excludedGlobs: vault.exclusions.globs };
      const search = () => grepVault({ ...request, ...files, clock, rgPath: seams.ripgrepPath });
      const searchInTurn = () => greps.run(search, request.signal);
      return request.regex ? patterns.run(searchInTurn, request.signal) : searchInTurn();
    },
    start: () => void load(),
    ready: load,
    async close() {
      isClosing = true;
      await index.close();
      cache.close();
    },
  };
}

/** The cache of the state directory, opened when it is needed first. */
class LateCache {
  readonly #options: CacheOptions;
  #cache: Cache | undefined;

  constructor(options: CacheOptions) {
    this.#options = options;
  }

  open(): Cache {
    return this.#cache ??= openCache(this.#options);
  }

  close(): void {
    this.#cache?.close();
  }
}

/** Names all that decides what the index of a vault holds, beside the notes themselves. */
function snapshotKeyOf(
  { exclude, index }: Config,
  { memoriesFolder, root }: Vault,
  embedding: EmbeddingOptions | undefined,
): string {
  const { id, dimensions } = embedding?.embedder ?? {};
  return JSON.stringify({
    program: VERSION,
    rules: [CHUNKER_VERSION, TOKENIZER_VERSION, VECTORS_VERSION],
    model: [id ?? null, dimensions ?? null],
    vault: [root, memoriesFolder, index, ...exclude],
  });
}

function toEmbedding(
  config: Config,
  seams: Seams,
  cache: LateCache,
): EmbeddingOptions | undefined {
  if (config.embedding === "none") return undefined;
  const { clock } = seams;
  const embedder = seams.embedder ?? new StaticEmbedder({ clock, read: readModelFile });
  const { id, dimensions } = embedder;
  const modelId = `${id} ${VECTORS_VERSION}`;
  return {
    embedder,
    weight: config.denseWeight,
    openCache: () => cache.open().embeddingsOf({ modelId, dimensions }),
  };
}

function toWatch(config: Config, seams: Seams): WatchOptions | undefined {
  if (config.freshness === "scan") return undefined;
  return {
    cookieFolder: join(config.state, "watch"),
    openEvents: seams.openEvents ?? Deno.watchFs,
    newId: seams.newId,
  };
}

async function loadIndex(
  index: VaultIndex,
  logger: Logger,
  isClosing: () => boolean,
): Promise<void> {
  try {
    await index.load();
    if (isClosing()) return;
    const { notes, memories, chunks } = index.counts;
    logger.info("vault-indexed", { notes, memories, chunks });
  } catch (error) {
    // Not its message, which may hold text and paths of the vault.
    logger.error("vault-not-indexed", { cause: error instanceof Error ? error.name : "?" });
  }
}
