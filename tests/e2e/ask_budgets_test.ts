/** Whatever a task asks of every tool and route, it is never told more than its budget. */
import { ok } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import type { Caller } from "@/lib/contracts.ts";
import { callTool } from "@/lib/mcp/call_tool.ts";
import { ALIAS_TOOLS } from "@/lib/mcp/alias_tools.ts";
import { InvocationLog } from "@/lib/mcp/invocation_log.ts";
import { TOOLS } from "@/lib/mcp/tools.ts";
import type { Files } from "@/tests/_support/temp_vault.ts";
import { testWorld, type World } from "@/tests/_support/world.ts";

const REPO = "https://example.org/acme/zoo.git";
const AGENT: Caller = { kind: "agent", loopback: true, principal: "" };

const body = fc.record({
  word: fc.constantFrom("zebra ", "斑马 ", "zebra斑马😀 ", "zebra\n", "斑马\n\n"),
  times: fc.constantFrom(0, 1, 40, 600, 2_500, 9_000),
}).map(({ word, times }) => word.repeat(times));

const files: fc.Arbitrary<Files> = fc.record({
  memories: fc.array(body, { minLength: 1, maxLength: 12 }),
  summaries: fc.array(body, { minLength: 1, maxLength: 6 }),
  facts: body,
  history: fc.array(body, { maxLength: 3 }),
  shared: body,
  profile: body,
  journal: body,
}).map(({ memories, summaries, facts, history, shared, profile, journal }) =>
  Object.fromEntries([
    ...memories.map((text, at) => [
      `memories/m${at}.md`,
      `---\nid: m${at}\nname: Zebra ${at}\ndescription: zebra 斑马 ${at}\ntags: [a]\n` +
      `note: ${"斑马".repeat(at * 300)}\nupdated_at: ${"zebra ".repeat(at * 40)}\n---\n${text}`,
    ]),
    ...summaries.map((text, at) => [
      at === 0 ? "zoo/summary.md" : `p${at}/summary.md`,
      `---\nproject: ${at === 0 ? "zoo" : `p${at}`}\ntags: [a]\nrelated: [zoo]\n---\n${text}`,
    ]),
    ["zoo/memory.md", facts],
    ...history.map((text, at) => [`zoo/history/h${at}.md`, text]),
    ["_shared/style.md", shared],
    ["profiles/user.md", profile],
    ["profile.md", `# P\n\n## Writing style\n- ${journal}\n- 斑马 <!-- last hit: 2020-01-01 -->\n`],
    ["rules.md", `# Rules\n\n## Rule list\n- [R001] ${journal.slice(0, 3_000)}\n`],
    ["session-log.md", `# Log\n\n${"2026-01-01 | zebra | 斑马\n".repeat(30)}`],
    ["projects/zoo.md", `# Zoo\n\n## Status\nzebra\n\n## Pitfalls\n- 2026-01-01: ${journal}\n`],
    ["projects/open.md", `# Open\n\n\`\`\`\n${journal}\n`],
  ])
);

const CALLS: readonly [tool: string, args: Readonly<Record<string, unknown>>][] = [
  ["recall", { query: "zebra", top_k: 50 }],
  ["recall", { query: "斑马", mode: "grep" }],
  ["search_notes", { query: "zebra", limit: 50 }],
  ["search_notes", { query: "zebra", kind: ["facts", "history", "summary", "shared"] }],
  ["memory_search", { query: "zebra", limit: 50 }],
  ["memory_open", { id: "m0" }],
  ["memory_open", { id: "m1" }],
  ["memory_open", { id: "zoo/memory.md" }],
  ["memory_open", { id: "zoo/history/h0.md" }],
  ["memory_open", { id: "zoo/summary.md" }],
  ["memory_open", { id: "_shared/style.md" }],
  ["search", { query: "zebra" }],
  ["fetch", { id: "m4" }],
  ["fetch", { id: "zoo/memory.md" }],
  ["list_memory", {}],
  ["memory_save", { name: "n", description: "zebra", body: "b", tags: ["t"] }],
  ["memory_save", { id: "m0", tags: ["b"] }],
  ["memory_route", { repo: REPO }],
  ["load_summaries", { repo: REPO }],
  ["load_summaries", { repo: REPO, projects: ["p1"], shared: ["style"] }],
  ["read_project", { project: "zoo" }],
  ["read_project", { project: "zoo", history: ["h0", "h1"] }],
  ["begin_task", { projects: ["zoo", "zo", "open"] }],
  ["begin_task", { projects: ["zoo"], history: true }],
  ["audit_memory", {}],
  ["write_back", { trigger: "update memory", project: "zo", status: "zebra", summary: "zebra" }],
];
const ROUTES: readonly string[] = [
  "/api/search?q=zebra&limit=100",
  "/api/search?q=zebra&mode=grep&kind=summary",
  "/api/notes/memories/m2.md",
  "/api/notes/zoo/summary.md?lines=1-40",
  "/api/memories/m3",
  "/api/memories",
  "/api/profiles",
  "/api/handoff",
];

/** What names, places, or is a word of the server. */
const NO_TEXT =
  /^(?:id|path|asked|reminder|kind|etag|mode|engine|source|url|nextCursor|precedence|note|truncated|countsAs|because|budget|report|query|nameFrom|project|status|scope|files|reason|fallback)$/;

/** What stands above a profile. */
const LABELS = /\[(?:agent|user)_profile\]\n|\n… \(cut: memory_open\(id="[^"]*"\) has it all\)/g;

function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    // Of a note it says whether that is sound, of a memory all that stands there.
    if (key === "frontmatter" && "nameFrom" in value) return [];
    if (key === "frontmatter") return [JSON.stringify(inner).replace(/^\{\}$/, "")];
    const isTime = /^(?:time|updatedAt|updated_at)$/.test(key) && String(inner).length <= 40;
    return NO_TEXT.test(key) || isTime ? [] : textsOf(inner);
  });
}

/** Counts what one task is told, by the answers alone. */
class Told {
  readonly #files = new Set<string>();
  #chars = 0;
  #tokens = 0;

  add(answer: Readonly<Record<string, unknown>>): void {
    const text = textsOf(answer).join("").replaceAll(LABELS, "");
    const cjk = text.match(/\p{Script=Han}/gu)?.length ?? 0;
    const chars = [...text].length;
    this.#chars += chars;
    this.#tokens += cjk + (chars - cjk) / 4;
    for (const opened of [answer, ...Object.values(answer).flat()]) this.#open(opened);
    ok(this.#chars <= 8_000, `${this.#chars} characters`);
    ok(this.#tokens <= 5_000, `${this.#tokens} tokens`);
    ok(this.#files.size <= 5, `${this.#files.size} files`);
  }

  #open(value: unknown): void {
    if (typeof value !== "object" || value === null) return;
    const { path, markdown, body, files = [], metadata } = value as Readonly<
      Record<string, unknown>
    >;
    const fetched = metadata as { path?: string } | undefined;
    if (typeof fetched?.path === "string") this.#files.add(fetched.path);
    if (typeof path === "string" && (markdown ?? body) !== undefined) this.#files.add(path);
    for (const file of files as string[]) this.#files.add(file);
  }
}

async function openTask({ access }: World): Promise<Caller> {
  const none = { history: false, shared: [] };
  let caller: Caller = AGENT;
  for (
    const asked of [
      { ...none, grant: "read", shared: ["style"] },
      { ...none, grant: "deep", project: "zoo", history: true },
      { ...none, grant: "write" },
    ] as const
  ) {
    const { task, request } = access.ask(caller, asked, { repo: REPO });
    access.decide(request?.id ?? "", "allow");
    caller = { ...caller, task };
  }
  return await Promise.resolve(caller);
}

async function call(
  world: World,
  caller: Caller,
  [name, args]: (typeof CALLS)[number],
): Promise<Readonly<Record<string, unknown>>> {
  const tool = [...TOOLS, ...ALIAS_TOOLS].find(({ listing }) => listing.name === name);
  ok(tool);
  const context = { client: "test", transport: "modern", requestId: "r", caller } as const;
  const deps = { services: world, invocations: new InvocationLog() };
  const place = (placed: Caller) => Promise.resolve(placed);
  const result = await callTool(deps, tool, { context, args: { ...args }, place });
  ok(!("inputRequests" in result));
  const answer = result["isError"] ? {} : result["structuredContent"] as Record<string, unknown>;
  if (name === "write_back") {
    return { notices: answer["notices"], notWritten: answer["notWritten"] };
  }
  // What to do next are words of the server.
  if (name === "begin_task") return { ...answer, next: "", access: "", pending: "", task: "" };
  if (name === "audit_memory") return { text: answer["text"] };
  // What was saved is what the caller has said.
  return answer["created"] === true ? { similar: answer["similar"] } : answer;
}

describe("a task in mode ask", () => {
  it("is never told more than its budget, whatever it asks, in whatever order", async () => {
    let told = 0;
    const step = fc.oneof(
      fc.constantFrom(...CALLS).map((tool) => ({ tool })),
      fc.constantFrom(...ROUTES).map((route) => ({ route })),
    );
    const property = fc.asyncProperty(
      files,
      fc.array(step, { minLength: 1, maxLength: 14 }),
      async (vault, steps) => {
        await using world = await testWorld(vault, { access: "ask", ownerToken: "o".repeat(20) });
        const caller = await openTask(world);
        const count = new Told();
        const headers = { "x-commonplace-task": caller.task ?? "" };
        for (const each of steps) {
          const answer = "tool" in each
            ? await call(world, caller, each.tool)
            : await (await world.request(each.route, { headers })).json();
          if ("detail" in answer) continue;
          count.add(answer);
          told++;
        }
        const { used } = world.access.budgetOf(caller).report;
        ok(used.chars <= 8_000 && used.tokens <= 5_000 && used.files <= 5);
      },
    );

    await fc.assert(property, { numRuns: 40 });
    ok(told > 40, "hardly anything was told");
  });

  it("is told no more by calls that are under way as it ends", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 12 }, (_, at) => [
        `memories/m${at}.md`,
        `---\nid: m${at}\nname: n\ndescription: d\n---\n${"zebra\n".repeat(20_000)}`,
      ]),
    );
    await using world = await testWorld(files, { access: "ask", ownerToken: "o".repeat(20) });
    const caller = await openTask(world);
    const count = new Told();

    const calls = Array.from(
      { length: 12 },
      (_, at) => call(world, caller, ["memory_open", { id: `m${at}` }]),
    );
    await new Promise((resolve) => setTimeout(resolve, 2));
    world.access.end(caller, caller.task ?? "");

    for (const answer of await Promise.all(calls)) count.add(answer);
  });

  it("is told no more by two calls at once than by one after the other", async () => {
    const long = `---\nid: m0\nname: n\ndescription: d\n---\n${"zebra\n".repeat(3_000)}`;
    await using world = await testWorld(
      { "memories/m0.md": long, "zoo/summary.md": `---\nproject: zoo\n---\n${long}` },
      { access: "ask", ownerToken: "o".repeat(20) },
    );
    const caller = await openTask(world);
    const count = new Told();

    const answers = await Promise.all([
      ...CALLS.filter(([name]) => name === "memory_open" || name === "load_summaries"),
      ...CALLS.filter(([name]) => name === "recall"),
    ].map((each) => call(world, caller, each)));

    for (const answer of answers) count.add(answer);
    ok(world.access.budgetOf(caller).report.left.chars >= 0);
    ok(answers.length > 3);
  });
});
