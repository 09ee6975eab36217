/** Asks for hints as an agent's hooks do, each message in a session of its own. */
import type { Caller } from "@/lib/contracts.ts";
import { HintsInput, type Trigger, TRIGGERS } from "@/lib/contracts_recall.ts";
import { giveHints } from "@/lib/recall/give_hints.ts";
import type { Services } from "@/lib/services.ts";
import { type DataSet, type Query, readQuestions } from "./data_sets.ts";
import { normalizePath } from "./measures.ts";
import { openServices } from "./open_services.ts";
import { readMarkdown } from "../bench/read_markdown.ts";
import { randomSource } from "../_support/random.ts";

/** What hints one message brought. */
export interface RecallResult {
  /** Whose memories were there to be hinted. */
  readonly set: string;
  /** Whose query the message was. */
  readonly from: string;
  readonly trigger: Trigger;
  readonly minScore: number;
  readonly hints: number;
  /** Hints for memories that answer the query; of another set none does. */
  readonly right: number;
}

export interface RecallOptions {
  readonly minScores: readonly number[];
  /** How many queries of each set. */
  readonly limit: number;
  readonly embedding: string | undefined;
  /** So many characters of other sets' notes stand around each query; without it none. */
  readonly among?: number | undefined;
}

/** What stands around queries, by itself. */
export const TEXT_ALONE = "text alone";
const SEED = 11;

const AGENT: Caller = { kind: "agent", loopback: true };

/**
 * Indexes the vault of each data set that has memories with descriptions by itself and sends it the
 * queries of all sets, as a user's messages and as an agent's output. Among other text it is sent
 * its own queries and that text.
 *
 * @returns Nothing of other sets.
 */
export async function measureRecall(
  sets: readonly DataSet[],
  { minScores, limit, embedding, among }: RecallOptions,
): Promise<RecallResult[]> {
  const all = sets.flatMap((set) => {
    const { queries } = readQuestions(set, { limit, root: set.vault });
    return queries.map((query) => ({ from: set.name, query }));
  });
  const results: RecallResult[] = [];
  for (const { name, vault } of sets) {
    const asked = among === undefined ? all : bury(all, sets, { name, among });
    await using opened = await openServices(vault, embedding);
    const { services } = opened;
    await services.ready();
    if (services.index.filterPaths({ hintableOnly: true }).size === 0) continue;
    for (const minScore of minScores) {
      const chooser = withMinScore(services, minScore);
      for (const trigger of TRIGGERS) {
        for (const { from, query } of asked) {
          const found = await askForHints(chooser, query, trigger);
          const right = from === name ? countRight(services, query, found) : 0;
          results.push({ set: name, from, trigger, minScore, hints: found.length, right });
        }
      }
    }
  }
  return results;
}

interface Asked {
  /** Whose query it is. */
  readonly from: string;
  readonly query: Query;
}

/** Returns the queries of one set, each among lines of the notes of others, and these lines alone. */
function bury(
  all: readonly Asked[],
  sets: readonly DataSet[],
  { name, among }: { readonly name: string; readonly among: number },
): Asked[] {
  const lines = sets.filter((set) => set.name !== name)
    .flatMap(({ vault }) => readMarkdown(vault).flatMap((text) => text.split("\n")));
  const random = randomSource(SEED);
  return all.filter(({ from }) => from === name).flatMap(({ from, query }) => {
    const around: string[] = [];
    const at = random(lines.length);
    for (let i = at, chars = 0; chars < among && i < lines.length; i++) {
      around.push(lines[i] ?? "");
      chars += 1 + (lines[i]?.length ?? 0);
    }
    const place = random(around.length + 1);
    const buried = around.toSpliced(place, 0, query.query).join("\n");
    return [
      { from, query: { ...query, query: buried } },
      { from: TEXT_ALONE, query: { ...query, query: around.join("\n") } },
    ];
  });
}

function withMinScore(services: Services, recallMinScore: number): Services {
  return { ...services, config: { ...services.config, recallMinScore } };
}

/** Returns the ids of the memories that were hinted. */
async function askForHints(
  services: Services,
  { query: text }: Query,
  trigger: Trigger,
): Promise<string[]> {
  // A session of its own, so that no question holds back what another one was hinted.
  const input = HintsInput.parse({ trigger, text, session: services.newId() });
  const { hints } = await giveHints(services, AGENT, input);
  return hints.map((hint) => hint.id);
}

function countRight({ index }: Services, { relevant }: Query, ids: readonly string[]): number {
  const answers = new Set(relevant.map(normalizePath));
  const paths = ids.flatMap((id) => index.claimantsOf(id)).map(normalizePath);
  return paths.filter((path) => answers.has(path)).length;
}

/** What one threshold does to the memories of one set. */
export interface RecallRow {
  readonly set: string;
  readonly trigger: Trigger;
  readonly minScore: number;
  /** How many queries of its own. */
  readonly n: number;
  /** Share of them with the right memory among their hints. */
  readonly recall: number;
  /** Share of their hints that are right; NaN without any. */
  readonly right: number;
  /** How many hints one of them brings. */
  readonly hints: number;
  /** By other set: how many hints one of its queries brings. */
  readonly others: Readonly<Record<string, number>>;
}

/** Sums results up by vault, trigger and threshold. */
export function toRecallRows(results: readonly RecallResult[]): RecallRow[] {
  const keyOf = ({ set, trigger, minScore }: RecallResult) =>
    JSON.stringify([set, trigger, minScore]);
  return [...Map.groupBy(results, keyOf).values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { set, trigger, minScore } = first;
    const own = group.filter(({ from }) => from === set);
    const others = Map.groupBy(group.filter(({ from }) => from !== set), ({ from }) => from);
    const [hints, right] = [sum(own, "hints"), sum(own, "right")];
    return [{
      set,
      trigger,
      minScore,
      n: own.length,
      recall: own.filter((result) => result.right > 0).length / own.length,
      right: right / hints,
      hints: hints / own.length,
      others: Object.fromEntries(
        Array.from(others, ([name, asked]) => [name, sum(asked, "hints") / asked.length]),
      ),
    }];
  });
}

function sum(results: readonly RecallResult[], key: "hints" | "right"): number {
  return results.reduce((total, result) => total + result[key], 0);
}
