/**
 * Counts what an answer tells of the vault, whatever it is made of, and cuts it where the task's
 * budget ends. A text counts unless its key is known to hold none, so that a new field is counted
 * before anybody thinks of it.
 */
import type { Caller } from "@/lib/contracts.ts";
import { BudgetExceeded } from "@/lib/errors.ts";
import { isRecord } from "@/lib/is_record.ts";
import type { Access } from "./access.ts";
import { type Budget, type BudgetLimit, type BudgetPart, formatLimit } from "./budget.ts";

type Json = Readonly<Record<string, unknown>>;

/** Names and places, words of this server, and what the caller itself has said. */
const FREE_KEYS: ReadonlySet<string> = new Set(
  ("id path kind uri url mimeType etag source conflicts conflictCopies " +
    "mode engine fallback query nextCursor nameFrom scope repoId branch note").split(" "),
);
/** Times and the like, which a note may have as anything: free as long as they can be that. */
const LABEL_KEYS: ReadonlySet<string> = new Set(["time", "updatedAt", "updated_at"]);
const MAX_LABEL_CHARS = 40;
/** Of a note, with keys that it chose itself: all of it counts. */
const OF_THE_NOTE = "frontmatter";
/** What makes an answer one of a file that was opened, beside its path. */
const BODY_KEYS = ["markdown", "body"] as const;

const PARTS: Readonly<Record<string, BudgetPart>> = {
  summary: "summary",
  facts: "facts",
  history: "history",
  shared: "shared",
};

type Spending = Pick<Access, "budgetOf" | "isBound">;

/** @throws {BudgetExceeded} If the caller's task may not get to see another character. */
export function requireRoom(access: Spending, caller: Caller): void {
  const reached = access.isBound(caller) && access.budgetOf(caller).reachedFor("other");
  if (reached) throw isSpent(reached);
}

/**
 * Returns as much of an answer as the caller's task has room for, counts it, and says what is left.
 * Lists lose their last items, other texts their ends. Callers who are free get the answer as it is.
 *
 * @throws {BudgetExceeded} If it is about a file, and the task may open no more of these.
 */
export function spendAnswer(access: Spending, caller: Caller, answer: Json): Json {
  if (!access.isBound(caller)) return answer;
  const budget = access.budgetOf(caller);
  const walk = new Walk(budget);
  const shown = walk.object(answer, "other");
  const { truncated, notShown } = walk;
  return {
    // What follows cannot be had any more in this task.
    ...(truncated.length > 0 ? withoutCursor(shown) : shown),
    budget: {
      ...budget.report,
      ...(truncated.length > 0 ? { truncated } : {}),
      ...(notShown > 0 ? { notShown } : {}),
    },
  };
}

/** The same for a list of a shape that has no room to say what is left. */
export function spendList<T extends object>(access: Spending, caller: Caller, answer: T): T {
  const fields = Object.fromEntries(Object.entries(answer));
  const { budget: _budget, ...shown } = spendAnswer(access, caller, fields);
  return shown as T;
}

/**
 * Returns as much of a file's text as the caller's task has room for, and counts it.
 *
 * @throws {BudgetExceeded} If it may open no more files, or see not another character.
 */
export function spendFile(
  access: Spending,
  caller: Caller,
  file: { readonly path: string; readonly kind: string; readonly text: string },
): string {
  if (!access.isBound(caller)) return file.text;
  const budget = access.budgetOf(caller);
  const part = PARTS[file.kind] ?? "other";
  openFile(budget, part, file.path);
  return budget.take(part, file.text).text;
}

/** One way through an answer. */
class Walk {
  readonly #budget: Budget;
  readonly #reached = new Set<BudgetLimit>();
  notShown = 0;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  /** The limits that cut something, as answers name them. */
  get truncated(): string[] {
    return [...this.#reached].map(formatLimit);
  }

  object(value: Json, outer: BudgetPart): Json {
    const part = PARTS[String(value["kind"])] ?? outer;
    const { path } = value;
    const isOpened = BODY_KEYS.some((key) => typeof value[key] === "string");
    if (isOpened && typeof path === "string") openFile(this.#budget, part, path);
    const shown = Object.entries(value).map(([key, inner]) => {
      if (isFree(key, inner)) return [key, inner];
      return [key, key === OF_THE_NOTE ? this.#whole(inner, part) : this.#any(inner, part)];
    });
    return withTrueLines(Object.fromEntries(shown), value);
  }

  /** Keys and all, or nothing. */
  #whole(value: unknown, part: BudgetPart): unknown {
    const text = JSON.stringify(value);
    const limit = this.#budget.limitFor(part, text);
    if (limit === undefined) {
      this.#budget.take(part, text);
      return value;
    }
    this.#reached.add(limit);
    return {};
  }

  #any(value: unknown, part: BudgetPart): unknown {
    if (typeof value === "string") return this.#text(value, part);
    if (Array.isArray(value)) return this.#list(value, part);
    return isRecord(value) ? this.object(value, part) : value;
  }

  #text(text: string, part: BudgetPart): string {
    const taken = this.#budget.take(part, text);
    if (taken.cutBy) this.#reached.add(taken.cutBy);
    return taken.text;
  }

  /** Items stay whole, and the first that does not fit is the end of the list. */
  #list(items: readonly unknown[], outer: BudgetPart): unknown[] {
    const shown: unknown[] = [];
    for (const item of items) {
      const kind = isRecord(item) ? String(item["kind"]) : "";
      const part = PARTS[kind] ?? outer;
      const limit = this.#budget.limitFor(part, textsOf(item).join(""));
      if (limit !== undefined) {
        this.#reached.add(limit);
        this.notShown += items.length - shown.length;
        break;
      }
      shown.push(this.#any(item, part));
    }
    return shown;
  }
}

/** Lists what counts of a value. */
function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (isFree(key, inner)) return [];
    return key === OF_THE_NOTE ? [JSON.stringify(inner)] : textsOf(inner);
  });
}

function isFree(key: string, value: unknown): boolean {
  if (FREE_KEYS.has(key)) return true;
  return LABEL_KEYS.has(key) && typeof value === "string" && value.length <= MAX_LABEL_CHARS;
}

/** A page that was cut ends on another line than it says. */
function withTrueLines(shown: Json, before: Json): Json {
  const { markdown, lines } = shown;
  const isCut = typeof markdown === "string" && markdown !== before["markdown"];
  if (!isCut || !isRecord(lines) || typeof lines["start"] !== "number") return shown;
  const breaks = markdown.replace(/\n$/, "").split("\n").length - 1;
  return { ...shown, lines: { ...lines, end: lines["start"] + breaks } };
}

function withoutCursor({ nextCursor: _nextCursor, ...answer }: Json): Json {
  return answer;
}

function openFile(budget: Budget, part: BudgetPart, path: string): void {
  const reached = budget.openFile(part, path) ?? budget.reachedFor(part);
  if (reached) throw isSpent(reached);
}

/** Says that a limit is reached, and what to do. */
export function isSpent(limit: BudgetLimit): BudgetExceeded {
  return new BudgetExceeded(
    `The budget of this task is spent (${
      formatLimit(limit)
    }): go on with what you have seen. For ` +
      "more the person has to allow another task: request_access, without task",
  );
}
