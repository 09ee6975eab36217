/**
 * The project that hints come nearer to. It changes nothing but their order, so it may be a minute
 * old, and nobody waits for Git.
 */
import type { Caller } from "@/lib/contracts.ts";
import type { IndexedNote } from "@/lib/index/indexed_note.ts";
import { type FoundProject, type Projects, type Where, whereOf } from "@/lib/projects/projects.ts";
import { putLast } from "@/lib/put_last.ts";
import { type Clock, settleWithin } from "@/lib/seams.ts";
import { scopeIdOf, type VaultLayout } from "@/lib/vault/kinds.ts";
import { normalizeTag } from "@/lib/vault/tags.ts";

export interface NearProjectsDeps {
  readonly clock: Clock;
  readonly vault: VaultLayout;
  readonly projects: Pick<Projects, "find">;
}

/** Tells a note of the project from others. */
export type IsNear = (note: Pick<IndexedNote, "path" | "tags">) => boolean;

const KEPT_MS = 60_000;
const MAX_KEPT = 64;
/** Git answers in a few milliseconds or not at all. */
const MAX_WAIT_MS = 100;
const PROJECT_TAG = "project/";

interface Asked {
  readonly atMs: number;
  readonly finding: Promise<IsNear>;
}

export class NearProjects {
  readonly #deps: NearProjectsDeps;
  /** The last to be asked for comes last. */
  readonly #asked = new Map<string, Asked>();

  constructor(deps: NearProjectsDeps) {
    this.#deps = deps;
  }

  /**
   * Returns what tells the notes of the project that an agent works in; none is near without one, or
   * where it is not known in time.
   *
   * @throws {InvalidRequest} If it is said wrongly where the agent works.
   */
  async find(caller: Caller, where: Where): Promise<IsNear> {
    const { repo, cwd } = whereOf(caller, where);
    if (repo === undefined && cwd === undefined) return isNone;
    // Whether a folder may be named depends on who asks.
    const key = JSON.stringify([repo, cwd, caller.loopback]);
    const { finding } = this.#kept(key) ?? this.#ask(key, caller, { repo, cwd });
    await settleWithin(finding, MAX_WAIT_MS);
    return await Promise.race([finding, Promise.resolve(isNone)]);
  }

  #kept(key: string): Asked | undefined {
    const asked = this.#asked.get(key);
    return asked && this.#deps.clock.monotonicMs() - asked.atMs < KEPT_MS ? asked : undefined;
  }

  #ask(key: string, caller: Caller, where: Where): Asked {
    // Others may wait for it too, when this caller has gone.
    const { signal: _signal, ...patient } = caller;
    const asked = { atMs: this.#deps.clock.monotonicMs(), finding: this.#look(patient, where) };
    asked.finding.catch(() => this.#asked.delete(key));
    putLast(this.#asked, [key, asked], MAX_KEPT);
    return asked;
  }

  async #look(caller: Caller, where: Where): Promise<IsNear> {
    const { projects, vault } = this.#deps;
    const project = await projects.find(caller, where);
    return project ? toIsNear(project, vault) : isNone;
  }
}

const isNone: IsNear = () => false;

function toIsNear({ ref, stores }: FoundProject, vault: VaultLayout): IsNear {
  const ids = new Set(stores.map(({ ulid }) => ulid));
  const tag = normalizeTag(PROJECT_TAG + ref.name);
  return ({ path, tags }) =>
    ids.has(scopeIdOf(vault, path)) || tags.some((each) => normalizeTag(each) === tag);
}
