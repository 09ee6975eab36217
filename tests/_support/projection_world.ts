/** A person's home, a vault and a repository, in which agents are shown memories. */
import { join } from "node:path";
import { runProject } from "@/lib/cli/run_project.ts";
import type { Surroundings } from "@/lib/cli/surroundings.ts";
import { parseCommand } from "@/lib/config_command.ts";
import { type Config, loadConfig } from "@/lib/config.ts";
import { systemDisk } from "@/lib/config_disk.ts";
import { createLogger, randomId, systemClock } from "@/lib/seams.ts";
import { createServices, type Services } from "@/lib/services.ts";
import { startServer } from "@/routes/server.ts";
import { type Answer, fakeTerminal } from "../cli/_fake_terminal.ts";
import { type GitWorld, gitWorld } from "./git_repo.ts";
import { readTree } from "./homes.ts";
import { testConfig } from "./services.ts";
import { type Files, writeFiles } from "./temp_vault.ts";

export interface Ran {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
  readonly questions: readonly string[];
}

export interface RunOptions {
  readonly answers?: readonly Answer[];
  readonly isTerminal?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** Relative to the world; the repository by default. */
  readonly cwd?: string;
  /** Absolute; that of the world by default. */
  readonly vault?: string;
  readonly askedToStop?: () => Promise<void>;
}

/** Returns a memory as agents save it. */
export function memoryText(
  id: string,
  { name = id, description = `About ${id}`, updatedAt = "2026-01-01T00:00:00.000Z", more = "" } =
    {},
): string {
  return `---\nid: ${id}\nname: ${JSON.stringify(name)}\ndescription: ${
    JSON.stringify(description)
  }\ntags: [a]\nupdated_at: ${updatedAt}\n${more}---\n\nThe body of ${id}.\n`;
}

export interface ServedVault extends AsyncDisposable {
  readonly services: Services;
  readonly url: string;
}

const silent = createLogger({ level: "error", clock: systemClock, pretty: false, write: () => {} });

/** Use it with `await using`. */
export class ProjectionWorld implements AsyncDisposable {
  readonly git: GitWorld;
  readonly home: string;
  readonly vault: string;
  readonly state: string;
  readonly repo: string;

  constructor(git: GitWorld) {
    this.git = git;
    this.home = git.pathOf("home");
    this.vault = git.pathOf("vault");
    this.state = git.pathOf("state");
    this.repo = git.pathOf("repo");
  }

  /** Absolute path of what lies in the home. */
  inHome(path: string): string {
    return join(this.home, path);
  }

  /** Absolute path of what lies in the repository. */
  inRepo(path: string): string {
    return join(this.repo, path);
  }

  /** Where Claude Code looks for its memories of the repository. */
  get claudeMemory(): string {
    const slug = this.repo.replace(/[^a-zA-Z0-9]/g, "-");
    return this.inHome(`.claude/projects/${slug}/memory`);
  }

  /** The store of the repository; it has to be there. */
  get store(): string {
    const [name = ""] = [...Deno.readDirSync(join(this.vault, "memories/projects"))].map((each) =>
      each.name
    );
    return join(this.vault, "memories/projects", name);
  }

  write(folder: string, files: Files): void {
    writeFiles(folder, files);
  }

  read(path: string): string {
    return Deno.readTextFileSync(path);
  }

  config(args: readonly string[] = [], env = this.env()): Config {
    const given = ["--vault", this.vault, "--state", this.state, ...args];
    return loadConfig({ args: ["project", ...given], env, cwd: this.repo, ...systemDisk });
  }

  env(more: Readonly<Record<string, string>> = {}): ReadonlyMap<string, string> {
    return new Map(Object.entries({ ...this.git.env, HOME: this.home, ...more }));
  }

  /** Runs `project` in this process. */
  async run(args: readonly string[] = [], options: RunOptions = {}): Promise<Ran> {
    const { answers = [], isTerminal = false, vault = this.vault } = options;
    const terminal = fakeTerminal(answers, { isTerminal });
    const given = ["project", ...args, "--vault", vault, "--state", this.state];
    const surroundings = this.surroundings(given, terminal, options);
    const { env, cwd } = surroundings;
    const config = loadConfig({ args: given, env, cwd, ...systemDisk });
    const code = await runProject(config, surroundings, parseCommand(given));
    const { output, errors, questions } = terminal;
    return { code, output, errors, questions };
  }

  /** Serves the vault, as the program does on this machine; use it with `await using`. */
  async serve(config: Partial<Config> = {}): Promise<ServedVault> {
    const { gitPath: path, env } = this.git;
    const services = createServices(
      testConfig(this.vault, { state: this.state, port: 0, ...config }),
      {
        clock: systemClock,
        newId: randomId,
        ripgrepPath: undefined,
        logger: silent,
        git: { path, env },
        machine: { home: this.home, env: this.env() },
      },
    );
    await services.ready();
    const server = await startServer(services);
    return { services, url: server.url, [Symbol.asyncDispose]: () => server.stop() };
  }

  surroundings(
    args: readonly string[],
    terminal: Surroundings["terminal"],
    { env, cwd = "repo", askedToStop = () => Promise.resolve() }: RunOptions = {},
  ): Surroundings {
    return {
      args,
      env: this.env(env),
      cwd: this.git.pathOf(cwd),
      terminal,
      input: () => new ReadableStream(),
      output: () => new WritableStream(),
      program: { execPath: Deno.execPath(), main: "/opt/commonplace/main.ts", config: undefined },
      askedToStop,
      clock: systemClock,
      newId: randomId,
      logger: silent,
    };
  }

  /** Returns all of the home: bytes, rights, links. */
  async tree(): Promise<Record<string, string>> {
    return await readTree(this.home);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.git[Symbol.asyncDispose]();
  }
}

/** Makes a world with a repository, and a vault with these files. */
export async function projectionWorld(files: Files = {}): Promise<ProjectionWorld> {
  const world = new ProjectionWorld(await gitWorld());
  await Deno.mkdir(world.vault);
  world.write(world.vault, files);
  await world.git.init("repo");
  await world.git.git("repo", "remote", "add", "origin", "https://example.org/team/site.git");
  return world;
}

export const STORE_ID = "01JZ0000000000000000000001";

/** The files of a vault in which the repository has a store. */
export function inStore(files: Files): Files {
  const folder = `memories/projects/${STORE_ID}`;
  const own = Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]);
  return {
    [`${folder}/project.md`]:
      `---\nproject: site\nrepo_id: example.org/team/site\nulid: ${STORE_ID}\n---\n`,
    ...Object.fromEntries(own),
  };
}
