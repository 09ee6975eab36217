import { join } from "node:path";
import { runInstall } from "@/lib/cli/run_install.ts";
import type { Surroundings } from "@/lib/cli/surroundings.ts";
import { parseCommand } from "@/lib/config_command.ts";
import { loadConfig } from "@/lib/config.ts";
import { systemDisk } from "@/lib/config_disk.ts";
import { createLogger, randomId, systemClock } from "@/lib/seams.ts";
import { fillHome, type Home, readTree } from "../_support/homes.ts";
import { type Answer, fakeTerminal } from "./_fake_terminal.ts";

export interface Ran {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

/** A home folder in which commands run, with a vault beside it; use it with `await using`. */
export class InstallWorld implements AsyncDisposable {
  readonly #folder: string;
  readonly home: string;
  readonly vault: string;
  /** Of the program that agents are to start. */
  readonly main: string;
  readonly env: ReadonlyMap<string, string>;

  constructor(folder: string, { env = {} }: Home, more: Readonly<Record<string, string>>) {
    this.#folder = folder;
    this.home = join(folder, "ho me's 家");
    this.vault = join(folder, "vault");
    this.main = join(folder, "main.ts");
    const own = Object.entries(env).map(([name, value]): [string, string] => [
      name,
      value.replace(/^~/, this.home),
    ]);
    this.env = new Map([...Object.entries(more), ["HOME", this.home], ...own]);
  }

  /** Runs the program's command line in this process. */
  async run(
    args: readonly string[],
    { answers = [], isTerminal = false }: {
      readonly answers?: readonly Answer[];
      readonly isTerminal?: boolean;
    } = {},
  ): Promise<Ran> {
    const given = [...args, "--vault", this.vault, "--state", join(this.#folder, "state")];
    const terminal = fakeTerminal(answers, { isTerminal });
    const surroundings = this.#surroundings(given, terminal);
    const { env, cwd } = surroundings;
    const config = loadConfig({ args: given, env, cwd, ...systemDisk });
    const code = await runInstall(config, surroundings, parseCommand(given));
    return { code, output: terminal.output, errors: terminal.errors };
  }

  #surroundings(args: readonly string[], terminal: Surroundings["terminal"]): Surroundings {
    return {
      args,
      env: this.env,
      cwd: this.#folder,
      terminal,
      input: () => new ReadableStream(),
      output: () => new WritableStream(),
      program: { execPath: Deno.execPath(), main: this.main, config: undefined },
      askedToStop: () => Promise.resolve(),
      clock: systemClock,
      newId: randomId,
      logger: createLogger({ level: "error", clock: systemClock, pretty: false, write: () => {} }),
    };
  }

  /** Returns a file of the home as text. */
  async read(name: string): Promise<string> {
    return await Deno.readTextFile(join(this.home, name));
  }

  async write(name: string, text: string): Promise<void> {
    await Deno.writeTextFile(join(this.home, name), text);
  }

  /** Returns all of the home: bytes, rights, links. */
  async tree(): Promise<Record<string, string>> {
    return await readTree(this.home);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const name of [".claude", ".codex"]) {
      await Deno.chmod(join(this.home, name), 0o755).catch(() => {});
    }
    await Deno.remove(this.#folder, { recursive: true });
  }
}

/**
 * @param path Where programs are looked for: nowhere, unless a test says so.
 * @param more Environment beside that and the home.
 */
export async function installWorld(
  home: Home,
  path = "",
  more: Readonly<Record<string, string>> = {},
): Promise<InstallWorld> {
  const folder = await Deno.makeTempDir({ prefix: "home-" });
  const world = new InstallWorld(folder, home, { ...more, PATH: path });
  await Deno.mkdir(world.home);
  await Deno.mkdir(world.vault);
  await Deno.writeTextFile(world.main, "");
  await fillHome(world.home, home);
  return world;
}
