/** What is to be changed to connect an agent; nothing is changed here. */
import { AppError } from "@/lib/errors.ts";
import { type OutsideFile, readOutsideFile, requireWritable } from "@/lib/outside_files.ts";
import type { Machine } from "@/lib/machine.ts";
import type { AgentConnection, FileEdits, Wanted } from "./connection.ts";
import { type Edit, notEditable } from "./edit.ts";
import type { InstallRecord } from "./install_record.ts";
import { withoutRecorded } from "./undo_install.ts";
import { addEdit, decodeText, type DoneEdit, encodeText, lookAtEdit } from "./edit_text.ts";

/** A file, and what it is to hold. */
export interface FilePlan {
  readonly path: string;
  readonly what: readonly string[];
  readonly before: OutsideFile | undefined;
  readonly bytes: Uint8Array;
  readonly mode: number;
  /** What is missing, in the order in which it is added. */
  readonly done: readonly DoneEdit[];
  /** The one of these that the agent's own program may make. */
  readonly registration: Edit | undefined;
}

export interface InstallPlan {
  /** Of what is missing: what is there already is left alone. */
  readonly files: readonly FilePlan[];
  /** Why nothing can be done; empty if all can. */
  readonly refusals: readonly string[];
}

/**
 * Looks at all files of an agent that are to hold something.
 *
 * @param known What is on record and would be undone first.
 */
export async function planInstall(
  machine: Machine,
  connection: AgentConnection,
  { known, ...wanted }: Wanted & { readonly known?: InstallRecord },
): Promise<InstallPlan> {
  const registration = connection.registration(machine, wanted.server);
  const plans = new Map<string, FilePlan>();
  const refusals = new Set<string>();
  for (const each of [registration, ...connection.files(machine, wanted)]) {
    try {
      const plan = plans.get(each.path) ?? await startPlan(each, known);
      plans.set(each.path, addTo(plan, each, each === registration));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      refusals.add(error.message);
    }
  }
  const files = [...plans.values()].filter(({ done }) => done.length > 0);
  return { files, refusals: [...refusals] };
}

async function startPlan(
  { path, mode }: FileEdits,
  known: InstallRecord | undefined,
): Promise<FilePlan> {
  const before = await readOutsideFile(path);
  await requireWritable(path, before);
  const record = known?.files.find((file) => file.path === path);
  const now = before?.bytes ?? new Uint8Array();
  const bytes = record ? withoutRecorded(record, now) : now;
  return { path, what: [], before, bytes, mode, done: [], registration: undefined };
}

/** Adds to a plan what is missing of some edits. */
function addTo(
  plan: FilePlan,
  { path, what, edits, rival }: FileEdits,
  isRegistration: boolean,
): FilePlan {
  return within(path, () => {
    const { bom, text } = decodeText(plan.bytes);
    if (rival !== undefined && text.includes(rival)) {
      throw notEditable(`it names ${rival} already, set up by hand: remove that, then try again`);
    }
    const missing = edits.filter((edit) => isMissing(text, edit));
    if (missing.length === 0) return plan;
    const done = [...plan.done];
    const changed = missing.reduce((sum, edit) => {
      const edited = addEdit(sum, edit);
      done.push({ edit, undo: edited.undo });
      return edited.text;
    }, text);
    return {
      ...plan,
      what: [...plan.what, what],
      bytes: encodeText({ bom, text: changed }),
      done,
      registration: isRegistration ? missing[0] : plan.registration,
    };
  });
}

function isMissing(text: string, edit: Edit): boolean {
  const state = lookAtEdit(text, edit);
  if (state !== "taken") return state === "missing";
  // A file of ours, which is brought up to date.
  if (edit.kind === "file") return true;
  throw notEditable(
    `there is another ${edit.at.join(".")} already, which is not from here: remove it, then try ` +
      "again",
  );
}

/** Says of which file an error speaks. */
function within<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new AppError(error.code, `${path} was left alone: ${error.message}`);
  }
}
