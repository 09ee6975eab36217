/**
 * Asks Git which repository a folder belongs to. The folder is named by an agent and may hold a
 * repository that somebody else has made up, so Git is asked for nothing that runs what a
 * repository's configuration names (hooks, fsmonitor, pagers), and may not fetch: in a partial
 * clone, merely naming a missing commit would open a connection by a command of the repository's
 * choice. The folder itself is never looked into: that is left to Git, and whatever goes wrong,
 * the answer is the same as where there is no repository.
 */
import { Buffer } from "node:buffer";
import { basename, dirname, isAbsolute, resolve } from "node:path";
import { Semaphore } from "@/lib/seams.ts";
import {
  applyInsteadOf,
  type InsteadOfRule,
  localRepoId,
  projectNameOf,
  repoIdOf,
} from "./repo_identity.ts";

/** What may be told of a repository: no path, no URL. */
export interface Repository {
  readonly repoId: string;
  /** Whether the id comes from the remote `origin`, or from where the repository lies. */
  readonly source: "origin" | "local";
  readonly name: string;
  /** Absent if HEAD is detached. */
  readonly branch: string | undefined;
  /** The commit of HEAD; absent before the first one. */
  readonly commit: string | undefined;
}

/** Where a repository lies, by real paths: for the person's own commands, and told to no other. */
export interface RepositoryFolders {
  /** The top of the working tree. */
  readonly workTree: string;
  /** What stands for the repository, the same for all its worktrees. */
  readonly root: string;
}

export interface GitOptions {
  /** Without it there is no Git, and nothing is ever found. Needs Git 2.31. */
  readonly path: string | undefined;
  /** All that Git gets to see of the environment: `HOME` and the like, for its configuration. */
  readonly env: Readonly<Record<string, string>>;
  /** For one question, in all its parts. */
  readonly limitMs?: number;
}

export const GIT_TIME_LIMIT_MS = 2_000;
const MAX_PROCESSES = 8;
const MAX_ANSWER_BYTES = 256 * 1024;
const HEADS = "refs/heads/";

const SETTINGS = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"] as const;
const ENV: Readonly<Record<string, string>> = {
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  // Git before 2.39.4 does not know the first, and is kept from connecting by the second.
  GIT_NO_LAZY_FETCH: "1",
  GIT_ALLOW_PROTOCOL: "none",
  LC_ALL: "C",
};

interface Answer {
  readonly code: number;
  readonly text: string;
}

/** Returns `undefined` if there is no answer in time, or none that can be used. */
type Ask = (args: readonly string[]) => Promise<Answer | undefined>;

/** Git on this machine, run as a process for each question, a few at a time; it only reads. */
export class Git {
  readonly #path: string | undefined;
  readonly #env: Readonly<Record<string, string>>;
  readonly #limitMs: number;
  readonly #places = new Semaphore(MAX_PROCESSES);

  constructor({ path, env, limitMs = GIT_TIME_LIMIT_MS }: GitOptions) {
    this.#path = path;
    this.#env = { ...env, ...ENV };
    this.#limitMs = limitMs;
  }

  /**
   * Finds the repository that a folder belongs to.
   *
   * @param cwd An absolute path.
   * @returns `undefined` without a difference for a folder that is missing, forbidden or in no
   * repository, for a repository that is broken or that Git does not trust, and if time is up.
   * @throws The signal's reason if it aborts.
   */
  async find(cwd: string, signal?: AbortSignal): Promise<Repository | undefined> {
    return await this.#within(findRepository, cwd, signal);
  }

  /**
   * Returns the identity that the repository of a folder has, or had, without a remote.
   *
   * @throws The signal's reason if it aborts.
   */
  async findLocalId(cwd: string, signal?: AbortSignal): Promise<string | undefined> {
    const look = async (ask: Ask) => {
      const [place, config] = await Promise.all([findPlace(ask), readConfig(ask)]);
      const root = place && config && await findRoot(ask, place, config);
      return root === undefined ? undefined : localRepoId(root);
    };
    return await this.#within(look, cwd, signal);
  }

  /**
   * Returns where the repository of a folder lies; `undefined` as `find()`, and outside of a working
   * tree.
   *
   * @throws The signal's reason if it aborts.
   */
  async findFolders(cwd: string, signal?: AbortSignal): Promise<RepositoryFolders | undefined> {
    const look = async (ask: Ask) => {
      const [place, config] = await Promise.all([findPlace(ask), readConfig(ask)]);
      if (!place?.isInWorkTree || config === undefined) return undefined;
      const [workTree, root] = await Promise.all([findTop(ask), findRoot(ask, place, config)]);
      const isKnown = workTree !== undefined && root !== undefined;
      return isKnown && await isOwnWorkTree(ask, place, workTree) ? { workTree, root } : undefined;
    };
    return await this.#within(look, cwd, signal);
  }

  /**
   * True if the repository of a folder has a commit, on whatever branch, without fetching it.
   *
   * @param commit All 40 or 64 hexadecimal digits.
   * @throws The signal's reason if it aborts.
   */
  async hasCommit(cwd: string, commit: string, signal?: AbortSignal): Promise<boolean> {
    if (!isCommitId(commit)) return false;
    const look = async (ask: Ask) =>
      await ask(["rev-parse", "-q", "--verify", `${commit}^{commit}`]);
    const answer = await this.#within(look, cwd, signal);
    // A tag's id leads to another one.
    return answer?.code === 0 && withoutLineEnd(answer.text) === commit.toLowerCase();
  }

  async #within<T>(
    work: (ask: Ask) => Promise<T | undefined>,
    cwd: string,
    signal: AbortSignal | undefined,
  ): Promise<T | undefined> {
    signal?.throwIfAborted();
    const path = this.#path;
    if (path === undefined || !isAbsolute(cwd) || cwd.includes("\0")) return undefined;
    const timeOut = AbortSignal.timeout(this.#limitMs);
    const stop = signal === undefined ? timeOut : AbortSignal.any([signal, timeOut]);
    const command = (args: readonly string[]) =>
      new Deno.Command(path, {
        args: ["-C", cwd, ...SETTINGS, ...args],
        clearEnv: true,
        env: this.#env,
        stdin: "null",
        stdout: "piped",
        stderr: "null",
      });
    const found = await work((args) => this.#run(command(args), stop));
    signal?.throwIfAborted();
    return found;
  }

  async #run(command: Deno.Command, stop: AbortSignal): Promise<Answer | undefined> {
    try {
      return await this.#places.run(() => run(command, stop), stop);
    } catch (error) {
      // Time was up before its turn came.
      if (stop.aborted) return undefined;
      throw error;
    }
  }
}

function isCommitId(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(text);
}

async function run(command: Deno.Command, stop: AbortSignal): Promise<Answer | undefined> {
  const child = stop.aborted ? undefined : spawn(command);
  if (child === undefined) return undefined;
  const stdout = child.stdout.getReader();
  const end = () => {
    killQuietly(child);
    // Not left to the end of the process: a child of its own may hold the pipe open.
    void stdout.cancel();
  };
  stop.addEventListener("abort", end);
  try {
    const bytes = await readBounded(stdout);
    if (bytes === undefined) end();
    const { code } = await child.status;
    const text = bytes === undefined || stop.aborted ? undefined : decode(bytes);
    return text === undefined ? undefined : { code, text };
  } finally {
    stop.removeEventListener("abort", end);
  }
}

function spawn(command: Deno.Command): Deno.ChildProcess | undefined {
  try {
    return command.spawn();
  } catch {
    // Gone, forbidden, or no room for one more process: there is no Git to ask.
    return undefined;
  }
}

function killQuietly(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

/** Returns `undefined` if there is more than an answer can hold; the rest is left unread. */
async function readBounded(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > MAX_ANSWER_BYTES) return undefined;
    chunks.push(value);
  }
  return Buffer.concat(chunks, size);
}

/** Returns `undefined` for other text than UTF-8: two paths must not come out as one. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // Told by the return value.
    return undefined;
  }
}

/** Paths and refs end in one line break, and a path may end in a space before it. */
function withoutLineEnd(text: string): string {
  return text.replace(/\n$/, "");
}

async function findRepository(ask: Ask): Promise<Repository | undefined> {
  const [place, config] = await Promise.all([findPlace(ask), readConfig(ask)]);
  if (place === undefined || config === undefined) return undefined;
  const [identity, head] = await Promise.all([
    findIdentity(ask, place, config),
    place.head ?? findUnbornHead(ask),
  ]);
  if (identity === undefined || head === undefined) return undefined;
  const branch = head.ref.startsWith(HEADS) ? head.ref.slice(HEADS.length) : undefined;
  return { ...identity, name: projectNameOf(identity.repoId), branch, commit: head.commit };
}

async function findIdentity(
  ask: Ask,
  place: Place,
  config: RepositoryConfig,
): Promise<Pick<Repository, "repoId" | "source"> | undefined> {
  const { origin, rules } = config;
  const remoteId = origin === undefined ? undefined : repoIdOf(applyInsteadOf(origin, rules));
  if (remoteId !== undefined) return { repoId: remoteId, source: "origin" };
  const root = await findRoot(ask, place, config);
  return root === undefined ? undefined : { repoId: localRepoId(root), source: "local" };
}

interface Head {
  /** Full name of the branch's ref; `HEAD` if it is detached. */
  readonly ref: string;
  readonly commit: string | undefined;
}

/** Paths are physical. */
interface Place {
  readonly isInWorkTree: boolean;
  readonly gitDir: string;
  /** What all worktrees of the repository share. */
  readonly commonDir: string;
  /** Absent if there is no commit. */
  readonly head: Head | undefined;
}

async function findPlace(ask: Ask): Promise<Place | undefined> {
  const answer = await ask([
    "rev-parse",
    "--is-inside-work-tree",
    "--path-format=absolute",
    "--git-dir",
    "--git-common-dir",
    "HEAD",
    "--symbolic-full-name",
    "HEAD",
    // Without it a file named HEAD would do.
    "--",
  ]);
  // A path with a line break would make more lines: nothing is known of such a place.
  const [inside, gitDir, commonDir, ...rest] = withoutLineEnd(answer?.text ?? "").split("\n");
  if (gitDir === undefined || commonDir === undefined) return undefined;
  const place = { isInWorkTree: inside === "true", gitDir, commonDir };
  // It complains of the missing commit when it has told the rest.
  if (rest.length === 0) return { ...place, head: undefined };
  const [commit = "", ref = "", end] = rest;
  const isWhole = answer?.code === 0 && isCommitId(commit) && end === "--" && rest.length === 3;
  return isWhole ? { ...place, head: { ref, commit } } : undefined;
}

/** Finds the branch that the first commit will be on; there is none if HEAD is damaged. */
async function findUnbornHead(ask: Ask): Promise<Head | undefined> {
  const answer = await ask(["symbolic-ref", "-q", "HEAD"]);
  return answer?.code === 0 ? { ref: withoutLineEnd(answer.text), commit: undefined } : undefined;
}

interface RepositoryConfig {
  readonly origin: string | undefined;
  readonly rules: readonly InsteadOfRule[];
  readonly workTree: string | undefined;
}

const CONFIG_KEYS = String.raw`^(remote\.origin\.url|url\..*\.insteadof|core\.worktree)$`;
const NOTHING_FOUND = 1;

async function readConfig(ask: Ask): Promise<RepositoryConfig | undefined> {
  const answer = await ask(["config", "-z", "--get-regexp", CONFIG_KEYS]);
  if (answer === undefined || (answer.code !== 0 && answer.code !== NOTHING_FOUND)) {
    return undefined;
  }
  return parseConfig(answer.text);
}

/** Reads records of a key, a line break, a value and NUL; no key holds a line break. */
function parseConfig(text: string): RepositoryConfig {
  let origin: string | undefined;
  let workTree: string | undefined;
  const rules: InsteadOfRule[] = [];
  for (const record of text.split("\0")) {
    const keyEnd = record.indexOf("\n");
    if (keyEnd < 0) continue;
    const [key, value] = [record.slice(0, keyEnd), record.slice(keyEnd + 1)];
    // Of several the first; an empty one takes back those before it.
    if (key === "remote.origin.url") origin = value === "" ? undefined : origin ?? value;
    else if (key === "core.worktree") workTree ??= value;
    else rules.push({ base: key.slice("url.".length, -".insteadof".length), insteadOf: value });
  }
  return { origin, workTree, rules };
}

/** Finds the folder that stands for a repository, the same one for all its worktrees. */
async function findRoot(
  ask: Ask,
  { isInWorkTree, gitDir, commonDir }: Place,
  { workTree }: RepositoryConfig,
): Promise<string | undefined> {
  if (isInWorkTree && gitDir === commonDir) return await findTop(ask);
  // A submodule's files lie far from its folder in the `.git` of the repository around it.
  if (workTree !== undefined) return resolve(commonDir, workTree);
  return basename(commonDir) === ".git" ? dirname(commonDir) : commonDir;
}

/**
 * A repository may claim any folder for its working tree, the home of a person too: that folder has to
 * know of it.
 */
async function isOwnWorkTree(ask: Ask, { gitDir }: Place, workTree: string): Promise<boolean> {
  const answer = await ask(["-C", workTree, "rev-parse", "--path-format=absolute", "--git-dir"]);
  return answer?.code === 0 && withoutLineEnd(answer.text) === gitDir;
}

async function findTop(ask: Ask): Promise<string | undefined> {
  const answer = await ask(["rev-parse", "--show-toplevel"]);
  return answer?.code === 0 ? withoutLineEnd(answer.text) : undefined;
}
