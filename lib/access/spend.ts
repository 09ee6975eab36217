/**
 * Counts what an answer tells of the vault, whatever it is made of, and cuts it where the task's
 * budget ends. A text counts unless its key is known to hold none, so that a new field is counted
 * before anybody thinks of it.
 */
import type { Caller } from "@/lib/contracts.ts";
import { isRecord } from "@/lib/is_record.ts";
import type { Access } from "./access.ts";
import {
  type Budget,
  type BudgetLimit,
  type BudgetPart,
  budgetSpent,
  formatLimit,
} from "./budget.ts";

type Json = Readonly<Record<string, unknown>>;

/** Words of this server, and what the caller itself has said. */
const FREE_KEYS: ReadonlySet<string> = new Set(
  "kind mimeType etag mode engine fallback query nextCursor nameFrom scope note".split(" "),
);
/** Names, places and times are free as long as nobody could take them for a text. */
const LABEL_KEYS: ReadonlyMap<string, number> = new Map([
  ...["id", "path", "uri", "url", "source", "repoId", "branch"].map((key) => [key, 200] as const),
  ...["time", "updatedAt", "updated_at"].map((key) => [key, 40] as const),
]);
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
  if (reached) throw budgetSpent([formatLimit(reached)]);
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

/** Of a write: what it tells of other files, and of a memory what it was before. */
const HEARSAY = ["similar", "notice", "notices", "notWritten"] as const;
const CONTENT = ["name", "description", "tags"] as const;

/**
 * Counts of the answer to a write what the caller has not said itself; what does not fit is left out.
 * Who may not read is told none of it.
 */
export function spendHearsay(access: Spending, caller: Caller, answer: Json): Json {
  if (!access.isBound(caller) || caller.view?.canRead === false) return answer;
  const keys = answer["created"] === false ? [...HEARSAY, ...CONTENT] : HEARSAY;
  const told = keys.flatMap((key) =>
    answer[key] === undefined ? [] : [[key, answer[key]] as const]
  );
  return { ...answer, ...spendList(access, caller, Object.fromEntries(told)) };
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
    const opened = openedIn(value);
    const part = PARTS[String(opened?.["kind"] ?? value["kind"])] ?? outer;
    if (opened) openFile(this.#budget, part, String(opened["path"]));
    const shown = Object.entries(withoutRepeat(value)).map(([key, inner]) => {
      if (isFree(key, inner)) return [key, inner];
      // Of a note, as against a memory, it is not told what stands there, but whether it is sound.
      if (key === OF_THE_NOTE && "nameFrom" in value) return [key, inner];
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

  /** Items stay whole; the first for which the task has no room is the end of the list. */
  #list(items: readonly unknown[], outer: BudgetPart): unknown[] {
    const shown: unknown[] = [];
    let isOver = false;
    for (const item of items) {
      if (isOver) {
        this.notShown++;
        continue;
      }
      const kind = isRecord(item) ? String(item["kind"]) : "";
      const part = PARTS[kind] ?? outer;
      const limit = this.#budget.limitFor(part, textsOf(item).join(""));
      if (limit !== undefined) {
        this.#reached.add(limit);
        this.notShown++;
        // Others may be of a part that has room.
        isOver = limit.startsWith("MEMORY_TASK_");
        continue;
      }
      shown.push(this.#any(item, part));
    }
    return shown;
  }
}

/** Returns what names the file that an answer is, if it is one that was opened. */
function openedIn(value: Json): Json | undefined {
  const { path, metadata, text } = value;
  const isWhole = BODY_KEYS.some((key) => typeof value[key] === "string");
  if (isWhole && typeof path === "string") return value;
  // As the tool `fetch` has it.
  const isFetched = typeof text === "string" && isRecord(metadata);
  return isFetched && typeof metadata["path"] === "string" ? metadata : undefined;
}

/** The whole Markdown holds the body as well: to tell it twice would cost it twice. */
function withoutRepeat(value: Json): Json {
  const isTwice = BODY_KEYS.every((key) => typeof value[key] === "string");
  return isTwice ? { ...value, body: "" } : value;
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
  return typeof value === "string" && value.length <= (LABEL_KEYS.get(key) ?? 0);
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
  const reached = budget.reachedFor(part) ?? budget.openFile(part, path);
  if (reached) throw budgetSpent([formatLimit(reached)]);
}
