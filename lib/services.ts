/** The only place where parts are put together. */
import { join } from "node:path";
import { Access } from "./access/access.ts";
import { MemoryOff } from "./access/memory_off.ts";
import { Audits } from "./audit/audits.ts";
import type { Config } from "./config.ts";
import type { NoteKind } from "./contracts.ts";
import { type Embedder, isScaled, type ScaledEmbedder } from "./embed/embedder.ts";
import { openEmbedder, openLocalEmbedder } from "./embed/open_embedder.ts";
import { type Cache, type CacheOptions, openCache } from "./index/cache.ts";
import { describeFailure } from "./errors.ts";
import { CHUNKER_VERSION } from "./index/chunker.ts";
import { VECTORS_VERSION } from "./index/embeddings.ts";
import { TOKENIZER_VERSION } from "./index/tokenizer.ts";
import { type EmbeddingOptions, VaultIndex } from "./index/vault_index.ts";
import type { WatchOptions } from "./index/vault_watch.ts";
import { type Notice, Notices } from "./journal/notices.ts";
import { PendingHits } from "./journal/pending_hits.ts";
import { Manifests } from "./memories/manifests.ts";
import { Git, type GitOptions } from "./projects/git.ts";
import { ProjectFolders } from "./projects/project_folders.ts";
import { ProjectStores } from "./projects/project_store.ts";
import { Projects } from "./projects/projects.ts";
import type { Machine } from "@/lib/machine.ts";
import { repoIdOf } from "./projects/repo_identity.ts";
import { type Clock, type Logger, type NewId, type NewUlid, Semaphore } from "./seams.ts";
import { HintSessions } from "./recall/hint_sessions.ts";
import { NearProjects } from "./recall/near_projects.ts";
import { RecallLog } from "./recall/recall_log.ts";
import { RecallLogFile } from "./recall/recall_log_file.ts";
import type { Grep } from "./recall/search_notes.ts";
import { grepVault } from "./vault/grep.ts";
import { newUlid } from "./ulid.ts";
import { VERSION } from "./version.ts";
import { type Recovered, VaultWriter } from "./vault/vault_writer.ts";
import { openVault, type Vault } from "./vault/vault.ts";
import type { VaultPath } from "./vault/vault_path.ts";
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
  /** Absent: no working directory is in a project. */
  readonly git?: GitOptions | undefined;
  /** Where the person's agents keep their files. Absent: that is not known. */
  readonly machine?: Machine | undefined;
  /** Stands in for ULIDs of this machine's clock and chance. */
  readonly newUlid?: NewUlid;
  /** Where keys of providers are looked for. Absent: no provider is ever asked. */
  readonly env?: ReadonlyMap<string, string> | undefined;
  /** Stands in for the model that the configuration names, unless that is none. */
  readonly embedder?: Embedder | undefined;
  /** Stands in for `Deno.watchFs`. */
  readonly openEvents?: OpenEvents;
}

/** All that a request needs. */
export interface Services extends Omit<Seams, "newUlid"> {
  readonly newUlid: NewUlid;
  /** Tells this run of a server from every other one; also in its port file. */
  readonly instanceId: string;
  readonly config: Config;
  readonly access: Access;
  /** The tasks that are done without memory. */
  readonly memoryOff: MemoryOff;
  /** Of the journal, to be written with the next write-back. */
  readonly pendingHits: PendingHits;
  readonly audits: Audits;
  /** The embedder for audits, which runs here; `undefined` where words alone are compared. */
  readonly model: ScaledEmbedder | undefined;
  /** What the person is told when a task begins. */
  readonly notices: Notices;
  readonly vault: Vault;
  readonly index: VaultIndex;
  readonly grep: Grep;
  /** The only way to change the vault. */
  readonly writer: VaultWriter;
  readonly projects: Projects;
  readonly projectFolders: ProjectFolders;
  readonly manifests: Manifests;
  readonly hintSessions: HintSessions;
  readonly nearProjects: NearProjects;
  /** Of hints; told of what is opened. */
  readonly recallLog: RecallLog;
  /** Bounds how many notes are read for people and agents at a time. */
  readonly noteReads: Semaphore;
  /** Begins to read the vault and returns at once; requests are answered meanwhile. */
  start(): void;
  /** Returns when the vault was read whole, for programs that have to wait for it. */
  ready(): Promise<void>;
  /**
   * Returns what became of writes that an earlier run was cut off in, as soon as that is settled;
   * empty if there was none, or before `start()`.
   */
  recovered(): Promise<readonly Recovered[]>;
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
  const journalFolder = join(config.state, "writes");
  const writer = new VaultWriter({ vault, clock, newId: seams.newId, logger, journalFolder });
  const makeUlid = seams.newUlid ?? (() => ulidOf(clock));
  const stores = new ProjectStores({ vault, writer, clock, newUlid: makeUlid });
  const projects = new Projects({ git: new Git(seams.git ?? NO_GIT), stores });
  const manifests = new Manifests({ vault, index, writer, clock, logger });
  const recallFile = new RecallLogFile({
    folder: config.state,
    scope: vault.root,
    clock,
    logger,
  });
  const recallLog = new RecallLog(clock, (events) => recallFile.append(events));
  index.onChanged((paths) => noteUpdates(paths, index, recallLog));
  const greps = new Semaphore(GREPS_AT_ONCE);
  const patterns = new Semaphore(PATTERNS_AT_ONCE);
  const notices = new Notices();
  let recovering: Promise<readonly Recovered[]> = Promise.resolve([]);
  let loading: Promise<void> | undefined;
  let upkeep: Promise<void> | undefined;
  let isClosing = false;
  const load = (): Promise<void> => {
    loading ??= Promise.all([
      // First, so that writes from now on wait for it. The index cannot: a request that came before
      // its load would fill it. It is told of what has changed.
      recovering = recoverWrites(writer, index, logger).then((recovered) => {
        for (const each of recovered) notices.add(toNotice(each));
        return recovered;
      }),
      recallFile.load(recallLog),
      loadIndex(index, logger, () => isClosing),
    ]).then(() => undefined);
    upkeep ??= loading.then(async () => {
      if (!isClosing) await clearUp(writer, logger);
      if (!isClosing) manifests.start();
    });
    return loading;
  };
  return {
    ...seams,
    instanceId: seams.newId(),
    config,
    access: new Access({ mode: config.access, clock, newId: seams.newId, toRepoId: repoIdOf }),
    memoryOff: new MemoryOff(),
    pendingHits: new PendingHits(),
    notices,
    audits: new Audits(),
    model: embedding && auditModel(embedding.embedder, clock),
    vault,
    index,
    newUlid: makeUlid,
    writer,
    projects,
    projectFolders: new ProjectFolders({ vault, clock }),
    manifests,
    hintSessions: new HintSessions(),
    nearProjects: new NearProjects({ clock, vault, projects }),
    recallLog,
    noteReads: new Semaphore(NOTE_READS_AT_ONCE),
    grep: (request) => {
      const files = { vault, excludedGlobs: vault.exclusions.globs };
      const search = () => grepVault({ ...request, ...files, clock, rgPath: seams.ripgrepPath });
      const searchInTurn = () => greps.run(search, request.signal);
      return request.regex ? patterns.run(searchInTurn, request.signal) : searchInTurn();
    },
    start: () => void load(),
    ready: load,
    recovered: () => recovering,
    async close() {
      isClosing = true;
      await index.close();
      await upkeep;
      await manifests.close();
      await recallFile.close();
      cache.close();
    },
  };
}

/** Whatever program changed a memory. */
function noteUpdates(paths: ReadonlySet<VaultPath>, index: VaultIndex, log: RecallLog): void {
  for (const path of paths) {
    const note = index.find(path);
    // Another file with the same id is no new state of it.
    const isOnly = note?.kind === "memory" && index.claimantsOf(note.id).length === 1;
    if (isOnly) log.noteUpdated(note.id, note.etag);
  }
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
  const embedder = seams.embedder ?? openEmbedder(config.remoteModel, seams);
  const { id, dimensions } = embedder;
  const modelId = `${id} ${VECTORS_VERSION}`;
  return {
    embedder,
    weight: config.denseWeight,
    openCache: () => cache.open().embeddingsOf({ modelId, dimensions }),
  };
}

/** Audits compare what is most private, in numbers that were measured with the model that runs here. */
function auditModel(embedder: Embedder, clock: Clock): ScaledEmbedder {
  return isScaled(embedder) ? embedder : openLocalEmbedder(clock);
}

function toWatch(config: Config, seams: Seams): WatchOptions | undefined {
  if (config.freshness === "scan") return undefined;
  return {
    cookieFolder: join(config.state, "watch"),
    openEvents: seams.openEvents ?? Deno.watchFs,
    newId: seams.newId,
  };
}

const NO_GIT: GitOptions = { path: undefined, env: {} };

function ulidOf(clock: Clock): string {
  return newUlid(clock.nowMs(), crypto.getRandomValues(new Uint8Array(10)));
}

/** Finishes what an earlier run was cut off in. */
async function recoverWrites(
  writer: VaultWriter,
  index: VaultIndex,
  logger: Logger,
): Promise<readonly Recovered[]> {
  try {
    const recovered = await writer.recover();
    const paths = recovered.flatMap((each) => [...each.paths, ...each.conflictCopies]);
    for (const path of paths) index.markChanged(path);
    return recovered;
  } catch (error) {
    logger.error("writes-not-recovered", { cause: describeFailure(error).cause });
    return [];
  }
}

/** Tells the person what was finished for them. */
function toNotice({ paths, conflictCopies, left }: Recovered): Notice {
  const copies = conflictCopies.length === 0
    ? ""
    : `; somebody had changed a file meanwhile, and what was to be written there is in ${
      conflictCopies.join(", ")
    }`;
  const undone = left.length === 0 ? "" : `; not yet: ${left.join(", ")}`;
  const text = `A write that was cut off has been finished: ${paths.join(", ")}${copies}${undone}`;
  return { key: `recovered ${text}`, text };
}

/** What an earlier run left when it was cut off; answers need not wait for it. */
async function clearUp(writer: VaultWriter, logger: Logger): Promise<void> {
  try {
    await writer.sweep();
  } catch (error) {
    logger.error("writes-not-cleared-up", { cause: describeFailure(error).cause });
  }
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
