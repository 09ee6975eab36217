/** What the commands work with that show memories in agents' own files. */
import { basename, isAbsolute, resolve } from "node:path";
import type { Config } from "@/lib/config.ts";
import { findHome } from "@/lib/config_disk.ts";
import { AppError, ConfigError } from "@/lib/errors.ts";
import type { AgentAdapter } from "@/lib/projection/adapter.ts";
import type { Machine } from "@/lib/machine.ts";
import { systemLinkDisk } from "@/lib/projection/link_disk.ts";
import { findLocalProject, toPage } from "@/lib/projection/plan_projections.ts";
import type {
  LocalProject,
  NamedFile,
  PlanContext,
  ProjectionPlan,
} from "@/lib/projection/projection.ts";
import { listProjections } from "@/lib/projection/projection_record.ts";
import { findGit, gitEnvironment } from "@/lib/projects/git_path.ts";
import { createServices, type Services } from "@/lib/services.ts";
import { MemorySource } from "./memory_source.ts";
import { PERSON } from "./person.ts";
import { type ConsentContext, requireConsent, requirePerson } from "./projection_consent.ts";
import type { Surroundings } from "./surroundings.ts";

/** Which projections are meant. */
export interface ProjectionRequest {
  readonly adapters: readonly AgentAdapter[];
  /** Real path of the folder that the agent works in; absent: no project. */
  readonly cwd?: string | undefined;
  readonly file?: NamedFile | undefined;
}

/** A plan, and who carries it out. */
export interface OpenPlan {
  readonly adapter: AgentAdapter;
  readonly plan: ProjectionPlan;
}

/** Services that were not started, and what a command knows of the machine. */
export class ProjectionSession implements AsyncDisposable {
  readonly config: Config;
  readonly surroundings: Surroundings;
  readonly machine: Machine;
  readonly source: MemorySource;
  readonly #services: Services;

  constructor(
    parts: Pick<ProjectionSession, "config" | "surroundings" | "machine"> & {
      readonly services: Services;
    },
  ) {
    this.config = parts.config;
    this.surroundings = parts.surroundings;
    this.machine = parts.machine;
    this.#services = parts.services;
    this.source = new MemorySource(parts.config, parts.services);
  }

  /** Finds the project that a folder belongs to, and where it lies. */
  async findProject(cwd: string): Promise<LocalProject | undefined> {
    return await findLocalProject(this.#services.projects, PERSON, { cwd });
  }

  /** Plans what is asked for; nothing is changed. */
  async plan({ adapters, cwd, file }: ProjectionRequest): Promise<OpenPlan[]> {
    await this.source.beginRound();
    const context: PlanContext = {
      machine: this.machine,
      vault: this.#services.vault,
      project: cwd === undefined ? undefined : await this.findProject(cwd),
      file,
      records: await listProjections(this.machine.home),
      listMemories: (scope, cursor) => this.source.list(toPage(scope, { cwd }, cursor)),
      nowMs: this.surroundings.clock.nowMs(),
    };
    const plans: OpenPlan[] = [];
    for (const adapter of adapters) {
      plans.push(...(await adapter.plan(context)).map((plan) => ({ adapter, plan })));
    }
    return plans;
  }

  /**
   * Carries out a plan, once the person has allowed it where that is needed; returns what was done.
   *
   * @throws {AppError} If they have not, or it cannot be done.
   */
  async apply({ adapter, plan }: OpenPlan): Promise<readonly string[]> {
    if (plan.kind === "refused") {
      await requirePerson(this.consentFor(adapter), plan);
      throw new AppError("not-writable", plan.reason);
    }
    const isDone = plan.state === "current";
    const decidedBy = isDone ? undefined : await requireConsent(this.consentFor(adapter), plan);
    const { vault, writer, projects, clock } = this.#services;
    const { machine } = this;
    const context = { machine, vault, writer, projects, clock, disk: systemLinkDisk, decidedBy };
    return await adapter.apply(context, plan);
  }

  consentFor({ title, id }: AgentAdapter): ConsentContext {
    const { config, surroundings: { terminal } } = this;
    const whose = id === "file" ? "every agent that reads it" : title;
    return { config, terminal, vault: this.#services.vault.root, title: whose };
  }

  /** The vault itself, for people. */
  get vaultRoot(): string {
    return this.#services.vault.root;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.source[Symbol.asyncDispose]();
    await this.#services.close();
  }
}

/**
 * Opens what the commands work with.
 *
 * @throws {ConfigError} If there is no home folder, or the vault cannot be opened.
 */
export async function openProjectionSession(
  config: Config,
  surroundings: Surroundings,
): Promise<ProjectionSession> {
  const { clock, env, logger, newId } = surroundings;
  const machine = machineOf(surroundings);
  const git = { path: await findGit(env.get("PATH")), env: gitEnvironment(env) };
  const services = createServices(config, { clock, logger, newId, ripgrepPath: undefined, git });
  return new ProjectionSession({ config, surroundings, machine, services });
}

/** @throws {ConfigError} If there is no home folder. */
export function machineOf({ cwd, env }: Pick<Surroundings, "cwd" | "env">): Machine {
  const home = findHome({ cwd, env });
  if (home !== undefined) return { home, env };
  throw new ConfigError("There is no home folder: neither HOME nor USERPROFILE is set");
}

/**
 * Returns the real path of the folder that a command is about.
 *
 * @param given As it was written; the working directory without it.
 * @throws {ConfigError} If there is no such folder.
 */
export async function findFolder(
  { cwd }: Pick<Surroundings, "cwd">,
  given: string | undefined,
): Promise<string> {
  const path = resolve(cwd, given ?? ".");
  try {
    const { isDirectory } = await Deno.stat(path);
    if (isDirectory) return await Deno.realPath(path);
  } catch {
    // Told below, whatever stands in the way.
  }
  const name = given === undefined ? "The working directory" : "--project";
  throw new ConfigError(`${name}: there is no folder ${path} that can be looked into`);
}

/** Returns a file as a person has named it, from a folder. */
export function toNamedFile(folder: string, given: string): NamedFile {
  if (given.trim() === "" || basename(given) === "" || /[\\/]$/.test(given)) {
    throw new ConfigError("--file needs the name of a file");
  }
  return { path: isAbsolute(given) ? resolve(given) : resolve(folder, given), cwd: folder };
}
