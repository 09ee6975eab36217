/** The real server as a process of its own, which shares no event loop with who measures it. */
import { MAIN_PATH, TASK_PERMISSIONS } from "../_support/program.ts";
import { delay } from "./bench_vault.ts";

const POLL_MS = 5;
const PATIENCE_MS = 120_000;

export interface ServerProcess extends AsyncDisposable {
  /** Without a slash at the end. */
  readonly url: string;
  readonly pid: number;
}

export interface ServerOptions {
  /** More flags for deno itself. */
  readonly flags?: readonly string[];
  /** The server's own default without it. */
  readonly embedding?: string;
  /** Where it keeps its state, which stays there; without it, in a folder that goes with it. */
  readonly state?: string;
}

/** Starts the server on a vault and returns at once; use it with `await using`. */
export async function spawnServer(
  vault: string,
  { flags = [], embedding, state: givenState }: ServerOptions = {},
): Promise<ServerProcess> {
  const state = givenState ?? await Deno.makeTempDir({ prefix: "state-" });
  const settings = embedding === undefined ? [] : ["--embedding", embedding];
  const { url, child } = spawnMain({ vault, state, flags, settings });
  return {
    url,
    pid: child.pid,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM");
      await child.status;
      if (givenState === undefined) await Deno.remove(state, { recursive: true });
    },
  };
}

export interface SpawnOptions {
  readonly vault: string;
  readonly state: string;
  /** More flags for deno itself. */
  readonly flags?: readonly string[];
  /** More arguments for the server. */
  readonly settings?: readonly string[];
  /** More variables for the server. */
  readonly env?: Readonly<Record<string, string>>;
  /** Ends it. */
  readonly signal?: AbortSignal;
}

/** Starts the server's process on a free port; whoever calls has to end it. */
export function spawnMain(
  { vault, state, flags = [], settings = [], env = {}, signal }: SpawnOptions,
): { readonly url: string; readonly child: Deno.ChildProcess } {
  const port = freePort();
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      ...flags,
      ...TASK_PERMISSIONS,
      MAIN_PATH,
      "serve",
      ...["--vault", vault],
      ...["--state", state],
      ...["--port", String(port)],
      ...["--log", "error"],
      ...settings,
    ],
    env: { ...env },
    stdin: "null",
    stdout: "null",
    stderr: "inherit",
    ...(signal === undefined ? {} : { signal }),
  }).spawn();
  return { url: `http://127.0.0.1:${port}`, child };
}

/** Starts the server on a vault and returns when that is indexed; use it with `await using`. */
export async function startServerProcess(
  vault: string,
  options: ServerOptions = {},
): Promise<ServerProcess> {
  await using disposer = new AsyncDisposableStack();
  const server = disposer.use(await spawnServer(vault, options));
  await until(() => isIndexed(server.url));
  disposer.move();
  return server;
}

/** Returns a port that nobody listens on just now. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** Asks again and again, for two minutes at the most. */
export async function until(isDone: () => Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  while (!await isDone()) {
    if (performance.now() > deadlineMs) throw new Error("The server did not get ready in time");
    await delay(POLL_MS);
  }
}

/** Tells whether a server listens and has read its whole vault. */
export async function isIndexed(url: string): Promise<boolean> {
  try {
    const health = await (await fetch(`${url}/healthz`)).json();
    return health.indexing === null;
  } catch {
    // It does not listen yet.
    return false;
  }
}
