/**
 * The program, and the only file that touches arguments, environment, signals and streams. It runs as
 * `deno run … main.ts serve`, without an argument as `deno run … main.ts`, and as
 * `deno serve … main.ts`: that uses the default export, so that the configuration comes from the
 * environment alone and everything is made at the first request.
 *
 * Each command loads its own modules: who starts `stdio` waits for it.
 */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Program } from "@/lib/cli/program.ts";
import type { OwnCommandLine } from "@/lib/cli/run_command.ts";
import type { Surroundings } from "@/lib/cli/surroundings.ts";
import { openTerminal, type Terminal } from "@/lib/cli/terminal.ts";
import { type Config, ENV_NAMES, LIBRARY_ENV_NAMES, loadConfig } from "@/lib/config.ts";
import { type CommandLine, parseCommand } from "@/lib/config_command.ts";
import { findHome, systemDisk } from "@/lib/config_disk.ts";
import { formatHelp } from "@/lib/config_help.ts";
import { ENV_PREFIX } from "@/lib/config_sources.ts";
import { ConfigError, describeFailure, toProblem } from "@/lib/errors.ts";
import {
  createLogger,
  type Logger,
  type LogLevel,
  randomId,
  systemClock,
  writeStderr,
} from "@/lib/seams.ts";
import type { Services } from "@/lib/services.ts";
import { ensureOwnerToken } from "@/lib/owner_token.ts";
import { findGit, gitEnvironment } from "@/lib/projects/git_path.ts";
import { findRipgrep } from "@/lib/vault/ripgrep_path.ts";
import { VERSION } from "@/lib/version.ts";
import type { createApp } from "@/routes/app.ts";
import type { RunningServer } from "@/routes/server.ts";

const EXIT_FAILED = 1;
const EXIT_MISCONFIGURED = 2;
const STOP_SIGNALS: readonly Deno.Signal[] = Deno.build.os === "windows"
  ? ["SIGINT", "SIGBREAK"]
  : ["SIGINT", "SIGTERM"];

/** Runs one command; returns the exit code. */
async function run(args: readonly string[]): Promise<number> {
  try {
    const line = parseCommand(args);
    return await runLine(line, args);
  } catch (error) {
    // Who reads the output has seen enough of it.
    if (error instanceof Deno.errors.BrokenPipe) return EXIT_FAILED;
    if (!(error instanceof ConfigError)) throw error;
    writeStderr(error.message);
    return EXIT_MISCONFIGURED;
  }
}

async function runLine(line: CommandLine, args: readonly string[]): Promise<number> {
  switch (line.command) {
    case "help":
      return print(formatHelp());
    case "version":
      return print(`commonplace ${VERSION}`);
    case "serve":
      return await serve(args);
    case "stdio":
      return await serveStdio(line, args);
    case "install":
    case "uninstall":
    case "status": {
      const { runInstall } = await import("@/lib/cli/run_install.ts");
      return await runInstall(...openCommand(line, args), line);
    }
    case "project": {
      const { runProject } = await import("@/lib/cli/run_project.ts");
      return await runProject(...openCommand(line, args), line);
    }
    case "embeddings": {
      const { runEmbeddings } = await import("@/lib/cli/run_embeddings.ts");
      return await runEmbeddings(
        openSurroundings({ args, env: readEnvironment(), log: "warn" }),
        line,
      );
    }
    case "audit":
    case "doctor":
      return await runBeside({ ...line, command: line.command }, args);
  }
}

/** Reads what a command needs that works outside the vault. */
function openCommand(line: CommandLine, args: readonly string[]): [Config, Surroundings] {
  const env = readEnvironment();
  const config = loadConfig({ args, env, cwd: findCwd(env), ...systemDisk });
  return [config, openSurroundings({ args, env, log: line.logIsGiven ? config.log : "warn" })];
}

/** Serves a client on stdin and stdout; what is wrong with the configuration it is told there too. */
async function serveStdio(line: CommandLine, args: readonly string[]): Promise<number> {
  const { refuseStdio, runStdio } = await import("@/lib/cli/run_stdio.ts");
  const env = readEnvironment();
  let opened: ReturnType<typeof openCommand>;
  try {
    opened = openCommand(line, args);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    writeStderr(error.message);
    const surroundings = openSurroundings({ args, env, log: "warn" });
    if (!Deno.stdin.isTerminal()) await refuseStdio(error.message, surroundings);
    return EXIT_MISCONFIGURED;
  }
  return await runStdio(...opened);
}

function openSurroundings(
  { args, env, log }: Pick<Surroundings, "args" | "env"> & { readonly log: LogLevel },
): Surroundings {
  return {
    args,
    env,
    cwd: findCwd(env),
    terminal: openOwnTerminal(env),
    input: () => Deno.stdin.readable,
    output: () => Deno.stdout.writable,
    program: findProgramFiles(),
    askedToStop: firstSignal,
    clock: systemClock,
    newId: randomId,
    logger: openLogger(log),
  };
}

/** `deno task` goes to the folder of its configuration, and names the one that it came from. */
function findCwd(env: ReadonlyMap<string, string>): string {
  const cwd = Deno.cwd();
  return cwd === dirname(fileURLToPath(import.meta.url)) ? env.get("INIT_CWD") || cwd : cwd;
}

function findProgramFiles(): Program {
  const main = fileURLToPath(import.meta.url);
  const config = join(dirname(main), "deno.json");
  return {
    execPath: Deno.execPath(),
    main,
    config: systemDisk.stat(config)?.isFile ? config : undefined,
  };
}

function print(text: string): number {
  writeStdout(`${text}\n`);
  return 0;
}

function writeStdout(text: string): void {
  const bytes = new TextEncoder().encode(text);
  for (let written = 0; written < bytes.length;) {
    written += Deno.stdout.writeSync(bytes.subarray(written));
  }
}

/** Runs a command that needs no server, on a vault that has to be there, for the person alone. */
async function runBeside(line: OwnCommandLine, args: readonly string[]): Promise<number> {
  const env = readEnvironment();
  const config = loadConfig({ args, env, cwd: Deno.cwd(), ...systemDisk });
  const logger = openLogger(line.logIsGiven ? config.log : "warn");
  const seams = { clock: systemClock, logger, newId: randomId, ripgrepPath: undefined };
  const { createServices } = await import("@/lib/services.ts");
  const { runCommand } = await import("@/lib/cli/run_command.ts");
  return await runCommand(createServices(config, seams), openOwnTerminal(env), line);
}

function openOwnTerminal(env: ReadonlyMap<string, string>): Terminal {
  return openTerminal({
    input: () => Deno.stdin.readable,
    write: writeStdout,
    writeError: writeStderr,
    isTerminal: Deno.stdin.isTerminal(),
    hasColor: Deno.stdout.isTerminal() && !Deno.noColor && env.get("TERM") !== "dumb",
  });
}

/** Serves until a signal comes. */
async function serve(args: readonly string[]): Promise<number> {
  const { explainListenFailure, startServer } = await import("@/routes/server.ts");
  const services = await openServices(args);
  const askedToStop = firstSignal();
  let server: RunningServer;
  try {
    server = await startServer(services);
  } catch (error) {
    const words = explainListenFailure(error, services.config);
    if (words === undefined) throw error;
    writeStderr(words);
    return EXIT_FAILED;
  }
  await askedToStop;
  await server.stop();
  return 0;
}

/** Reads the configuration, makes the vault where that is wanted, and wires everything for it. */
async function openServices(
  args: readonly string[],
  { bindsAnywhere } = { bindsAnywhere: false },
): Promise<Services> {
  const env = readEnvironment();
  const { createServices } = await import("@/lib/services.ts");
  const config = await withOwnerToken(
    loadConfig({ args, env, cwd: Deno.cwd(), bindsAnywhere, ...systemDisk }),
  );
  const logger = openLogger(config.log);
  await prepareVault(config, logger);
  const ripgrepPath = await findRipgrep(env.get("PATH"));
  const git = { path: await findGit(env.get("PATH")), env: gitEnvironment(env) };
  const home = findHome({ cwd: Deno.cwd(), env });
  const machine = home === undefined ? undefined : { home, env };
  const seams = { clock: systemClock, logger, newId: randomId, ripgrepPath, git, machine, env };
  const services = createServices(config, seams);
  logRejections(logger);
  return services;
}

function openLogger(level: LogLevel): Logger {
  const pretty = Deno.stderr.isTerminal();
  return createLogger({ level, clock: systemClock, pretty, write: writeStderr });
}

/** Sees to it that there is a token for the person's decisions, and shows one that was made now. */
async function withOwnerToken(config: Config): Promise<Config> {
  if (config.access === "open" || config.ownerToken !== undefined) return config;
  const { token, path, isNew } = await ensureOwnerToken(config.state);
  if (token === config.token) {
    throw new ConfigError(`--token is the same as the owner's token in ${path}: take another`);
  }
  if (isNew) {
    writeStderr(
      `Your own token, to decide what agents may do (kept in ${path}): ${token}\n` +
        "Enter it on the page that an agent's question names; never give it to an agent.",
    );
  }
  return Object.freeze({ ...config, ownerToken: token });
}

/** Creates the default vault when it is missing, and the whole layout when that is asked for. */
async function prepareVault(config: Config, logger: Logger): Promise<void> {
  const { vault: root, vaultWasGiven, init, memoriesFolder } = config;
  if (vaultWasGiven && !init) return;
  const layout = init ? "full" : "welcome";
  const seams = { clock: systemClock, newId: randomId, logger };
  const { initVault } = await import("@/lib/vault/init.ts");
  await initVault({ root, memoriesFolder, layout, ...seams });
}

/** Finds what was not listed too: `token` may name any variable as `env:NAME`. */
class Environment extends Map<string, string> {
  override get(name: string): string | undefined {
    return super.get(name) ?? (mayRead(name) ? Deno.env.get(name) : undefined);
  }
}

/**
 * Reads all of the environment where that is allowed, else the names of the settings.
 *
 * @throws {ConfigError} If one of these may not be read: it could be set, and be a token.
 */
function readEnvironment(): ReadonlyMap<string, string> {
  forgetLibraryNames();
  const { state } = Deno.permissions.querySync({ name: "env" });
  if (state === "granted") return new Map(Object.entries(Deno.env.toObject()));
  const hidden = ENV_NAMES.filter((name) => isNeeded(name) && !mayRead(name));
  if (hidden.length > 0) {
    throw new ConfigError(
      `This process may not read ${hidden.length} of its environment names; add to deno's own ` +
        `flags --allow-env=${ENV_NAMES.join(",")}`,
    );
  }
  const names = ENV_NAMES.filter(mayRead);
  return new Environment(names.flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value]];
  }));
}

/** With one of these set, the YAML parser would print parts of notes. */
function forgetLibraryNames(): void {
  for (const name of LIBRARY_ENV_NAMES) if (mayRead(name)) Deno.env.delete(name);
}

function isNeeded(name: string): boolean {
  return name.startsWith(ENV_PREFIX) || LIBRARY_ENV_NAMES.includes(name);
}

function mayRead(variable: string): boolean {
  return Deno.permissions.querySync({ name: "env", variable }).state === "granted";
}

/** One request that goes wrong in the background must not end the others. */
function logRejections(logger: Logger): void {
  addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    logger.error("unhandled-rejection", describeFailure(event.reason));
  });
}

/** Returns at the first signal to stop; a second one ends the process at once. */
function firstSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let asked = false;
  for (const signal of STOP_SIGNALS) {
    Deno.addSignalListener(signal, () => {
      if (asked) Deno.exit(EXIT_FAILED);
      asked = true;
      resolve();
    });
  }
  return promise;
}

type App = ReturnType<typeof createApp>;

let app: Promise<App> | undefined;
let isServed = false;

async function answer(request: Request, remoteAddr: Deno.Addr): Promise<Response> {
  try {
    app ??= openApp();
    return await (await app).fetch(request, { remoteAddr });
  } catch (error) {
    const problem = toProblem(error, randomId());
    const cause = error instanceof ConfigError ? error.message : describeFailure(error).cause;
    writeStderr(`${problem.requestId}: ${cause}`);
    const headers = { "Content-Type": "application/problem+json", "Cache-Control": "no-store" };
    return new Response(JSON.stringify(problem), { status: problem.status, headers });
  }
}

async function openApp(): Promise<App> {
  try {
    // The address is Deno's to choose: every one of this machine, unless it is told otherwise.
    const { createApp } = await import("@/routes/app.ts");
    const services = await openServices([], { bindsAnywhere: true });
    services.start();
    // Deno ends by itself when nothing is left to do, and there is while the vault is watched.
    for (const signal of STOP_SIGNALS) {
      Deno.addSignalListener(signal, () => void services.close());
    }
    return createApp(services);
  } catch (error) {
    // The next request tries again: a vault can appear.
    app = undefined;
    throw error;
  }
}

export default {
  fetch: (request, { remoteAddr }) => answer(request, remoteAddr),
  onListen: (address) => {
    isServed = true;
    const place = address.transport === "tcp"
      ? `${address.hostname} port ${address.port}`
      : "socket";
    writeStderr(`commonplace ${VERSION} on ${place}; the vault is opened at the first request`);
  },
} satisfies Deno.ServeDefaultExport;

if (import.meta.main && Deno.args.length > 0) {
  // Waited for, as Deno looks at the default export after the module has run.
  // deno-lint-ignore no-top-level-await
  Deno.exit(await run(Deno.args));
} else if (import.meta.main) {
  // `deno serve` calls `onListen` before the next turn; if it did not, this is `deno run`.
  setTimeout(async () => {
    if (!isServed) Deno.exit(await run([]));
  }, 0);
}
