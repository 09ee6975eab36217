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
 * @param flags More of them, as for the program.
 * @throws {ConfigError} If the program does not know the embedding, or there is no such vault.
 */
export async function openServices(
  vault: string,
  embedding?: string,
  flags: readonly string[] = [],
): Promise<OpenServices> {
  await using stack = new AsyncDisposableStack();
  const state = await Deno.makeTempDir({ prefix: "state-" });
  stack.defer(() => Deno.remove(state, { recursive: true }));
  const clock = systemClock;
  const services = createServices(configure({ vault, state, embedding, flags }), {
    clock,
    logger: createLogger({ level: "error", clock, pretty: true, write: writeStderr }),
    newId: randomId,
    ripgrepPath: undefined,
    // No key is in it, but with it a provider that needs none is asked.
    env: new Map(),
  });
  stack.defer(() => services.close());
  const kept = stack.move();
  return { services, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

function configure(
  { vault, state, embedding, flags }: {
    readonly vault: string;
    readonly state: string;
    readonly embedding: string | undefined;
    readonly flags: readonly string[];
  },
): Config {
  const chosen = embedding === undefined ? [] : ["--embedding", embedding];
  return loadConfig({
    ...systemDisk,
    args: ["--vault", vault, "--state", state, ...chosen, ...flags],
    env: new Map(),
    cwd: Deno.cwd(),
  });
}

const POLL_MS = 20;
const PATIENCE_MS = 600_000;

/**
 * Returns when notes can be compared by meaning: with a provider they are embedded after they were
 * read, and then it is found out what the cosines of its model mean. At once for all other models.
 *
 * @throws {Error} If that takes more than ten minutes.
 */
export async function untilMeaning({ config, index }: Services): Promise<void> {
  if (!config.remoteModel || index.counts.notes === 0) return;
  const deadlineMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const query = { text: "meaning", mode: "vector", filter: {}, limit: 1 } as const;
    const answer = index.embedding ? undefined : await index.search(query);
    if (answer?.mode === "vector") return;
    if (performance.now() > deadlineMs) {
      throw new Error(`The vault is not embedded after ten minutes: ${answer?.reason}`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
