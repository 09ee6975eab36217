/**
 * Text search over the files themselves, so that it works however stale an index is. Ripgrep only
 * says which files match; what is shown of a note is read the way all notes are read, which
 * refuses links and excluded folders once more, so both engines show the same lines.
 */
import { AppError, IndexNotReady, InvalidRequest } from "@/lib/errors.ts";
import { type Clock, Slicer, systemClock } from "@/lib/seams.ts";
import { createLineFinder, type GrepPattern, type LineFinder } from "./_builtin_grep.ts";
import { type CountedFile, type FileOrder, FileQueue, sortByFolder } from "./_file_queue.ts";
import { type GrepMatch, showMatch, toCharOffsets } from "./_match_lines.ts";
import { countMatches, locateMatches, type RipgrepJob } from "./_ripgrep.ts";
import { decodeNote, type NoteText } from "./note_text.ts";
import { scanVault } from "./scan.ts";
import { readFile, type Vault } from "./vault.ts";
import { parseVaultPath, type VaultPath } from "./vault_path.ts";

export const GREP_TIME_LIMIT_MS = 5_000;
/** How long files may be confirmed once all are counted. */
const CONFIRM_TIME_LIMIT_MS = 2_000;
/** More lines of one file are counted, not shown. */
export const MAX_MATCHES_PER_FILE = 20;

export interface GrepRequest {
  readonly vault: Vault;
  /** Without it, or if it does not start, the built-in engine searches. */
  readonly rgPath?: string | undefined;
  /** A literal text within one line; case counts only if it has an upper-case letter. */
  readonly query: string;
  /** True if the query is a regular expression in ripgrep's dialect. */
  readonly regex?: boolean;
  /** How many files to show at the most; all are counted. */
  readonly limit: number;
  /** How many of the first files not to show; 0 without it. */
  readonly skip?: number;
  /** `path` without it. */
  readonly order?: FileOrder;
  /** Asked for each file that matches. */
  readonly isWanted: (path: VaultPath) => boolean;
  /**
   * The last word on a wanted file, where that is too dear to be asked for each: in order, down to
   * the last one that is shown. Whom it refuses is neither shown, skipped nor counted.
   */
  readonly confirm?: (path: VaultPath) => Promise<boolean>;
  /**
   * Globs as in `.gitignore`, relative to the root, for what ripgrep must not even open; they
   * should cover the vault's exclusions, which are checked again in any case.
   */
  readonly excludedGlobs: readonly string[];
  readonly timeLimitMs?: number;
  readonly clock?: Clock;
  readonly signal?: AbortSignal | undefined;
}

export interface GrepFile {
  readonly path: VaultPath;
  /**
   * By line, the first `MAX_MATCHES_PER_FILE` ones; none where ripgrep did not have the time to
   * tell the place and its pattern means nothing to the built-in engine.
   */
  readonly matches: readonly GrepMatch[];
  /** How many lines match. */
  readonly matchCount: number;
}

export interface GrepResult {
  readonly engine: "ripgrep" | "built-in";
  /** `limit` ones after `skip` in the order that was asked for; equals are sorted by path. */
  readonly files: readonly GrepFile[];
  /** How many wanted files match, those included that nobody was asked to confirm. */
  readonly total: number;
  /** True if time was up: there may be more files. */
  readonly truncated: boolean;
}

/**
 * Finds the wanted notes that hold a text or match a pattern. Reads files only; follows no link.
 *
 * @throws {InvalidRequest} If the query is empty, holds a line break or NUL, is no regular
 * expression, or one that takes too long.
 * @throws {IndexNotReady} If the vault's root cannot be listed.
 */
export async function grepVault(request: GrepRequest): Promise<GrepResult> {
  const pattern = parsePattern(request);
  const clock = request.clock ?? systemClock;
  const job: Job = {
    request,
    pattern,
    clock,
    slicer: new Slicer(clock),
    deadlineMs: clock.monotonicMs() + (request.timeLimitMs ?? GREP_TIME_LIMIT_MS),
  };
  request.signal?.throwIfAborted();
  const found = await countWithRipgrep(job) ?? await countBuiltIn(job);
  const total = found.first.size;
  const page = await choosePage(job, found.first);
  const files = await showFiles(job, found, page.files);
  return {
    engine: found.engine,
    files,
    total: total - page.refused - (page.files.length - files.length),
    truncated: found.truncated || page.truncated,
  };
}

interface Job {
  readonly request: GrepRequest;
  readonly pattern: GrepPattern;
  readonly clock: Clock;
  readonly slicer: Slicer;
  readonly deadlineMs: number;
}

function parsePattern({ query, regex = false }: GrepRequest): GrepPattern {
  const refuse = (message: string) => {
    throw new InvalidRequest(`Cannot search for this text: it ${message}`, [
      { field: "query", message },
    ]);
  };
  if (query === "") refuse("must not be empty");
  if (/[\n\r\0]/.test(query)) refuse("must not hold a line break or a NUL: lines are searched");
  return { text: query, regex, ignoreCase: !(regex ? namesCase(query) : hasCapital(query)) };
}

function hasCapital(text: string): boolean {
  return /\p{Lu}/u.test(text);
}

/** Looks for capitals to be found, and classes of case; those of `\S`, `\p{Han}`, `(?P<X>` are none. */
function namesCase(pattern: string): boolean {
  const letters = pattern.replace(/\\(?:[pP]\{[^}]*\}|[pP]?.)|\(\?P?<\w+>/gu, "");
  return hasCapital(letters) || /\\[pP]\{\^?(?:L[ltu]\}|Upper|Lower)/.test(pattern);
}

/** All files that match, none of them shown yet. */
interface Found {
  readonly engine: GrepResult["engine"];
  readonly first: FileQueue;
  readonly truncated: boolean;
  /** Absent for a pattern that only ripgrep understands. */
  readonly find: LineFinder | undefined;
}

async function countWithRipgrep(job: Job): Promise<Found | undefined> {
  const { rgPath, excludedGlobs, order } = job.request;
  if (rgPath === undefined) return undefined;
  const first = new FileQueue(order);
  const onFile = (text: string, matchCount: number) => {
    const path = wantedPath(job, text);
    if (path !== undefined) first.add({ path, matchCount });
  };
  const end = await countMatches(ripgrepJob(job, rgPath), { excludedGlobs, onFile });
  if (end === "unusable") return undefined;
  const find = tryCreateLineFinder(job.pattern);
  return { engine: "ripgrep", first, truncated: end === "timed-out", find };
}

function ripgrepJob({ request, pattern, clock, deadlineMs }: Job, rgPath: string): RipgrepJob {
  return {
    rgPath,
    root: request.vault.root,
    pattern,
    timeLimitMs: Math.max(0, deadlineMs - clock.monotonicMs()),
    signal: request.signal,
  };
}

function wantedPath({ request }: Job, text: string): VaultPath | undefined {
  try {
    const path = parseVaultPath(text);
    return !request.vault.exclusions.excludes(path) && request.isWanted(path) ? path : undefined;
  } catch (error) {
    // A name that exists here and not on every system: no note of ours.
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

/** Returns `undefined` for a pattern that only ripgrep understands. */
function tryCreateLineFinder(pattern: GrepPattern): LineFinder | undefined {
  try {
    return createLineFinder(pattern);
  } catch (error) {
    if (error instanceof InvalidRequest) return undefined;
    throw error;
  }
}

async function countBuiltIn(job: Job): Promise<Found> {
  const { request: { vault, isWanted, signal, order }, slicer, clock } = job;
  const find = createLineFinder(job.pattern);
  const scan = await slicer.run(scanVault(vault));
  if (scan.rootError !== undefined) {
    throw new IndexNotReady(
      `Cannot search the vault: its folder cannot be read (${scan.rootError})`,
    );
  }
  const first = new FileQueue(order);
  for (const path of sortByFolder(scan.files.keys())) {
    signal?.throwIfAborted();
    if (clock.monotonicMs() >= job.deadlineMs) {
      return { engine: "built-in", first, truncated: true, find };
    }
    if (!isWanted(path)) continue;
    const matchCount = await slicer.run(countInFile(job, path, find));
    if (matchCount > 0) first.add({ path, matchCount });
  }
  return { engine: "built-in", first, truncated: false, find };
}

function* countInFile(
  { request }: Job,
  path: VaultPath,
  find: LineFinder,
): Generator<void, number> {
  const bytes = readBytes(request.vault, path);
  const note = bytes && (yield* decodeNote(bytes));
  return note === undefined ? 0 : (yield* find(note, 0)).matchCount;
}

interface Page {
  readonly files: readonly CountedFile[];
  readonly refused: number;
  /** True if time was up before all files of the page were confirmed. */
  readonly truncated: boolean;
}

/** Takes out the files up to the end of the page, and keeps those that it shows. */
async function choosePage({ request, clock }: Job, first: FileQueue): Promise<Page> {
  const { limit, skip = 0, confirm, signal } = request;
  const untilMs = clock.monotonicMs() + CONFIRM_TIME_LIMIT_MS;
  const files: CountedFile[] = [];
  let passed = 0;
  let refused = 0;
  while (passed < skip + limit) {
    const file = first.take();
    if (file === undefined) break;
    if (confirm !== undefined) {
      signal?.throwIfAborted();
      if (clock.monotonicMs() >= untilMs) return { files, refused, truncated: true };
      if (!await confirm(file.path)) {
        refused++;
        continue;
      }
    }
    if (passed++ >= skip) files.push(file);
  }
  return { files, refused, truncated: false };
}

/** Shows files; one that has gone since it was counted, or is no note, is left out. */
async function showFiles(
  job: Job,
  { engine, find }: Found,
  counted: readonly CountedFile[],
): Promise<GrepFile[]> {
  const places = engine === "ripgrep" ? await locateIfNeeded(job, counted) : NO_PLACES;
  const files: GrepFile[] = [];
  for (const file of counted) {
    job.request.signal?.throwIfAborted();
    const byteOffsets = places.get(file.path);
    const shown = await job.slicer.run(showFile(job, file, { byteOffsets, find }));
    if (shown !== undefined) files.push(shown);
  }
  return files;
}

const NO_PLACES: ReadonlyMap<string, readonly number[]> = new Map();

/** A literal is found as well without ripgrep; a pattern means exactly what ripgrep takes it for. */
async function locateIfNeeded(
  job: Job,
  files: readonly CountedFile[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  const { rgPath } = job.request;
  if (rgPath === undefined || !job.pattern.regex || files.length === 0) return NO_PLACES;
  const paths = files.map(({ path }) => path);
  return await locateMatches(ripgrepJob(job, rgPath), paths, MAX_MATCHES_PER_FILE);
}

interface Showing {
  /** Where ripgrep says that lines match, if it was asked and could tell. */
  readonly byteOffsets: readonly number[] | undefined;
  readonly find: LineFinder | undefined;
}

function* showFile(
  { request }: Job,
  { path, matchCount }: CountedFile,
  { byteOffsets, find }: Showing,
): Generator<void, GrepFile | undefined> {
  const bytes = readBytes(request.vault, path);
  const note = bytes && (yield* decodeNote(bytes));
  if (bytes === undefined || note === undefined) return undefined;
  const offsets = byteOffsets === undefined
    ? yield* findOffsets(note, find)
    : yield* toCharOffsets(bytes, byteOffsets);
  return { path, matches: offsets.map((offset) => showMatch(note, offset)), matchCount };
}

/** Finds the lines anew; a pattern that only ripgrep can cope with shows none. */
function* findOffsets(
  note: NoteText,
  find: LineFinder | undefined,
): Generator<void, readonly number[]> {
  try {
    return find === undefined ? [] : (yield* find(note, MAX_MATCHES_PER_FILE)).offsets;
  } catch (error) {
    if (error instanceof InvalidRequest) return [];
    throw error;
  }
}

function readBytes(vault: Vault, path: VaultPath): Uint8Array | undefined {
  try {
    return readFile(vault, path).bytes;
  } catch (error) {
    // Gone, a link by now, or not readable: what cannot be read is not found.
    if (error instanceof AppError) return undefined;
    throw error;
  }
}
