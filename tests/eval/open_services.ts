/** The program's own services over a vault, as the server runs them, for measuring. */
import { type Config, loadConfig } from "@/lib/config.ts";
import { systemDisk } from "@/lib/config_disk.ts";
import { createLogger, randomId, systemClock, writeStderr } from "@/lib/seams.ts";
import { createServices, type Services } from "@/lib/services.ts";

export interface OpenServices extends AsyncDisposable {
  readonly services: Services;
}

/**
 * Opens services with default settings, whatever the environment says; their state lies in a
 * folder that goes with them. The vault is not read yet.
 *
 * @param embedding The model behind vector search; without it the program's own default.
 * @throws {ConfigError} If the program does not know the embedding, or there is no such vault.
 */
export async function openServices(vault: string, embedding?: string): Promise<OpenServices> {
  await using stack = new AsyncDisposableStack();
  const state = await Deno.makeTempDir({ prefix: "state-" });
  stack.defer(() => Deno.remove(state, { recursive: true }));
  const clock = systemClock;
  const services = createServices(configure({ vault, state, embedding }), {
    clock,
    logger: createLogger({ level: "error", clock, pretty: true, write: writeStderr }),
    newId: randomId,
    ripgrepPath: undefined,
  });
  stack.defer(() => services.close());
  const kept = stack.move();
  return { services, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

function configure(
  { vault, state, embedding }: {
    readonly vault: string;
    readonly state: string;
    readonly embedding: string | undefined;
  },
): Config {
  const chosen = embedding === undefined ? [] : ["--embedding", embedding];
  return loadConfig({
    ...systemDisk,
    args: ["--vault", vault, "--state", state, ...chosen],
    env: new Map(),
    cwd: Deno.cwd(),
  });
}
