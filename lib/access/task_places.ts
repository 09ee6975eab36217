/** Where tasks work: each belongs to one folder or remote, whatever its calls say or leave unsaid. */
import { isAbsolute } from "node:path";
import type { Caller } from "@/lib/contracts.ts";
import { isWithin, type SaidPlace, type Task, type TaskPlace } from "./tasks.ts";

/** Where a call comes from, as far as that is known. */
export interface CallPlace extends SaidPlace {
  /** Where the client itself says that it works, if the call does not say it: its first root. */
  readonly found?: string | undefined;
}

export class TaskPlaces {
  readonly #toRepoId: (url: string) => string | undefined;

  /** @param toRepoId Returns what all spellings of a remote have in common. */
  constructor(toRepoId: (url: string) => string | undefined) {
    this.#toRepoId = toRepoId;
  }

  /** Returns the place at which a task is opened. */
  of(caller: Caller, { repo, found, cwd = caller.cwd ?? found }: CallPlace): TaskPlace {
    if (repo === undefined) return { cwd, repoId: undefined };
    return { cwd: undefined, repoId: this.#toRepoId(repo) };
  }

  /** Nothing that says where a call comes from may speak for another place than that of its task. */
  fits(place: TaskPlace, caller: Caller, { repo, cwd, found }: CallPlace): boolean {
    if (isNowhere(place)) return true;
    if (repo !== undefined) {
      return place.repoId !== undefined && this.#toRepoId(repo) === place.repoId;
    }
    // A header or a client says where it runs, which says nothing of a remote.
    if (place.cwd === undefined) return cwd === undefined;
    const said = cwd ?? caller.cwd;
    if (said !== undefined) return isWithin(place.cwd, said);
    // A client that was opened above or below is the same one.
    return found === undefined || isWithin(place.cwd, found) || isWithin(found, place.cwd);
  }

  /** A task that was opened nowhere belongs to the first place that an admitted call names. */
  bind(task: Task, caller: Caller, { repo, cwd = caller.cwd }: CallPlace): void {
    const isUsable = repo === undefined
      ? cwd !== undefined && caller.loopback && isAbsolute(cwd)
      : this.#toRepoId(repo) !== undefined;
    if (isNowhere(task.place) && isUsable) task.place = this.of(caller, { repo, cwd });
  }
}

function isNowhere({ cwd, repoId }: TaskPlace): boolean {
  return cwd === undefined && repoId === undefined;
}

/** Returns where a call comes from that does not say it: where its client is, within the folder. */
export function closer(folder: string | undefined, found: string | undefined): string | undefined {
  const isCloser = found !== undefined && (folder === undefined || isWithin(folder, found));
  return isCloser ? found : folder;
}
