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

/** What was allowed in one task: the sum of all that stands now. */
export class TaskGrants {
  #given: readonly AskedGrant[] = [];
  /** Of `_shared/`, those that may be read. */
  #topics: ReadonlySet<string> = new Set();

  /** @param given What the person has allowed and not taken back. */
  set(given: readonly AskedGrant[]): void {
    this.#given = given;
    this.#topics = toTopics(given.flatMap(({ grant, shared }) => grant === "read" ? shared : []));
  }

  /** The grants that were given, in the order of `GRANTS`. */
  get list(): readonly Grant[] {
    return GRANTS.filter((grant) => this.has(grant));
  }

  has(grant: Grant): boolean {
    return this.#given.some((each) => each.grant === grant);
  }

  /** Tells whether all that is asked for was allowed before. */
  covers({ grant, project, history, shared }: AskedGrant): boolean {
    if (grant === "deep") return this.coversDeep(project ?? "", history);
    return this.has(grant) && (grant === "write" || this.coversShared(shared));
  }

  coversDeep(project: string, history: boolean): boolean {
    return this.#given.some((each) =>
      each.grant === "deep" && reachesInto(each, { project, history })
    );
  }

  coversShared(topics: readonly string[]): boolean {
    return topics.every((topic) => this.#topics.has(toTopic(topic)));
  }
}

/** Returns a topic as it is compared: a file's path below `_shared/`, with or without its ending. */
function toTopic(name: string): string {
  return toKey(name).replace(/^_shared\//, "").replace(/\.(?:md|markdown)$/i, "");
}

function toTopics(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.map(toTopic));
}

/** Tells whether who gets what is asked for gets all that another wish is about. */
export function includesWish(asked: AskedGrant, other: AskedGrant): boolean {
  const topics = toTopics(asked.shared);
  return asked.grant === other.grant && reachesInto(asked, other) &&
    other.shared.every((topic) => topics.has(toTopic(topic)));
}

type Reach = Pick<AskedGrant, "project" | "history">;

/** Tells whether two are about the same project, and the first about as much of it as the second. */
function reachesInto(asked: Reach, other: Reach): boolean {
  return toKey(asked.project ?? "") === toKey(other.project ?? "") &&
    (asked.history || !other.history);
}

/** Tells wishes apart by what the person would decide, not by the words for it. */
export function wishKey({ grant, project = "", history, shared }: AskedGrant): string {
  return JSON.stringify([grant, toKey(project), history, [...new Set(shared.map(toTopic))].sort()]);
}

function toKey(name: string): string {
  return name.trim().normalize("NFC");
}
