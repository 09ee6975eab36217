/** What agents are told that may not do something; none of it says anything of the vault. */
import type { Grant } from "@/lib/contracts_access.ts";
import { AppError, GrantMissing, InvalidRequest } from "@/lib/errors.ts";
import type { DeepScope } from "./reading_access.ts";
import { GRANT_HOURS } from "./consent_text.ts";
import { AUTH_KEYS } from "./grants.ts";

/** Nobody has been asked for it in this task. */
export function notAsked(grant: Grant, task?: string): GrantMissing {
  const more = grant === "deep" ? ", project (the one that you need)" : "";
  if (task !== undefined) {
    return new GrantMissing(
      `A person has to allow this first (${AUTH_KEYS[grant]}): call request_access with ` +
        `grant="${grant}"${more}, task="${task}"`,
    );
  }
  return new GrantMissing(
    `A person has to allow this first (${AUTH_KEYS[grant]}): pass the task that request_access ` +
      `returned as task; if there is none yet, call request_access with grant="${grant}"${more}`,
  );
}

/** What a deep read is about was not asked for, whatever else was. */
export function notAskedDeep({ project, history }: DeepScope, task: string): GrantMissing {
  const withHistory = history ? ", history=true" : "";
  return new GrantMissing(
    `A person has to allow this first (${AUTH_KEYS.deep}): call request_access with ` +
      `grant="deep", project=${JSON.stringify(project)}${withHistory}, task="${task}"`,
  );
}

export function notDecided(grant: Grant): GrantMissing {
  return new GrantMissing(
    `The person has not decided yet (${AUTH_KEYS[grant]}). Go on without it, or call ` +
      "request_access once more to hear of the decision",
  );
}

export function wasRefused(grant: Grant): GrantMissing {
  return new GrantMissing(
    `The person has refused this (${AUTH_KEYS[grant]}): go on without it, and do not ask again`,
  );
}

export function taskIsOver(): GrantMissing {
  return new GrantMissing(
    `There is no such task: it has ended (after ${GRANT_HOURS} hours, with its session, or as the ` +
      "server was started anew), or another caller has opened it. Call request_access for a new one",
  );
}

export function isElsewhere(task: string): GrantMissing {
  return new GrantMissing(
    `Task ${task} was opened for another place: pass the cwd or repo that request_access was ` +
      "called with, or none, or call request_access for a task of this place",
  );
}

export function sharedNotNamed(task: string): GrantMissing {
  return new GrantMissing(
    "A person has to allow these files of _shared/ by name: call request_access with " +
      `grant="read", task="${task}" and shared, the list of them`,
  );
}

export function readComesFirst(task: string | undefined): InvalidRequest {
  const message = "can be deep only once an ordinary read was allowed in the same task: call " +
    'request_access with grant="read" first';
  return new InvalidRequest(
    `Cannot ask for this: grant ${message}${task === undefined ? ", and pass its task" : ""}`,
    [{ field: "grant", value: "deep", message }],
  );
}

export function noSuchTask(): AppError {
  return new AppError("not-found", "There is no such task, or another caller has opened it");
}

export function noSuchRequest(): AppError {
  return new AppError(
    "not-found",
    "There is no such request: its task has ended, the server was started anew, or newer questions " +
      "took its place",
  );
}

export function tooMany(what: string): AppError {
  return new AppError("too-many-requests", `Too many ${what}: wait until some are settled`);
}
