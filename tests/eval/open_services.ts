/** The program's own services over a vault, as the server runs them, for measuring. */
import { loadConfig } from "@/lib/config.ts";
import { systemDisk } from "@/lib/config_disk.ts";
import { createLogger, randomId, systemClock, writeStderr } from "@/lib/seams.ts";
import { createServices, type Services } from "@/lib/services.ts";

export interface OpenServices extends AsyncDisposable {
  readonly services: Services;
}

/**
 * Opens services with default settings, whatever the environment says; their state lies in a
 * folder that goes with them. The vault is not read yet.
 */
export async function openServices(vault: string): Promise<OpenServices> {
  const state = await Deno.makeTempDir({ prefix: "state-" });
  const config = loadConfig({
    ...systemDisk,
    args: ["--vault", vault, "--state", state],
    env: new Map(),
    cwd: Deno.cwd(),
  });
  const clock = systemClock;
  const logger = createLogger({ level: "error", clock, pretty: true, write: writeStderr });
  const services = createServices(config, {
    clock,
    logger,
    newId: randomId,
    ripgrepPath: undefined,
  });
  return {
    services,
    async [Symbol.asyncDispose]() {
      await services.close();
      await Deno.remove(state, { recursive: true });
    },
  };
}
