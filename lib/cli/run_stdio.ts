/**
 * The command `stdio`: MCP on stdin and stdout for clients that can do no more than start a program. It
 * does no work itself, but hands everything on to the server of the vault, which it starts if none runs.
 */
import { dirname } from "node:path";
import type { Config } from "@/lib/config.ts";
import { findHome } from "@/lib/config_disk.ts";
import { settleWithin } from "@/lib/seams.ts";
import { percentEncode } from "@/lib/percent_encode.ts";
import { VERSION } from "@/lib/version.ts";
import { findRunningServer, type FoundServer } from "./find_server.ts";
import { ServerLink } from "./server_link.ts";
import { StdioBridge } from "./stdio_bridge.ts";
import { readLines } from "./stdio_lines.ts";
import { lineTooLong, parseClientLine, SHIM_ERROR, toErrorLine } from "./stdio_message.ts";
import { StdioOutput } from "./stdio_output.ts";
import type { Surroundings } from "./surroundings.ts";

/** Well over what the server takes, which refuses with the id of the request. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** How long answers may take that are under way when the client has said all. */
const GRACE_MS = 5_000;
/** How long the client may take to read the last of it. */
const FLUSH_LIMIT_MS = 500;

/** Serves one client until it has said all and has its answers, until a signal, or until it has gone. */
export async function runStdio(config: Config, surroundings: Surroundings): Promise<number> {
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  void surroundings.askedToStop().then(stop);
  const output = new StdioOutput(surroundings.output(), stop);
  const { clock, logger } = surroundings;
  const link = new ServerLink({
    clock,
    find: () => findRunningServer(config),
    ensure: () => ensure(config, surroundings),
    onFound: ({ version }) => {
      if (version !== VERSION) logger.warn("other-version", { own: VERSION, server: version });
    },
  });
  const bridge = new StdioBridge({
    link,
    output,
    logger,
    headers: headersOf(config, surroundings),
  });
  const reading = (async () => {
    for await (const line of readLines(surroundings.input(), MAX_LINE_BYTES)) {
      const isRead = line !== undefined;
      bridge.receive(isRead ? parseClientLine(line) : lineTooLong(MAX_LINE_BYTES));
    }
  })();
  await Promise.race([reading, stopped]);
  await bridge.close(GRACE_MS, stopped);
  await settleWithin(output.flush(), FLUSH_LIMIT_MS);
  return 0;
}

/** Loaded when there is something to start: most clients find a server. */
async function ensure(config: Config, surroundings: Surroundings): Promise<FoundServer> {
  const { ensureServer } = await import("./start_server.ts");
  const tell = (line: string) => surroundings.terminal.writeError(line);
  return await ensureServer(config, surroundings, { tell });
}

function headersOf(
  { token }: Pick<Config, "token">,
  { cwd, env }: Pick<Surroundings, "cwd" | "env">,
): Record<string, string> {
  // Clients with a window start their commands there, wherever the work is; they are asked for it.
  const isNowhere = dirname(cwd) === cwd || cwd === findHome({ cwd, env });
  return {
    "user-agent": `commonplace-stdio/${VERSION}`,
    ...(isNowhere ? {} : { "x-commonplace-cwd": percentEncode(cwd) }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
}

/** Answers whatever a client asks with what is wrong, until it leaves or a signal comes. */
export async function refuseStdio(
  reason: string,
  { input, output, askedToStop }: Pick<Surroundings, "input" | "output" | "askedToStop">,
): Promise<void> {
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  void askedToStop().then(stop);
  const writer = new StdioOutput(output(), stop);
  const error = { code: SHIM_ERROR, message: `Commonplace cannot be started. ${reason}` };
  const reading = (async () => {
    for await (const line of readLines(input(), MAX_LINE_BYTES)) {
      const message = line === undefined ? undefined : parseClientLine(line);
      if (message?.kind === "request") await writer.write(toErrorLine(message.id, error));
    }
  })();
  await Promise.race([reading, stopped]);
}
