/**
 * The memory route: names of projects that may matter, and why, with nothing that their files say
 * beside that. It goes straight into an agent's context, so all of it has one small limit, and
 * whatever does not fit is counted.
 */
import { budgetSpent, formatLimit } from "@/lib/access/budget.ts";
import { measureText } from "@/lib/access/estimated_tokens.ts";
import type { ReadingAccess } from "@/lib/access/reading_access.ts";
import type { Caller } from "@/lib/contracts.ts";
import type {
  MemoryRouteAnswer,
  MemoryRouteInput,
  RouteCandidate,
} from "@/lib/contracts_reading.ts";
import { toHintLine } from "@/lib/hint_line.ts";
import { MAX_FOLDERS_LOOKED_AT } from "@/lib/projects/project_folders.ts";
import { MEMORY_ROUTE_MAX_CHARS, MEMORY_ROUTE_MAX_ITEMS } from "@/lib/protocol_keys.ts";
import { edgeSourcesOf, reasonsOf } from "./_reasons.ts";
import type { Candidate, FoundRoute } from "./candidate.ts";
import { findRoute, type FindRouteDeps } from "./find_route.ts";

export interface MemoryRouteDeps extends FindRouteDeps {
  readonly access: Pick<ReadingAccess, "budgetOf">;
}

/** The lists of a route, in the order in which they get room. */
const LISTS = ["candidates", "conflicts", "incompatible", "unresolved"] as const;
type ListName = (typeof LISTS)[number];
type RouteLists = Pick<MemoryRouteAnswer, ListName>;
/** All that is limited. */
type RouteText = RouteLists & Pick<MemoryRouteAnswer, "current" | "note">;

/** One entry, and the list that it belongs to. */
type Entry = { [L in ListName]: { readonly list: L; readonly item: RouteLists[L][number] } }[
  ListName
];

/** A route that fits. */
export interface PackedRoute {
  readonly route: RouteText;
  readonly notShown: MemoryRouteAnswer["notShown"];
  /** The limits that were reached. */
  readonly truncated: readonly string[];
}

const MAX_ITEMS = `MEMORY_ROUTE_MAX_ITEMS=${MEMORY_ROUTE_MAX_ITEMS}`;
const MAX_CHARS = `MEMORY_ROUTE_MAX_CHARS=${MEMORY_ROUTE_MAX_CHARS}`;
const MAX_LOOKS = `folders looked at=${MAX_FOLDERS_LOOKED_AT}`;

/**
 * Returns the memory route for an agent: at most 60 entries and 1500 characters, which count toward
 * its budget.
 *
 * @throws {BudgetExceeded} If the budget has no room for a single entry.
 * @throws {InvalidRequest} If it is said wrongly where the agent works.
 * @throws {IndexNotReady} If the vault cannot be listed.
 */
export async function memoryRoute(
  deps: MemoryRouteDeps,
  caller: Caller,
  input: MemoryRouteInput,
): Promise<MemoryRouteAnswer> {
  // First, as without a task there is none, and nothing may be looked at.
  const budget = deps.access.budgetOf(caller);
  const reached = budget.reachedFor("route");
  if (reached) throw budgetSpent([formatLimit(reached)]);
  const found = await findRoute(deps, caller, input);
  const { route, notShown, truncated } = packRoute(
    found,
    (text) => toLimitName(budget.limitFor("route", text)),
  );
  budget.take("route", JSON.stringify(route));
  return {
    ...route,
    checked: found.folders.length,
    unchecked: found.unchecked,
    notShown,
    budget: budget.report,
    truncated: [...truncated],
  };
}

function toLimitName(limit: Parameters<typeof formatLimit>[0] | undefined): string | undefined {
  return limit && formatLimit(limit);
}

/**
 * Takes of a route what fits: candidates first, then reports. Nothing is taken after an entry that
 * does not fit, so that what is shown is always the best.
 *
 * @param limitFor Names the limit that keeps a text from being handed out.
 * @throws {BudgetExceeded} If not even one entry may be handed out.
 */
export function packRoute(
  found: FoundRoute,
  limitFor: (text: string) => string | undefined,
): PackedRoute {
  const all = listEntries(found);
  const head = { current: found.current, ...noteOf(found) };
  const fitting = takeFitting(all, head);
  let spentBy: string | undefined;
  for (;;) {
    const route = toRoute(fitting.entries, head);
    const limit = limitFor(JSON.stringify(route));
    if (limit === undefined) {
      const limits = [limitOfScan(found), fitting.limit, spentBy];
      return {
        route,
        notShown: countRest(all, fitting.entries),
        truncated: [...new Set(limits.flatMap((each) => each ?? []))],
      };
    }
    spentBy = limit;
    fitting.entries.pop();
    if (fitting.entries.length === 0) throw budgetSpent([limit]);
  }
}

/** Takes entries, in order, as far as the limits of routes allow. */
function takeFitting(
  all: readonly Entry[],
  head: Pick<RouteText, "current" | "note">,
): { entries: Entry[]; limit?: string } {
  let chars = charsOf(toRoute([], head));
  const used = new Set<ListName>();
  for (const [at, { list, item }] of all.entries()) {
    // And a comma, but before the first one.
    chars += charsOf(item) + (used.has(list) ? 1 : 0);
    used.add(list);
    if (chars > MEMORY_ROUTE_MAX_CHARS) return { entries: all.slice(0, at), limit: MAX_CHARS };
    if (at === MEMORY_ROUTE_MAX_ITEMS) return { entries: all.slice(0, at), limit: MAX_ITEMS };
  }
  return { entries: [...all] };
}

function charsOf(value: unknown): number {
  return measureText(JSON.stringify(value)).chars;
}

function listEntries({ candidates, conflicts, folders, unresolved }: FoundRoute): Entry[] {
  const incompatible = folders
    .flatMap(({ name, problem }) => problem === undefined ? [] : { project: name, problem })
    .sort((a, b) => a.project < b.project ? -1 : 1);
  return [
    ...candidates.map((each) => ({ list: "candidates", item: toRouteCandidate(each) } as const)),
    ...conflicts.map((each) => ({ list: "conflicts", item: toHintLine(each) } as const)),
    ...incompatible.map(({ project, problem }) =>
      ({ list: "incompatible", item: { project: toHintLine(project), problem } }) as const
    ),
    ...unresolved.map((each) => ({ list: "unresolved", item: toHintLine(each) } as const)),
  ];
}

function toRoute(
  entries: readonly Entry[],
  { current, note }: Pick<RouteText, "current" | "note">,
): RouteText {
  return {
    current,
    candidates: itemsOf(entries, "candidates"),
    conflicts: itemsOf(entries, "conflicts"),
    incompatible: itemsOf(entries, "incompatible"),
    unresolved: itemsOf(entries, "unresolved"),
    ...(note === undefined ? {} : { note }),
  };
}

function itemsOf<L extends ListName>(entries: readonly Entry[], list: L): RouteLists[L][number][] {
  return entries.flatMap((entry) =>
    entry.list === list ? [entry.item as RouteLists[L][number]] : []
  );
}

function countRest(
  all: readonly Entry[],
  shown: readonly Entry[],
): MemoryRouteAnswer["notShown"] {
  const count = (list: ListName) => itemsOf(all, list).length - itemsOf(shown, list).length;
  return {
    candidates: count("candidates"),
    conflicts: count("conflicts"),
    incompatible: count("incompatible"),
    unresolved: count("unresolved"),
  };
}

function toRouteCandidate(candidate: Candidate): RouteCandidate {
  const { project, folder } = candidate;
  const sources = edgeSourcesOf(candidate);
  const updated = folder.meta?.updated;
  return {
    project: toHintLine(project),
    reasons: reasonsOf(candidate),
    ...(sources.length > 0 ? { edge_source: sources } : {}),
    ...(updated === undefined ? {} : { updated }),
    ...(folder.state === "canonical" ? {} : { migration: folder.state }),
  };
}

/** What was not looked at may match, so that nothing may be said of the whole vault. */
function noteOf({ candidates, current, unchecked }: FoundRoute): Pick<RouteText, "note"> {
  const notes = [
    ...(unchecked === 0
      ? []
      : [`${unchecked} folders were not checked: other projects among them may match`]),
    ...(current === "none" && candidates.length === 0 ? [NOTHING_FITS] : []),
  ];
  return notes.length === 0 ? {} : { note: notes.join(". ") };
}

const NOTHING_FITS =
  "Nothing ties a project to where you work: pass tags, or name a project in load_summaries";

function limitOfScan({ folders, unchecked }: FoundRoute): string | undefined {
  if (unchecked === 0) return undefined;
  return folders.length >= MEMORY_ROUTE_MAX_ITEMS ? MAX_ITEMS : MAX_LOOKS;
}
