/** The program as a process of its own, in a home folder of its own. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const MAIN_PATH = fileURLToPath(new URL("../../main.ts", import.meta.url));

/** The permissions of `deno task start`. */
export const TASK_PERMISSIONS: readonly string[] = [
  "--allow-read",
  "--allow-write",
  "--allow-net",
  "--allow-env",
  "--allow-run",
  "--allow-sys=statfs",
];

/** A home folder with a vault in it. */
export interface Home extends AsyncDisposable {
  readonly folder: string;
  readonly vault: string;
  /** Not there yet. */
  readonly state: string;
}

/** Makes a home whose vault holds one note, `a.md`, about a zebra; use it with `await using`. */
export async function makeHome(): Promise<Home> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "home-" }));
  const vault = join(folder, "vault");
  await Deno.mkdir(vault);
  await Deno.writeTextFile(join(vault, "a.md"), "# Alpha\n\nzebra in the text\n");
  return {
    folder,
    vault,
    state: join(folder, "state"),
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

export interface RunOptions {
  readonly home: Home;
  readonly env?: Readonly<Record<string, string>>;
  /** The home folder by default. */
  readonly cwd?: string;
}

/** A running `deno`; it is killed at the end of the scope if it has not ended by itself. */
export class Program implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #reading: Promise<void>;
  readonly #waiting = new Set<() => void>();
  #output = "";
  #hasEnded = false;

  /** Starts `deno` with nothing of our environment but what it needs to find its cache. */
  constructor(args: readonly string[], { home, env = {}, cwd = home.folder }: RunOptions) {
    this.#child = new Deno.Command(Deno.execPath(), {
      args: [...args],
      cwd,
      clearEnv: true,
      env: { ...neededEnv(home), ...env },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    this.#reading = this.#read();
  }

  /** All of stderr so far. */
  get output(): string {
    return this.#output;
  }

  /** Returns the first line of stderr that holds a text, as soon as it is there. */
  async line(text: string): Promise<string> {
    for (;;) {
      const lines = this.#output.split("\n").slice(0, -1);
      const found = lines.find((line) => line.includes(text));
      if (found !== undefined) return found;
      if (this.#hasEnded) throw new Error(`The program ended without "${text}":\n${this.#output}`);
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  kill(signal: Deno.Signal): void {
    this.#child.kill(signal);
  }

  /** Returns how it ended, when it has, and all of its output is there. */
  async end(): Promise<Deno.CommandStatus> {
    await this.#reading;
    return await this.#child.status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#hasEnded) this.#child.kill("SIGKILL");
    await this.end();
  }

  async #read(): Promise<void> {
    for await (const text of this.#child.stderr.pipeThrough(new TextDecoderStream())) {
      this.#output += text;
      this.#wake();
    }
    await this.#child.status;
    this.#hasEnded = true;
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

/** The arguments that have `deno` serve the vault of a home, as `deno task start` does. */
export function serveArgs(
  { vault, state }: Pick<Home, "vault" | "state">,
  more: readonly string[] = [],
): readonly string[] {
  const folders = ["--vault", vault, "--state", state];
  return ["run", "--no-prompt", ...TASK_PERMISSIONS, MAIN_PATH, "serve", ...folders, ...more];
}

/** Returns all of an environment that a `deno` needs which shall download nothing. */
export function neededEnv({ folder }: Pick<Home, "folder">): Readonly<Record<string, string>> {
  return { HOME: folder, DENO_DIR: cacheFolder(), DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" };
}

/** Where this process keeps what it has downloaded, so that the child downloads nothing. */
function cacheFolder(): string {
  const own = Deno.env.get("DENO_DIR");
  if (own !== undefined) return own;
  const { stdout } = new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).outputSync();
  return JSON.parse(new TextDecoder().decode(stdout)).denoDir;
}
