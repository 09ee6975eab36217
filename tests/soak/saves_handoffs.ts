/** What the files of handoffs may hold: the last ten of a branch, the newest first. */
import { addHandoff, readHandoffs } from "@/lib/tasks/handoff_text.ts";
import type { Found } from "./saves_model.ts";

const MAX_HANDOFFS = 10;

interface Branch {
  readonly name: string;
  /** Bodies, the newest first. */
  bodies: readonly string[];
  pending?: string | undefined;
}

/** Holds for each branch what was handed off; one client at a time may do that. */
export class HandoffsModel {
  readonly #branches = new Map<string, Branch>();

  noteSent(name: string, body: string): void {
    const branch = this.#branches.get(name) ?? { name, bodies: [] };
    this.#branches.set(name, branch);
    branch.pending = body;
  }

  noteSaved(name: string): void {
    const branch = this.#branches.get(name);
    if (branch?.pending === undefined) return;
    branch.bodies = withNewest(branch.bodies, branch.pending);
    branch.pending = undefined;
  }

  /** Judges all files after a crash, by the names of their branches. */
  judgeAll(texts: ReadonlyMap<string, string>): Map<string, Found> {
    const names = new Set([...texts.keys(), ...this.#branches.keys()]);
    return new Map([...names].map((name) => [name, this.#judge(name, texts.get(name))]));
  }

  #judge(name: string, text: string | undefined): Found {
    const branch = this.#branches.get(name);
    if (branch === undefined) return "wrong";
    const { bodies, pending } = branch;
    branch.pending = undefined;
    if (isFileOf(branch, bodies, text)) return "acknowledged";
    if (pending === undefined) return "wrong";
    branch.bodies = withNewest(bodies, pending);
    return isFileOf(branch, branch.bodies, text) ? "unheard" : "wrong";
  }
}

function withNewest(bodies: readonly string[], body: string): readonly string[] {
  return [body, ...bodies].slice(0, MAX_HANDOFFS);
}

/** Makes the file anew from what was sent, and the times that it tells. */
function isFileOf(
  { name }: Branch,
  bodies: readonly string[],
  text: string | undefined,
): boolean {
  if (text === undefined || bodies.length === 0) return text === undefined && bodies.length === 0;
  const found = readHandoffs(text);
  if (found.length !== bodies.length) return false;
  let made: string | undefined;
  for (let at = found.length - 1; at >= 0; at--) {
    const [entry, body] = [found[at], bodies[at]];
    if (entry === undefined || body === undefined) return false;
    made = addHandoff(made, { ...entry, body }, name);
  }
  return made === text;
}
