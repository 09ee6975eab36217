import type { Config } from "@/lib/config.ts";
import { createLogger, randomId, systemClock } from "@/lib/seams.ts";
import { createServices, type Services } from "@/lib/services.ts";
import { findRipgrep } from "@/lib/vault/ripgrep_path.ts";
import { type TempVault, tempVault } from "./temp_vault.ts";

export interface TestServices extends Services, TempVault {
  /** Log lines, as JSON. */
  readonly log: readonly string[];
}

/** Returns the settings of a test: nothing from this machine. */
export function testConfig(vault: string, extra: Partial<Config> = {}): Config {
  return {
    vault,
    vaultWasGiven: true,
    init: false,
    state: `${vault}-state`,
    memoriesFolder: "memories",
    index: "all",
    exclude: [],
    host: "127.0.0.1",
    port: 0,
    token: undefined,
    allowedHosts: [],
    allowedOrigins: [],
    access: "open",
    embedding: "none",
    log: "debug",
    ...extra,
  };
}

/** Real services over a real folder with these files; nothing is read before `start()` or `ready()`. */
export async function testServices(
  files: Record<string, string | Uint8Array>,
  config: Partial<Config> = {},
): Promise<TestServices> {
  const vault = await tempVault(files);
  const log: string[] = [];
  const services = createServices(testConfig(vault.root, config), {
    clock: systemClock,
    newId: randomId,
    ripgrepPath: await findRipgrep(Deno.env.get("PATH")),
    logger: createLogger({
      level: "debug",
      clock: systemClock,
      pretty: false,
      write: (line) => log.push(line),
    }),
  });
  return {
    ...vault,
    ...services,
    log,
    async [Symbol.asyncDispose]() {
      await services.close();
      await vault[Symbol.asyncDispose]();
    },
  };
}
