/** What a person may allow an agent to do, for one task. */
import { type Grant, GRANTS } from "@/lib/contracts_access.ts";
import { MEMORY_DEEP_READ_AUTH, MEMORY_READ_AUTH, MEMORY_WRITE_AUTH } from "@/lib/protocol_keys.ts";

/** The names of the grants in the memory protocol. */
export const AUTH_KEYS: Readonly<Record<Grant, string>> = {
  read: MEMORY_READ_AUTH,
  deep: MEMORY_DEEP_READ_AUTH,
  write: MEMORY_WRITE_AUTH,
};

/** What an agent wants to be allowed, as it says it. */
export interface AskedGrant {
  readonly grant: Grant;
  /** Of a deep read: whose `memory.md`, as the caller names it. */
  readonly project?: string | undefined;
  /** Of a deep read: its `history/` too. */
  readonly history: boolean;
  /** Files of `_shared/` that an ordinary read is to include. */
  readonly shared: readonly string[];
  /** What it is good for, in the agent's words. */
  readonly why?: string | undefined;
}

/** What was allowed in one task. */
export class TaskGrants {
  #canRead = false;
  #canWrite = false;
  /** Projects by the names under which they were allowed; true = with their history. */
  readonly #deep = new Map<string, boolean>();
  readonly #shared = new Set<string>();

  /** The grants that were given, in the order of `GRANTS`. */
  get list(): readonly Grant[] {
    return GRANTS.filter((grant) => this.has(grant));
  }

  has(grant: Grant): boolean {
    if (grant === "read") return this.#canRead;
    return grant === "write" ? this.#canWrite : this.#deep.size > 0;
  }

  /** Tells whether all that is asked for was allowed before. */
  covers({ grant, project, history, shared }: AskedGrant): boolean {
    if (grant === "deep") return this.coversDeep(project ?? "", history);
    return this.has(grant) && (grant === "write" || this.coversShared(shared));
  }

  coversDeep(project: string, history: boolean): boolean {
    const withHistory = this.#deep.get(toKey(project));
    return withHistory !== undefined && (withHistory || !history);
  }

  coversShared(topics: readonly string[]): boolean {
    return topics.every((topic) => this.#shared.has(toTopic(topic)));
  }

  add({ grant, project = "", history, shared }: AskedGrant): void {
    if (grant === "write") this.#canWrite = true;
    if (grant === "deep") {
      this.#deep.set(toKey(project), history || this.#deep.get(toKey(project)) === true);
    }
    if (grant !== "read") return;
    this.#canRead = true;
    for (const topic of shared) this.#shared.add(toTopic(topic));
  }

  /** Takes back what was allowed by one request. */
  remove({ grant, project = "" }: AskedGrant): void {
    if (grant === "write") this.#canWrite = false;
    if (grant === "deep") this.#deep.delete(toKey(project));
    if (grant !== "read") return;
    this.#canRead = false;
    this.#shared.clear();
  }
}

/** Returns a topic as it is compared: a path below `_shared/`, with or without its ending. */
export function toTopic(name: string): string {
  return toKey(name).replace(/^_shared\//, "").replace(/\.(?:md|markdown)$/i, "");
}

function toKey(name: string): string {
  return name.trim().normalize("NFC");
}
