/** Measures hints beside searches of the same words, without HTTP in between. */
import { join } from "node:path";
import { type Caller, SearchParams } from "@/lib/contracts.ts";
import { HintsInput, type Trigger } from "@/lib/contracts_recall.ts";
import { giveHints } from "@/lib/recall/give_hints.ts";
import { searchNotes } from "@/lib/recall/search_notes.ts";
import type { Services } from "@/lib/services.ts";
import { openServices } from "../eval/open_services.ts";
import { untilSettled } from "./bench_vault.ts";
import { bestOf } from "./best_of.ts";
import { Corpus } from "./corpus.ts";
import { makeQueries, QUERY_CLASSES } from "./queries.ts";
import { timeInTurn, type Times } from "./times.ts";
import { untilStill } from "./until_still.ts";

export const HINT_WAYS = [
  "hybrid search",
  "hints for a message",
  "hints for an output",
  "hints for two sentences",
  "hints for four sentences",
  "hints for a long output",
] as const;
export type HintWay = (typeof HINT_WAYS)[number];

export interface HintSettings {
  readonly notes: number;
  /** Of each class in a round. */
  readonly queries: number;
  readonly rounds: number;
}

export type HintTimes = Readonly<Record<HintWay, Times>>;

const CALLER: Caller = { kind: "agent", loopback: true };
const SEARCH = SearchParams.parse({ q: "x", mode: "hybrid" });
/** Of a long output: what a command may print. */
const LONG_LINES = 60;

/** Returns the best of all rounds, over a vault whose notes are all memories. */
export async function measureHintTimes(
  { notes, queries, rounds }: HintSettings,
  say: (what: string) => void,
): Promise<HintTimes> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "bench-hints-" }));
  await using disposer = new AsyncDisposableStack();
  disposer.defer(() => Deno.remove(folder, { recursive: true }));
  const corpus = new Corpus();
  say(`${notes} memories are written and read`);
  writeMemories(corpus, folder, notes);
  const { services } = disposer.use(await openServices(folder));
  await services.ready();
  await untilSettled();
  const made = makeQueries(corpus, notes, queries);
  const texts = QUERY_CLASSES.flatMap((name) => made[name].map(({ text }) => text));
  const results: HintTimes[] = [];
  for (let round = 1; round <= rounds; round++) {
    say(`round ${round} of ${rounds}`);
    results.push(await measureRound(services, texts));
  }
  return bestOf(results);
}

function writeMemories(corpus: Corpus, folder: string, notes: number): void {
  Deno.mkdirSync(join(folder, "memories"));
  for (let number = 0; number < notes; number++) {
    const { text } = corpus.noteAt(number);
    const [title = "", , sentence = ""] = text.split("\n");
    const description = JSON.stringify(`${title.slice(2)}: ${sentence.slice(0, 80)}`);
    Deno.writeTextFileSync(
      join(folder, "memories", `${number}.md`),
      `---\nid: mem_${number}\ndescription: ${description}\ntags: [t${number % 100}]\n---\n${text}`,
    );
  }
}

async function measureRound(services: Services, texts: readonly string[]): Promise<HintTimes> {
  const hints = (trigger: Trigger, text: string) => {
    const session = services.newId();
    return giveHints(services, CALLER, HintsInput.parse({ trigger, text, session }));
  };
  const severalOf = (text: string, count: number) => {
    const at = texts.indexOf(text);
    return Array.from({ length: count }, (_, i) => texts[(at + i) % texts.length]).join("\n");
  };
  const ways = new Map<HintWay, (text: string) => unknown>([
    ["hybrid search", (q) => searchNotes(services, CALLER, { ...SEARCH, q })],
    ["hints for a message", (text) => hints("user", text)],
    ["hints for an output", (text) => hints("assistant", text)],
    ["hints for two sentences", (text) => hints("user", severalOf(text, 2))],
    ["hints for four sentences", (text) => hints("user", severalOf(text, 4))],
    ["hints for a long output", (text) => hints("assistant", severalOf(text, LONG_LINES))],
  ]);
  const read = () => Promise.resolve(services.index.freshness);
  await untilStill({ read, stillMs: STILL_MS });
  const times = await timeInTurn(texts, ways);
  return { ...NOT_MEASURED, ...times };
}

/** So long the way to notice changes has to stay the same. */
const STILL_MS = 5_000;
const NONE: Times = { p50: NaN, p99: NaN };
const NOT_MEASURED: HintTimes = {
  "hybrid search": NONE,
  "hints for a message": NONE,
  "hints for an output": NONE,
  "hints for two sentences": NONE,
  "hints for four sentences": NONE,
  "hints for a long output": NONE,
};
