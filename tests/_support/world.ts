/** A real vault in a temporary directory, with real services and the real app over it. */
import { dirname, join } from "node:path";
import type { Config } from "@/lib/config.ts";
import { createLogger, randomId, systemClock } from "@/lib/seams.ts";
import { createServices, type Seams, type Services } from "@/lib/services.ts";
import { createApp } from "@/routes/app.ts";

/** By path in the vault. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

export interface World extends Services, AsyncDisposable {
  readonly app: ReturnType<typeof createApp>;
  /** The vault's directory. */
  readonly root: string;
  /** All log lines so far, as JSON. */
  readonly logs: readonly string[];
  /** Writes a file of the vault, as an editor would. */
  write(path: string, content: string | Uint8Array): Promise<void>;
  /** Removes a file or folder of the vault. */
  remove(path: string): Promise<void>;
  /** Asks the app as a program on this machine does; `init` may say otherwise. */
  request(pathOrUrl: string, init?: RequestInit): Promise<Response>;
}

const ADDRESS = "http://127.0.0.1:8787";

/** A peer on this machine, as the socket tells it. */
export const NEAR: Deno.NetAddr = { transport: "tcp", hostname: "127.0.0.1", port: 50_000 };

/**
 * Makes a world whose vault holds `files` and is indexed; use it with `await using`.
 *
 * @param config What differs from the defaults.
 * @param seams What differs from the machine: clock, ids, ripgrep (none by default).
 */
export async function testWorld(
  files: Files = {},
  config: Partial<Config> = {},
  seams: Partial<Seams> = {},
): Promise<World> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "vault-" }));
  const state = await Deno.makeTempDir({ prefix: "state-" });
  const write = (path: string, content: string | Uint8Array) => writeFile(root, path, content);
  for (const [path, content] of Object.entries(files)) await write(path, content);

  const logs: string[] = [];
  const clock = systemClock;
  const logger = createLogger({
    level: "debug",
    clock,
    pretty: false,
    write: (line) => logs.push(line),
  });
  const services = createServices({ ...defaults(root, state), ...config }, {
    clock,
    logger,
    newId: randomId,
    ripgrepPath: undefined,
    ...seams,
  });
  await services.ready();
  const app = createApp(services);
  return {
    ...services,
    app,
    root,
    logs,
    write,
    remove: (path) => Deno.remove(join(root, path), { recursive: true }),
    request: async (pathOrUrl, init) => {
      const request = new Request(new URL(pathOrUrl, ADDRESS), init);
      if (!request.headers.has("host")) request.headers.set("host", new URL(request.url).host);
      return await app.fetch(request, { remoteAddr: NEAR });
    },
    [Symbol.asyncDispose]: async () => {
      await services.close();
      for (const folder of [root, state]) await Deno.remove(folder, { recursive: true });
    },
  };
}

async function writeFile(root: string, path: string, content: string | Uint8Array): Promise<void> {
  const place = join(root, path);
  await Deno.mkdir(dirname(place), { recursive: true });
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  await Deno.writeFile(place, bytes);
}

function defaults(vault: string, state: string): Config {
  return {
    vault,
    vaultWasGiven: true,
    init: false,
    state,
    memoriesFolder: "memories",
    index: "all",
    exclude: [],
    host: "127.0.0.1",
    port: 8787,
    token: undefined,
    allowedHosts: [],
    allowedOrigins: [],
    access: "open",
    embedding: "none",
    log: "debug",
  };
}
