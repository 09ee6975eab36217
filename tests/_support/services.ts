import type { Config } from "@/lib/config.ts";
import { createLogger, randomId, systemClock } from "@/lib/seams.ts";
import { createServices, type Seams, type Services } from "@/lib/services.ts";
import { WRITE_TRIGGERS } from "@/lib/write_triggers.ts";
import { type Files, type TempVault, tempVault } from "./temp_vault.ts";

export interface TestServices extends Services, TempVault {
  /** All log lines so far, as JSON. */
  readonly logs: readonly string[];
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
    port: 8787,
    token: undefined,
    ownerToken: undefined,
    allowedHosts: [],
    allowedOrigins: [],
    access: "open",
    embedding: "none",
    remoteModel: undefined,
    denseWeight: undefined,
    recall: "on",
    recallMinScore: 0.5,
    freshness: "scan",
    mcpLegacy: "sessions",
    mcpSse: "on",
    mcpElicitation: "on",
    mcpAliases: "off",
    writeTriggers: WRITE_TRIGGERS,
    journalLogArchive: true,
    toolsets: ["core", "journal", "reading"],
    log: "debug",
    ...extra,
  };
}

/**
 * Makes real services over a real folder with these files; nothing is read before `start()` or
 * `ready()`. Use it with `await using`.
 *
 * @param config What differs from the defaults.
 * @param seams What differs from the machine: clock, ids, ripgrep (none by default).
 */
export async function testServices(
  files: Files = {},
  config: Partial<Config> = {},
  seams: Partial<Seams> = {},
): Promise<TestServices> {
  const vault = await tempVault(files);
  const logs: string[] = [];
  const services = createServices(testConfig(vault.root, config), {
    clock: systemClock,
    newId: randomId,
    ripgrepPath: undefined,
    logger: createLogger({
      level: "debug",
      clock: systemClock,
      pretty: false,
      write: (line) => logs.push(line),
    }),
    ...seams,
  });
  return {
    ...vault,
    ...services,
    logs,
    [Symbol.asyncDispose]: async () => {
      await services.close();
      await vault[Symbol.asyncDispose]();
      await removeIfThere(services.config.state);
    },
  };
}

/** A server keeps its port file there; most tests start none. */
async function removeIfThere(folder: string): Promise<void> {
  try {
    await Deno.remove(folder, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
