/**
 * What was hinted in which run of which session, so that nothing is hinted twice. In memory alone:
 * after a restart a memory may come up once more, which harms nobody.
 */
import { SUPPRESSION_RUNS, type Trigger } from "@/lib/contracts_recall.ts";
import { putLast } from "@/lib/put_last.ts";

/** The session that was used longest ago is forgotten beyond so many. */
export const MAX_SESSIONS = 1_000;
/** Of one run: an agent that was hinted at so much takes no notice of more. */
export const MAX_RUN_HINTS = 100;
/** Of a session: runs of before are forgotten beyond so many hints, and so many runs. */
const MAX_SESSION_HINTS = 1_000;
const MAX_NAMED_RUNS = 100;

/** Where hints are asked for. */
export interface RunPlace {
  readonly session: string;
  /** Absent: the current run or, for a user's message, the next one. */
  readonly run?: string | undefined;
  readonly trigger: Trigger;
}

/** One run of an agent. */
interface Run {
  /** Ids of the memories that were hinted in it. */
  readonly seen: Set<string>;
  /** True if the person wants none in it. */
  isQuiet: boolean;
}

interface Session {
  current: Run | undefined;
  /** Runs that have a name, the one used longest ago first. */
  readonly named: Map<string, Run>;
  /** How many runs there were, named or not. */
  opened: number;
  /** By id: how many runs there had been when a memory was hinted last. */
  readonly hintedAt: Map<string, number>;
}

/** A run in which hints may be given now. */
export interface OpenRun {
  /** How many memories may be held back. */
  readonly heldCount: number;
  /** True once the run has had its share. */
  readonly isFull: boolean;
  /** True if the person wants no hints in it. */
  readonly isQuiet: boolean;
  /** Takes down that the person wants none. */
  quieten(): void;
  /** Tells whether a memory was hinted too short a time ago. */
  isHeld(id: string): boolean;
  /** Takes down what is hinted. */
  mark(ids: Iterable<string>): void;
}

/** All sessions of which anything is known. */
export class HintSessions {
  readonly #sessions = new Map<string, Session>();

  get size(): number {
    return this.#sessions.size;
  }

  /** Finds the run that a request belongs to, or opens it. */
  enter({ session: name, run, trigger }: RunPlace): OpenRun {
    const session = this.#find(name);
    const entered = enterRun(session, run, trigger);
    // As of now: what is opened while this request is answered must not let go of any.
    const hinted = new Set(session.hintedAt.keys());
    return {
      get heldCount() {
        return session.hintedAt.size + entered.seen.size;
      },
      get isFull() {
        return entered.seen.size >= MAX_RUN_HINTS;
      },
      get isQuiet() {
        return entered.isQuiet;
      },
      quieten() {
        entered.isQuiet = true;
      },
      // An output is compared with its own run alone, a message with those before too.
      isHeld: (id) =>
        entered.seen.has(id) ||
        trigger === "user" && (hinted.has(id) || session.hintedAt.has(id)),
      mark(ids) {
        for (const id of ids) {
          entered.seen.add(id);
          session.hintedAt.set(id, session.opened);
        }
      },
    };
  }

  #find(name: string): Session {
    const session = this.#sessions.get(name) ?? newSession();
    putLast(this.#sessions, [name, session], MAX_SESSIONS);
    return session;
  }
}

function newSession(): Session {
  return { current: undefined, named: new Map(), opened: 0, hintedAt: new Map() };
}

function enterRun(session: Session, name: string | undefined, trigger: Trigger): Run {
  if (name === undefined) {
    if (trigger === "assistant" && session.current) return session.current;
    return session.current = openRun(session);
  }
  const known = session.named.get(name);
  const run = known ?? openRun(session);
  putLast(session.named, [name, run], MAX_NAMED_RUNS);
  // A run that goes on has not passed, however many were opened since.
  for (const id of known?.seen ?? []) session.hintedAt.set(id, session.opened);
  forgetOldRuns(session);
  return session.current = run;
}

function openRun(session: Session): Run {
  session.opened++;
  for (const [id, opened] of session.hintedAt) {
    if (session.opened - opened > SUPPRESSION_RUNS) session.hintedAt.delete(id);
  }
  return { seen: new Set(), isQuiet: false };
}

function forgetOldRuns({ named }: Session): void {
  let hints = named.values().reduce((sum, { seen }) => sum + seen.size, 0);
  for (const [name, { seen }] of named) {
    if (named.size <= SUPPRESSION_RUNS + 1 || hints <= MAX_SESSION_HINTS) return;
    named.delete(name);
    hints -= seen.size;
  }
}
