/**
 * Runs ripgrep, in two steps. First it counts: a path and a number for each file with a match, so
 * that a word which stands in every note costs no more than a rare one. Then, for patterns that
 * only ripgrep understands to the letter, it says where the lines of a few files match.
 */
import { InvalidRequest } from "@/lib/errors.ts";
import type { GrepPattern } from "./_builtin_grep.ts";
import { readMatchPlaces } from "./_ripgrep_json.ts";
import { MAX_NOTE_BYTES } from "./vault.ts";
import type { VaultPath } from "./vault_path.ts";

export interface RipgrepJob {
  readonly rgPath: string;
  /** The real path of the vault. */
  readonly root: string;
  readonly pattern: GrepPattern;
  readonly timeLimitMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** `unusable`: this ripgrep does not start, or does not understand us. */
export type RipgrepEnd = "complete" | "timed-out" | "unusable";

/** Of a compiled pattern: a tenth of ripgrep's own limit, where compiling takes seconds. */
const MAX_REGEX_BYTES = 10 * 1024 * 1024;
const MAX_COMPLAINT_CHARS = 8 * 1024;
const NUL = 0;
const LF = 10;

/**
 * Searches the whole vault and tells of each file with a match, in no order.
 *
 * @param options.excludedGlobs Globs as in `.gitignore`, compared without regard to case.
 * @param options.onFile Hears the path as it is on disk, and how many lines match.
 * @throws {InvalidRequest} If the regular expression is none.
 */
export async function countMatches(
  job: RipgrepJob,
  options: {
    readonly excludedGlobs: readonly string[];
    readonly onFile: (path: string, matchCount: number) => void;
  },
): Promise<RipgrepEnd> {
  const globs = ["*.md", "*.markdown", "!.*", ...options.excludedGlobs.map((glob) => `!${glob}`)];
  const args = [
    "--count",
    "--null",
    "--with-filename",
    // A single thread, as sorting needs, opens excluded folders before it leaves them again.
    "--threads=4",
    // The case-insensitive kind for all: the plain kind is applied before it in any order.
    ...globs.map((glob) => `--iglob=${glob}`),
  ];
  const end = await run(
    job,
    { args, files: ["./"] },
    (stdout) => readCounts(stdout, options.onFile),
  );
  return end.state;
}

/**
 * Finds where lines of some files match; a file that is missing in the result has to be searched
 * in another way.
 *
 * @returns Byte offsets of the first match of each line, at most `keep` of a file.
 */
export async function locateMatches(
  job: RipgrepJob,
  paths: readonly VaultPath[],
  keep: number,
): Promise<ReadonlyMap<string, readonly number[]>> {
  // One thread writes as it goes; several would hold the output of each file in memory.
  const args = ["--json", "--threads=1", `--max-count=${keep}`];
  const files = paths.map((path) => `./${path}`);
  const end = await run(job, { args, files }, readMatchPlaces);
  return end.read ?? new Map();
}

interface Run<T> {
  readonly state: RipgrepEnd;
  readonly read?: T;
}

async function run<T>(
  job: RipgrepJob,
  command: { readonly args: readonly string[]; readonly files: readonly string[] },
  read: (stdout: ReadableStream<Uint8Array>) => Promise<T>,
): Promise<Run<T>> {
  const child = spawn(job, [
    ...command.args,
    ...listCommonArguments(job.pattern),
    ...command.files,
  ]);
  if (child === undefined) return { state: "unusable" };
  const timeOut = AbortSignal.timeout(job.timeLimitMs);
  const stop = job.signal === undefined ? timeOut : AbortSignal.any([job.signal, timeOut]);
  const kill = () => killQuietly(child);
  stop.addEventListener("abort", kill);
  if (stop.aborted) kill();
  try {
    const [complaint, result] = await Promise.all([readHead(child.stderr), read(child.stdout)]);
    const { code } = await child.status;
    job.signal?.throwIfAborted();
    if (timeOut.aborted) return { state: "timed-out", read: result };
    // 2 without a word: some files could not be read, and it was told not to speak of them.
    if (code <= 2 && complaint === "") return { state: "complete", read: result };
    if (job.pattern.regex) throwIfBadPattern(complaint);
    return { state: "unusable" };
  } finally {
    stop.removeEventListener("abort", kill);
    kill();
  }
}

function spawn({ rgPath, root }: RipgrepJob, args: string[]): Deno.ChildProcess | undefined {
  try {
    return new Deno.Command(rgPath, {
      args,
      cwd: root,
      clearEnv: true,
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
  } catch {
    // Whatever keeps it from starting, the built-in engine does its work.
    return undefined;
  }
}

function listCommonArguments({ text, regex, ignoreCase }: GrepPattern): string[] {
  return [
    "--no-config",
    "--no-ignore",
    "--no-messages",
    "--no-mmap",
    "--text",
    "--crlf",
    "--encoding=none",
    "--path-separator=/",
    `--max-filesize=${MAX_NOTE_BYTES}`,
    `--regex-size-limit=${MAX_REGEX_BYTES}`,
    ignoreCase ? "--ignore-case" : "--case-sensitive",
    ...(regex ? [] : ["--fixed-strings"]),
    `--regexp=${text}`,
    "--",
  ];
}

function killQuietly(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

/** Reads a stream to its end, so that its writer never blocks, and returns its beginning. */
async function readHead(stream: ReadableStream<Uint8Array>): Promise<string> {
  let head = "";
  const decoder = new TextDecoder();
  for await (const chunk of stream) {
    if (head.length < MAX_COMPLAINT_CHARS) head += decoder.decode(chunk, { stream: true });
  }
  return head.slice(0, MAX_COMPLAINT_CHARS);
}

/** Repeats what ripgrep says of a pattern, without the pattern and its other advice. */
function throwIfBadPattern(complaint: string): void {
  const reason = /^error: (.+)$/m.exec(complaint)?.[1] ??
    /^rg: (.*(?:not allowed in a regex|regex exceeds size limit).*)$/m.exec(complaint)?.[1];
  if (reason === undefined) return;
  throw new InvalidRequest(`Cannot use the query as a regular expression: ${reason}`);
}

/** Reads records of a path, NUL, a number and a line end; any byte but NUL may be in a path. */
async function readCounts(
  stream: ReadableStream<Uint8Array>,
  onFile: (path: string, matchCount: number) => void,
): Promise<void> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let pending = new Uint8Array();
  for await (const chunk of stream) {
    const bytes = concat(pending, chunk);
    let start = 0;
    for (;;) {
      const pathEnd = bytes.indexOf(NUL, start);
      const end = pathEnd < 0 ? -1 : bytes.indexOf(LF, pathEnd);
      if (end < 0) break;
      const path = decodePath(decoder, bytes.subarray(start, pathEnd));
      const matchCount = Number.parseInt(String.fromCharCode(...bytes.subarray(pathEnd + 1, end)));
      if (path !== undefined) onFile(path, matchCount);
      start = end + 1;
    }
    pending = bytes.slice(start);
  }
}

function concat(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(head.length + tail.length);
  both.set(head);
  both.set(tail, head.length);
  return both;
}

/** Returns `undefined` for a name that is not valid UTF-8: no path of ours can mean that file. */
function decodePath(decoder: TextDecoder, bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes).replace(/^\.\//, "");
  } catch {
    // Told by the return value.
    return undefined;
  }
}
