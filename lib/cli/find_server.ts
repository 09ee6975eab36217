/**
 * Finding the server that runs for a vault. A port file may be old, and another program may have the
 * port by now: nothing is sent to it, a token least of all, before it has said the id that stands in
 * the file.
 */
import type { Config } from "@/lib/config.ts";
import { INSTANCE_HEADER, type PortFile, readPortFile } from "@/lib/port_file.ts";

/** A server that has proven to be the one that is meant. */
export interface FoundServer extends Disposable {
  /** Changes with each start. */
  readonly id: string;
  readonly pid: number;
  readonly version: string;
  /** Without a slash at the end. */
  readonly url: string;
  /** Sends to its address and nowhere else, whatever proxies the environment names. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

/** How long a server may take to prove itself. */
export const PROOF_LIMIT_MS = 1_000;

/**
 * Returns the server of a vault that runs now, by the port file in its state directory.
 *
 * @param limitMs How long it may take to answer; one that is busy for longer counts as none.
 */
export async function findRunningServer(
  { state }: Pick<Config, "state">,
  limitMs: number = PROOF_LIMIT_MS,
): Promise<FoundServer | undefined> {
  const file = await readPortFile(state);
  if (file === undefined) return undefined;
  const server = toServer(file);
  if (await isProven(server, limitMs)) return server;
  server[Symbol.dispose]();
  return undefined;
}

/** Asks a server for its id; tells whether it is still the same. */
export async function isProven(
  server: Pick<FoundServer, "fetch" | "id">,
  limitMs: number = PROOF_LIMIT_MS,
): Promise<boolean> {
  try {
    const response = await server.fetch("/healthz", { signal: AbortSignal.timeout(limitMs) });
    // Read to its end, so that the next request can have the connection.
    await response.text();
    return response.headers.get(INSTANCE_HEADER) === server.id;
  } catch {
    // Nobody listens, or somebody who does not speak HTTP, or not in time.
    return false;
  }
}

function toServer({ id, pid, version, host, port }: PortFile): FoundServer {
  const reachable = toReachable(host);
  const hostname = reachable.includes(":") ? `[${reachable}]` : reachable;
  const url = `http://${hostname}:${port}`;
  const client = Deno.createHttpClient({ proxy: { transport: "tcp", hostname, port } });
  return {
    id,
    pid,
    version,
    url,
    fetch: (path, init = {}) => fetch(url + path, { ...init, redirect: "error", client }),
    [Symbol.dispose]: () => client.close(),
  };
}

/** Who listens on every address listens on that of this machine, too. */
function toReachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "::1" : host;
}
