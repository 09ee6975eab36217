/** The only place where parts are put together. */
import type { Config } from "./config.ts";
import type { NoteKind } from "./contracts.ts";
import type { Embedder } from "./embed/embedder.ts";
import { readModelFile } from "./embed/model_file.ts";
import { StaticEmbedder } from "./embed/static_embedder.ts";
import { openEmbeddingCache } from "./index/cache.ts";
import { VECTORS_VERSION } from "./index/embeddings.ts";
import { type EmbeddingOptions, VaultIndex } from "./index/vault_index.ts";
import { type Clock, type Logger, type NewId, Semaphore } from "./seams.ts";
import type { Grep } from "./recall/search_notes.ts";
import { grepVault } from "./vault/grep.ts";
import { openVault, type Vault } from "./vault/vault.ts";

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
  const embedding = toEmbedding(config, seams);
  const index = new VaultIndex({ vault, clock, logger, onlyKinds, embedding });
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
    close() {
      isClosing = true;
      return index.close();
    },
  };
}

function toEmbedding(config: Config, seams: Seams): EmbeddingOptions | undefined {
  if (config.embedding === "none") return undefined;
  const { clock, logger } = seams;
  const embedder = seams.embedder ?? new StaticEmbedder({ clock, read: readModelFile });
  const { id, dimensions } = embedder;
  const modelId = `${id} ${VECTORS_VERSION}`;
  return {
    embedder,
    weight: config.denseWeight,
    openCache: () => openEmbeddingCache({ folder: config.state, modelId, dimensions, logger }),
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
