/** The services and the app of the program over a folder that a run edits. */
import { join } from "node:path";
import type { Config } from "@/lib/config.ts";
import { createLogger, randomId, systemClock } from "@/lib/seams.ts";
import { createServices, type Services } from "@/lib/services.ts";
import { createApp } from "@/routes/app.ts";
import { testConfig } from "../_support/services.ts";
import { NEAR } from "../_support/world.ts";
import { VAULT } from "./disk_model.ts";
import type { Get } from "./judge.ts";

export type Freshness = Config["freshness"];

export interface SoakWorld extends AsyncDisposable {
  readonly services: Services;
  /** Asks the app as a program on this machine does. */
  readonly get: Get;
}

/** Opens services over the vault in a base folder; `state` is where in that they keep theirs. */
export function openServices(
  base: string,
  config: Partial<Config> & { readonly state: string },
): Services {
  const clock = systemClock;
  const state = join(base, config.state);
  return createServices(testConfig(join(base, VAULT), { ...config, state }), {
    clock,
    newId: randomId,
    ripgrepPath: undefined,
    logger: createLogger({ level: "error", clock, pretty: false, write: () => {} }),
  });
}

/** Opens the vault in a base folder and reads it whole; use it with `await using`. */
export async function openSoakWorld(base: string, freshness: Freshness): Promise<SoakWorld> {
  const services = openServices(base, { state: "state", freshness });
  await services.ready();
  const app = createApp(services);
  return {
    services,
    get: async (path) => {
      const headers = { host: "127.0.0.1:8787" };
      const request = new Request(new URL(path, "http://127.0.0.1:8787"), { headers });
      return await app.fetch(request, { remoteAddr: NEAR });
    },
    [Symbol.asyncDispose]: () => services.close(),
  };
}
