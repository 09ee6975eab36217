/** Running the app on a socket, from the first request to the last. */
import type { Services } from "@/lib/services.ts";
import { describeFailure } from "@/lib/errors.ts";
import { McpEndpoint } from "@/lib/mcp/mcp_endpoint.ts";
import { settleWithin } from "@/lib/seams.ts";
import { type PortFile, removePortFile, writePortFile } from "@/lib/port_file.ts";
import { VERSION } from "@/lib/version.ts";
import type { Caller } from "@/lib/contracts.ts";
import { readHealth } from "@/lib/index/operations.ts";
import { createApp } from "./app.ts";

/** How long a stop waits for requests that are being answered. */
const SHUTDOWN_GRACE_MS = 5_000;

/** The program itself, where a use case wants to know who asks. */
const SELF: Caller = { kind: "owner", loopback: true };

export interface RunningServer {
  /** Without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** Takes no more requests, lets those under way finish, and cleans up; may run twice. */
  stop(): Promise<void>;
}

/**
 * Listens first, so that health and the first searches are answered at once, and then begins to
 * read the vault.
 *
 * @param graceMs How long a stop waits for requests under way; then they are left to the end of
 * the process.
 * @throws {Deno.errors.AddrInUse} If another program has the port, and other errors of listening;
 * `explainListenFailure()` has words for them.
 */
export async function startServer(
  services: Services,
  graceMs: number = SHUTDOWN_GRACE_MS,
): Promise<RunningServer> {
  const { config, logger } = services;
  const mcp = new McpEndpoint(services);
  const app = createApp(services, mcp);
  const server = Deno.serve({
    hostname: config.host,
    port: config.port,
    // The start line tells the address, together with the rest.
    onListen: () => {},
    onError: (error) => {
      if (!isGivenUp(error)) logger.error("request-failed", describeFailure(error));
      return new Response(null, { status: 500 });
    },
  }, (request, { remoteAddr }) => app.fetch(request, { remoteAddr }));
  const { port } = server.addr;
  const url = `http://${config.host.includes(":") ? `[${config.host}]` : config.host}:${port}`;
  logStart(services, url);
  // Before the first request is handled, which would otherwise wait for the whole vault.
  services.start();
  const forgetPort = await announce(services, port);
  let stopping: Promise<void> | undefined;
  const stop = async () => {
    // Together, as open streams would hold up the one, and calls under way the other. Who does not
    // read even then loses the connection with the process: Deno cannot cut it after shutdown().
    await Promise.all([settleWithin(server.shutdown(), graceMs), mcp.close(graceMs)]);
    await services.close();
    await forgetPort();
    logger.info("stopped");
  };
  return {
    url,
    port,
    stop: () => stopping ??= stop(),
  };
}

/** Tells the end of a stream that nobody read, which was logged when it was given up. */
function isGivenUp(error: unknown): boolean {
  return error instanceof DOMException && error.name === "QuotaExceededError";
}

/** One line; the notes are counted while the server answers already, so their number follows. */
function logStart(services: Services, url: string): void {
  const { access } = readHealth(services, SELF);
  services.logger.info("started", {
    version: VERSION,
    vault: services.vault.root,
    notes: "indexing",
    address: url,
    access,
    freshness: services.config.freshness,
  });
}

/** Writes the port file, which the server can do without; returns what takes it away again. */
async function announce(services: Services, port: number): Promise<() => Promise<void>> {
  const { clock, config, instanceId, logger } = services;
  const startedAt = new Date(clock.nowMs()).toISOString();
  const content: PortFile = {
    id: instanceId,
    pid: Deno.pid,
    host: config.host,
    port,
    version: VERSION,
    startedAt,
  };
  try {
    await writePortFile(config.state, content);
    return () => removePortFile(config.state, content).catch(warn);
  } catch (error) {
    warn(error);
    return () => Promise.resolve();
  }

  function warn(error: unknown): void {
    logger.warn("port-file-failed", { cause: describeFailure(error).cause });
  }
}

/** Returns in words why the server cannot listen and what to do, `undefined` for other errors. */
export function explainListenFailure(
  error: unknown,
  { host, port }: { readonly host: string; readonly port: number },
): string | undefined {
  if (error instanceof Deno.errors.AddrInUse) {
    return `Cannot listen on ${host} port ${port}: another program does, maybe a Commonplace that ` +
      "is already running. Stop it, or pass --port with another number, or --port 0 for any free one";
  }
  if (error instanceof Deno.errors.AddrNotAvailable) {
    return `Cannot listen on ${host}: it is no address of this machine. Pass another --host`;
  }
  if (error instanceof Deno.errors.PermissionDenied) {
    return `Cannot listen on ${host} port ${port}: the system does not allow it. Ports below 1024 ` +
      "often need more rights: pass --port 8787";
  }
  if (error instanceof Deno.errors.NotCapable) {
    return `Cannot listen on ${host} port ${port}: this process may not. Add ` +
      `--allow-net=${host.includes(":") ? `[${host}]` : host}:${port} to deno's own flags`;
  }
  if (error instanceof Error && error.message.includes("lookup address")) {
    return `Cannot listen on ${host}: there is no address of that name. Pass another --host`;
  }
  return undefined;
}
