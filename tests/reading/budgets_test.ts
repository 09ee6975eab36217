/** No limit of the protocol is ever exceeded, as counted here from the answers alone. */
import { ok } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { Budget } from "@/lib/access/budget.ts";
import {
  LoadSummariesInput,
  type MemoryRouteAnswer,
  ReadProjectInput,
} from "@/lib/contracts_reading.ts";
import { AppError } from "@/lib/errors.ts";
import { loadSummaries } from "@/lib/reading/load_summaries.ts";
import { memoryRoute } from "@/lib/reading/memory_route.ts";
import { readProject } from "@/lib/reading/read_project.ts";
import { anyText } from "@/tests/_support/any_text.ts";
import {
  reader,
  type ReadingWorld,
  readingWorld,
  SITE,
  summary,
} from "@/tests/_support/reading_world.ts";
import type { Files } from "@/tests/_support/temp_vault.ts";

/** What one or more answers have handed out. */
interface Count {
  readonly routes: readonly string[];
  /** Names and reasons beside the bodies of summaries. */
  readonly labels: readonly string[];
  readonly summaries: readonly string[];
  readonly facts: readonly string[];
  readonly history: readonly string[];
  readonly others: readonly string[];
  readonly summaryFiles: readonly string[];
  readonly memoryFiles: readonly string[];
  readonly historyFiles: readonly string[];
}

const NOTHING: Count = {
  routes: [],
  labels: [],
  summaries: [],
  facts: [],
  history: [],
  others: [],
  summaryFiles: [],
  memoryFiles: [],
  historyFiles: [],
};

type Call = (world: ReadingWorld) => Promise<Count>;

const route = (tags: readonly string[]): Call => async ({ deps }) => {
  const answer = await memoryRoute(deps, reader, { repo: SITE, tags: [...tags] });
  return { ...NOTHING, routes: [textsOf(routeTextOf(answer)).join("")] };
};

const summaries = (input: Readonly<Record<string, unknown>>): Call => async ({ deps }) => {
  const answer = await loadSummaries(
    deps,
    reader,
    LoadSummariesInput.parse({ repo: SITE, ...input }),
  );
  const labels = answer.summaries.map(({ body: _body, ...label }) => label);
  return {
    ...NOTHING,
    labels: textsOf([
      labels,
      answer.shared.map(({ path }) => path),
      answer.skipped,
      answer.conflicts,
    ]),
    summaries: [...answer.summaries, ...answer.shared].map(({ body }) => body),
    summaryFiles: [...answer.summaries, ...answer.shared].map(({ path }) => path),
  };
};

const deep = (project: string, history?: readonly string[]): Call => async ({ deps }) => {
  const input = ReadProjectInput.parse({ project, ...(history ? { history } : {}) });
  const answer = await readProject(deps, reader, input);
  return {
    ...NOTHING,
    facts: [...textsOf(answer.facts ?? []), answer.text ?? ""],
    history: answer.history?.map(({ body }) => body) ?? [],
    others: [
      answer.project,
      ...(answer.historyNames ?? []),
      ...(answer.history?.map(({ path }) => path) ?? []),
    ],
    memoryFiles: answer.facts ? answer.files : [],
    historyFiles: answer.history?.map(({ path }) => path) ?? [],
  };
};

const routeTextOf = ({ candidates, conflicts, incompatible, unresolved }: MemoryRouteAnswer) => [
  candidates,
  conflicts,
  incompatible,
  unresolved,
];

/** Returns all texts in a value, whatever their keys. */
function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

const charsIn = (texts: readonly string[]): number =>
  texts.reduce((sum, text) => sum + [...text].length, 0);

const tokensIn = (texts: readonly string[]): number => {
  const cjk = texts.reduce((sum, text) => sum + (text.match(/[\u4e00-\u9fff]/g)?.length ?? 0), 0);
  return cjk + (charsIn(texts) - cjk) / 4;
};

function sumOf(counts: readonly Count[]): Count {
  const all = (key: keyof Count) => counts.flatMap((count) => count[key]);
  const files = (key: keyof Count) => [...new Set(all(key))];
  return {
    routes: all("routes"),
    labels: all("labels"),
    summaries: all("summaries"),
    facts: all("facts"),
    history: all("history"),
    others: all("others"),
    summaryFiles: files("summaryFiles"),
    memoryFiles: files("memoryFiles"),
    historyFiles: files("historyFiles"),
  };
}

/** Throws if more was handed out than the protocol lets one task have. */
function requireWithinLimits(count: Count): void {
  const { routes, labels, summaries, facts, history, others } = count;
  const bodies = [...summaries, ...facts, ...history];
  const everything = [...bodies, ...routes, ...labels, ...others];
  const files = [...count.summaryFiles, ...count.memoryFiles, ...count.historyFiles];
  const measured: Readonly<Record<string, readonly [number, number]>> = {
    summaryFiles: [count.summaryFiles.length, 3],
    summaryChars: [charsIn(summaries), 4_000],
    summaryTokens: [tokensIn([...routes, ...labels, ...summaries]), 2_500],
    memoryFiles: [count.memoryFiles.length, 1],
    memoryChars: [charsIn(facts), 3_000],
    historyFiles: [count.historyFiles.length, 2],
    taskFiles: [files.length, 5],
    taskChars: [charsIn(everything), 8_000],
    taskTokens: [tokensIn(everything), 5_000],
  };
  for (const [name, [used, most]] of Object.entries(measured)) {
    ok(used <= most, `${name}: ${used} is more than ${most}`);
  }
  for (const one of routes) ok(charsIn([one]) <= 1_500);
  ok(everything.every((text) => text.isWellFormed()));
}

const body = fc.oneof(
  fc.constant(""),
  anyText.map((text) => text.toWellFormed()),
  fc.tuple(fc.constantFrom("a", "缓", "🎉", "line\n", "一行\r\n", "👩‍👩‍👧", "e\u0301"), fc.nat(6_000))
    .map(([unit, times]) => unit.repeat(times)),
);

const HEAD = "| key | fact | status | verified_at | source |\n|-|-|-|-|-|\n";
const facts = fc.array(
  fc.tuple(fc.constantFrom("a", "缓", "🎉", "e\u0301"), fc.nat(900)),
  { maxLength: 12 },
).map((rows) =>
  HEAD +
  rows.map(([unit, times], at) => `| k${at} | ${unit.repeat(times)} | verified | | s |\n`).join("")
);
const memory = fc.oneof(body, fc.tuple(facts, body).map(([table, text]) => `${table}\n\n${text}`));

const name = fc.constantFrom("x", "缓", "long name ", "🎉").map((unit) => unit.repeat(9).trim());

const vault: fc.Arbitrary<Files> = fc.record({
  site: body,
  docs: body,
  back: body,
  tagged: body,
  shared: body,
  memories: fc.tuple(memory, memory),
  history: fc.array(body, { minLength: 3, maxLength: 3 }),
  long: name,
}).map(({ site, docs, back, tagged, shared, memories, history, long }) => ({
  "site/summary.md": summary("site", site, "related: [docs, nowhere]", "tags: [t]"),
  "docs/summary.md": summary("docs", docs),
  "back/summary.md": summary("back", back, "depends_on: [site]"),
  [`${long}/summary.md`]: summary(long, tagged, "tags: [t]"),
  "bare/summary.md": "no metadata",
  "_shared/style.md": shared,
  "site/memory.md": memories[0],
  "docs/memory.md": memories[1],
  "site/history/1.md": history[0] ?? "",
  "site/history/2.md": history[1] ?? "",
  "docs/history/缓存.md": history[2] ?? "",
}));

const call = fc.constantFrom<Call[]>(
  route([]),
  route(["t"]),
  summaries({}),
  summaries({ projects: ["docs", "bare"] }),
  summaries({ projects: ["back", "site"], shared: ["style"] }),
  summaries({ projects: [], shared: ["style"] }),
  deep("site"),
  deep("docs"),
  deep("site", []),
  deep("site", ["1", "2"]),
  deep("docs", ["缓存"]),
);

/** Calls of one group are made at once. */
const groups = fc.array(fc.array(call, { minLength: 1, maxLength: 3 }), { maxLength: 6 });

const EXPECTED: readonly string[] = ["budget-exceeded", "unsupported-media-type"];

/** Returns what was handed out; nothing where there was no room. */
async function ask(world: ReadingWorld, one: Call): Promise<Count> {
  try {
    return await one(world);
  } catch (error) {
    if (error instanceof AppError && EXPECTED.includes(error.code)) return NOTHING;
    throw error;
  }
}

async function askAll(world: ReadingWorld, all: readonly (readonly Call[])[]): Promise<Count[]> {
  const counts: Count[] = [];
  for (const group of all) {
    counts.push(...await Promise.all(group.map((one) => ask(world, one))));
  }
  return counts;
}

describe("the budgets of reading", () => {
  it("no sequence of calls, one by one or at once, gets more than the limits of one task", async () => {
    await fc.assert(
      fc.asyncProperty(vault, groups, async (files, all) => {
        const budget = new Budget();
        await using world = await readingWorld(files, { budget });

        const counts = await askAll(world, all);

        const sum = sumOf(counts);
        requireWithinLimits(sum);
        const { used, left } = budget.report;
        const texts = [sum.routes, sum.labels, sum.summaries, sum.facts, sum.history, sum.others];
        ok(charsIn(texts.flat()) <= used.chars);
        ok(left.chars >= 0 && left.tokens >= 0 && left.files >= 0);
      }),
      { numRuns: 150 },
    );
  });

  it("no single answer holds more than that where nobody is asked", async () => {
    await fc.assert(
      fc.asyncProperty(vault, groups, async (files, all) => {
        await using world = await readingWorld(files);

        for (const count of await askAll(world, all)) requireWithinLimits(count);
      }),
      { numRuns: 80 },
    );
  });

  it("all limits of one task are reached by huge files, and none is passed", async () => {
    const huge = "a".repeat(20_000);
    await using world = await readingWorld({
      "site/summary.md": summary("site", huge),
      "site/memory.md": huge,
      "site/history/1.md": huge,
    }, { budget: new Budget() });

    const count = sumOf(
      await askAll(world, [[
        summaries({}),
        deep("site"),
        deep("site", ["1"]),
        deep("site", ["1"]),
      ]]),
    );

    requireWithinLimits(count);
    const bodies = [...count.summaries, ...count.facts, ...count.history];
    ok(charsIn(bodies) + charsIn([...count.labels, ...count.others]) >= 7_990);
  });

  it("two calls at once get no more files than one after the other", async () => {
    const files = Object.fromEntries(
      ["a", "b", "c", "d"].map((one) => [`${one}/summary.md`, summary(one, one, "tags: [t]")]),
    );
    await using world = await readingWorld(files, { budget: new Budget() });
    const first = summaries({ projects: ["a", "b"] });
    const second = summaries({ projects: ["c", "d"] });

    const counts = await askAll(world, [[first, second]]);

    ok(sumOf(counts).summaryFiles.length === 3);
  });
});
