/**
 * Starting the server of a vault where none runs, so that it outlives who started it. Of several that
 * start one at the same moment one does, and the others wait for it.
 */
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "@/lib/config.ts";
import { DEFAULT_PORT, SETTINGS } from "@/lib/config_fields.ts";
import { type RawValues, readArguments, readEnvironment } from "@/lib/config_sources.ts";
import { AppError, ConfigError } from "@/lib/errors.ts";
import { ensureOwnerToken } from "@/lib/owner_token.ts";
import { OWN_FILE_MODE, OWN_FOLDER_MODE } from "@/lib/own_files.ts";
import { findRunningServer, type FoundServer } from "./find_server.ts";
import { toRun } from "./program.ts";
import type { Surroundings } from "./surroundings.ts";

/** What of the machine has a part in it. */
export type StartSurroundings = Pick<
  Surroundings,
  "args" | "cwd" | "env" | "program" | "clock"
>;

export interface StartOptions {
  /** Says something to the person. */
  readonly tell: (line: string) => void;
  /** For all of it. */
  readonly limitMs?: number;
}

const START_LIMIT_MS = 15_000;
/** A server that is there may be busy. */
const BUSY_LIMIT_MS = 5_000;
const FIRST_WAIT_MS = 25;
const LONGEST_WAIT_MS = 200;

const LOCK_NAME = "start.lock";
const LOG_NAME = "server.log";
const MAX_LOG_BYTES = 1024 * 1024;
/** Of what a server said before it ended. */
const LAST_WORDS_CHARS = 1_000;
const EXIT_FAILED = 1;
const EXCLUSIVE = true;

/**
 * Returns the server of a vault, which is started with the settings of this command if none runs.
 *
 * @throws {AppError} `unavailable` if it does not start; the message says why.
 */
export async function ensureServer(
  config: Config,
  surroundings: StartSurroundings,
  { tell, limitMs = START_LIMIT_MS }: StartOptions,
): Promise<FoundServer> {
  const { clock } = surroundings;
  const endMs = clock.monotonicMs() + limitMs;
  const found = await findRunningServer(config, BUSY_LIMIT_MS);
  if (found !== undefined) return found;
  using lock = await openLock(config.state);
  for (const waitMs of waits()) {
    // As whoever had the lock may have started one.
    const isOurs = await lock.tryLock(EXCLUSIVE);
    const other = await findRunningServer(config);
    if (other !== undefined) return other;
    if (isOurs) return await start({ ...surroundings, config, tell, endMs });
    if (clock.monotonicMs() > endMs) break;
    await pause(waitMs);
  }
  throw unavailable("Another program has been starting the server for too long: try again");
}

/** Begins with short ones. */
function* waits(): Generator<number> {
  for (let waitMs = FIRST_WAIT_MS;; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) yield waitMs;
}

/** Free again as soon as this process has closed it, or has ended. */
async function openLock(state: string): Promise<Deno.FsFile> {
  try {
    await Deno.mkdir(state, { recursive: true, mode: OWN_FOLDER_MODE });
    const path = join(state, LOCK_NAME);
    return await Deno.open(path, { create: true, write: true, mode: OWN_FILE_MODE });
  } catch (error) {
    const reason = error instanceof Error ? error.name : "unknown reason";
    throw unavailable(
      `The server cannot be started: ${state} cannot be written (${reason}). Pass --state DIR with ` +
        "a folder that can",
    );
  }
}

interface Starting extends StartSurroundings {
  readonly config: Config;
  readonly tell: StartOptions["tell"];
  /** On the monotonic clock. */
  readonly endMs: number;
}

/** How a server ended that should not have; without a code it was ended, or never began. */
interface Ended {
  readonly code: number | undefined;
  readonly reason: string;
}

async function start(starting: Starting): Promise<FoundServer> {
  const { config, tell } = starting;
  await prepareOwnerToken(config, tell);
  const given = readGiven(starting);
  const args = ["serve", ...toFlags(given, config)];
  const takesAny = !isGiven(given, "port") && config.port === DEFAULT_PORT;
  if (!takesAny || isFree(config)) {
    const outcome = await attempt(starting, args);
    if (!("reason" in outcome)) return outcome;
    if (!takesAny || outcome.code !== EXIT_FAILED) throw failed(outcome, tell);
  }
  const outcome = await attempt(starting, [...args, "--port=0"]);
  if (!("reason" in outcome)) return outcome;
  throw failed(outcome, tell);
}

function failed({ reason }: Ended, tell: StartOptions["tell"]): AppError {
  tell(reason);
  return unavailable(reason);
}

/** Here, since what the server says when it makes one would stand in its log. */
async function prepareOwnerToken(config: Config, tell: StartOptions["tell"]): Promise<void> {
  if (config.access === "open" || config.ownerToken !== undefined) return;
  try {
    const { path, isNew } = await ensureOwnerToken(config.state);
    if (isNew) tell(`Your own token, to decide what agents may do, is kept in ${path}`);
  } catch (error) {
    throw error instanceof ConfigError ? unavailable(error.message) : error;
  }
}

const DEFAULT_LOG = SETTINGS.find(({ key }) => key === "log")?.defaultText;

/** What this command was told; what stands in the configuration file the server reads by itself. */
interface Given {
  readonly flags: RawValues;
  /** The server gets the environment as it is. */
  readonly variables: RawValues;
}

function readGiven({ args, cwd, env }: StartSurroundings): Given {
  return {
    flags: readArguments(args, SETTINGS, cwd).values,
    variables: readEnvironment(env, SETTINGS, { cwd, neverEmpty: new Set() }),
  };
}

function isGiven({ flags, variables }: Given, key: string): boolean {
  return flags.has(key) || variables.has(key);
}

/** A server that runs on and on logs warnings only, unless more is asked for. */
function toFlags(given: Given, { log }: Config): string[] {
  const flags = SETTINGS.flatMap(({ key, flag }) => {
    const value = given.flags.get(key);
    return value === undefined ? [] : [`--${flag}=${[value.text].flat().join(",")}`];
  });
  return log === DEFAULT_LOG && !isGiven(given, "log") ? [...flags, "--log=warn"] : flags;
}

function isFree({ host: hostname, port }: Config): boolean {
  try {
    Deno.listen({ hostname, port }).close();
    return true;
  } catch (error) {
    // For all else the server has words.
    return !(error instanceof Deno.errors.AddrInUse);
  }
}

/** Starts a server with these arguments, and returns it when it answers. */
async function attempt(
  { config, program, cwd, env, clock, endMs }: Starting,
  args: readonly string[],
): Promise<FoundServer | Ended> {
  const log = openLog(config.state);
  const toStart = toRun(program, args);
  const child = spawn(toStart.command, [...toStart.args], {
    cwd,
    env: Object.fromEntries(env),
    detached: true,
    windowsHide: true,
    // Files, as pipes would break with this process.
    stdio: ["ignore", log.fd, log.fd],
  });
  closeSync(log.fd);
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const outcome = { hasEnded: false, code: undefined as number | undefined };
  const onEnd = (code?: number) => {
    Object.assign(outcome, { hasEnded: true, code });
    end();
  };
  child.once("exit", (code) => onEnd(code ?? undefined));
  child.once("error", () => onEnd());
  child.unref();
  for (const waitMs of waits()) {
    const server = await findRunningServer(config);
    if (server !== undefined) return server;
    if (outcome.hasEnded) return { code: outcome.code, reason: whyEnded(outcome.code, log) };
    if (clock.monotonicMs() > endMs) break;
    await Promise.race([ended, pause(waitMs)]);
  }
  child.kill();
  return { code: undefined, reason: `The server does not answer, so it was ended${wordsOf(log)}` };
}

interface Log {
  readonly path: string;
  readonly fd: number;
  /** Where this server's part begins. */
  readonly startBytes: number;
}

function openLog(state: string): Log {
  const path = join(state, LOG_NAME);
  let startBytes = sizeOf(path);
  if (startBytes > MAX_LOG_BYTES) {
    renameSync(path, `${path}.old`);
    startBytes = 0;
  }
  return { path, fd: openSync(path, "a", OWN_FILE_MODE), startBytes };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function whyEnded(code: number | undefined, log: Log): string {
  const how = code === undefined ? "" : ` (exit code ${code})`;
  return `The server could not be started${how}${wordsOf(log)}`;
}

function wordsOf({ path, startBytes }: Log): string {
  const words = readFileSync(path).subarray(startBytes).toString().trim();
  const last = words.slice(-LAST_WORDS_CHARS);
  return last === "" ? `; its log is ${path}` : `; its log ${path} ends with:\n${last}`;
}

function unavailable(message: string): AppError {
  return new AppError("unavailable", message);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
