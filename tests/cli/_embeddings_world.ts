import { join } from "node:path";
import { type EmbeddingSeams, ownEmbeddingSeams } from "@/lib/cli/embedding_seams.ts";
import { runEmbeddings } from "@/lib/cli/run_embeddings.ts";
import type { Surroundings } from "@/lib/cli/surroundings.ts";
import { parseCommand } from "@/lib/config_command.ts";
import { createLogger, randomId, systemClock } from "@/lib/seams.ts";
import { fakeTerminal } from "./_fake_terminal.ts";

export interface Ran {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly seams?: Partial<EmbeddingSeams>;
}

/** A home folder with an empty vault, in which the command runs; use it with `await using`. */
export class EmbeddingsWorld implements AsyncDisposable {
  readonly folder: string;
  readonly vault: string;
  /** The configuration file, which is not there yet. */
  readonly config: string;

  constructor(folder: string) {
    this.folder = folder;
    this.vault = join(folder, "vault");
    this.config = join(folder, ".commonplace", "config.json");
  }

  /** Runs the command in this process; what `seams` does not say is real. */
  async run(args: readonly string[], { env = {}, seams = {} }: RunOptions = {}): Promise<Ran> {
    const given = ["embeddings", ...args, "--vault", this.vault];
    const terminal = fakeTerminal([], { isTerminal: false });
    const surroundings: Surroundings = {
      args: given,
      env: new Map(Object.entries({ HOME: this.folder, ...env })),
      cwd: this.folder,
      terminal,
      input: () => new ReadableStream(),
      output: () => new WritableStream(),
      program: { execPath: Deno.execPath(), main: "main.ts", config: undefined },
      askedToStop: () => Promise.resolve(),
      clock: systemClock,
      newId: randomId,
      logger: createLogger({ level: "error", clock: systemClock, pretty: false, write: () => {} }),
    };
    const code = await runEmbeddings(surroundings, parseCommand(given), {
      ...ownEmbeddingSeams(surroundings),
      ...seams,
    });
    return { code, output: terminal.output, errors: terminal.errors };
  }

  /** Writes the configuration file, a text as it is. */
  async configure(settings: string | Record<string, unknown>): Promise<void> {
    const text = typeof settings === "string" ? settings : JSON.stringify(settings, null, 2);
    await Deno.mkdir(join(this.folder, ".commonplace"), { recursive: true });
    await Deno.writeTextFile(this.config, text);
  }

  /** Returns the configuration file; `undefined` if it is not there. */
  async configText(): Promise<string | undefined> {
    return await Deno.readTextFile(this.config).catch(() => undefined);
  }

  async settings(): Promise<Record<string, unknown>> {
    return JSON.parse(await this.configText() ?? "{}");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}

export async function embeddingsWorld(): Promise<EmbeddingsWorld> {
  const world = new EmbeddingsWorld(await Deno.makeTempDir({ prefix: "embeddings-" }));
  await Deno.mkdir(world.vault);
  return world;
}
