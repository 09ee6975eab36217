import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { type Caller } from "@/lib/contracts.ts";
import {
  type MemoriesAnswer,
  MemoriesAnswerShape,
  type MemoriesInput,
  type MemorySummary,
} from "@/lib/contracts_memories.ts";
import { cursorsOf } from "@/lib/cursor.ts";
import { InvalidRequest } from "@/lib/errors.ts";
import { cursorsAfter, listMemories } from "@/lib/memories/list_memories.ts";
import { type TestServices, testServices } from "@/tests/_support/services.ts";
import type { Files } from "@/tests/_support/temp_vault.ts";

const caller: Caller = { kind: "agent", loopback: true };
const ULID = "01M5F8NPFPTHR0BP2HWPM2GVCZ";

/** A memory whose id is its name; `more` are lines of its frontmatter. */
const memory = (id: string, ...more: string[]) =>
  ["---", `id: ${id}`, `name: N ${id}`, "description: D", ...more, "---", "body", ""].join("\n");

const updated = (id: string, at: string) => memory(id, `updated_at: ${at}`);

async function indexed(files: Files): Promise<TestServices> {
  const services = await testServices(files);
  await services.ready();
  return services;
}

function list(
  services: Pick<TestServices, "clock" | "index" | "projects">,
  input: Partial<MemoriesInput> = {},
): Promise<MemoriesAnswer> {
  return listMemories(services, caller, { scope: "all", limit: 50, ...input });
}

const idsOf = ({ memories }: MemoriesAnswer) => memories.map(({ id }) => id);

/** Follows the cursors to the end; `between` runs after each page. */
async function listAll(
  services: TestServices,
  input: Partial<MemoriesInput>,
  between: (page: MemoriesAnswer) => void = () => {},
): Promise<string[]> {
  const ids: string[] = [];
  let page = await list(services, input);
  ids.push(...idsOf(page));
  // Bounded, so that a list which begins anew fails instead of never ending.
  while (page.nextCursor !== undefined && ids.length < 100) {
    between(page);
    page = await list(services, { ...input, cursor: page.nextCursor });
    ids.push(...idsOf(page));
  }
  return ids;
}

describe("listMemories()", () => {
  it("listMemories() gives what a list shows, and no more", async () => {
    await using world = await indexed({
      "x/a.md": memory("m1", "tags: [A b]", "status: Active", "updated_at: 2026-01-01"),
      "note.md": "plain\n",
    });

    const answer = await list(world);

    deepEqual(MemoriesAnswerShape.parse(answer), answer);
    deepEqual(answer, {
      total: 1,
      memories: [{
        id: "m1",
        path: "x/a.md",
        name: "N m1",
        description: "D",
        tags: ["A b"],
        status: "Active",
        updatedAt: "2026-01-01",
      }],
    });
  });

  it("listMemories() puts the newest first, equal ones by path, unreadable times last", async () => {
    await using world = await indexed({
      "a.md": updated("utc", "2026-03-01T10:00:00Z"),
      "b.md": updated("earlier", "2026-03-01T12:00:00+08:00"),
      "c.md": updated("unknown", "昨天"),
      "d/b.md": updated("equal-2", "2026-03-02"),
      "d.md": updated("equal-1", "2026-03-02T00:00:00.000Z"),
      "e.md": updated("ancient", "1850-01-01"),
      "f.md": updated("none-either", "'-'"),
    });

    deepEqual(idsOf(await list(world)), [
      "equal-1",
      "equal-2",
      "utc",
      "earlier",
      "ancient",
      "unknown",
      "none-either",
    ]);
  });

  it("listMemories() takes the file's time where the memory has none", async () => {
    await using world = await indexed({ "a.md": memory("old"), "b.md": memory("new") });
    const at = new Date("2026-02-03T04:05:06Z");
    await Deno.utime(world.pathOf("b.md"), at, at);
    await Deno.utime(world.pathOf("a.md"), at, new Date(at.getTime() - 1_000));

    // read anew, as times alone make no edit
    await world.index.load();
    const { memories } = await list(world);

    deepEqual(memories.map(({ id, status }) => [id, status]), [["new", "active"], [
      "old",
      "active",
    ]]);
    equal(memories[0]?.updatedAt, at.toISOString());
  });

  it("listMemories() leaves out what no search finds, notes, and what is not active", async () => {
    await using world = await indexed({
      "a.md": memory("m1"),
      "b.md": memory("twice"),
      "c.md": memory("twice"),
      "d.md": memory("done", "status: deprecated"),
      "a (conflicted copy 2026-01-01).md": memory("m1"),
      "march/memory.md": memory("facts"),
      "note.md": "plain\n",
      "private/e.md": memory("private"),
    });

    const answer = await list(world);

    deepEqual(idsOf(answer), ["m1"]);
    equal(answer.total, 1);
  });

  const filters: readonly [input: Partial<MemoriesInput>, ids: readonly string[]][] = [
    [{}, ["elsewhere", "global", "project"]],
    [{ scope: "global" }, ["global"]],
    [{ tag: "Hash  Table" }, ["global", "project"]],
    [{ tag: "#hash-table", scope: "global" }, ["global"]],
    [{ tag: "none" }, []],
    [{ tag: "#" }, []],
    [{ tag: "__proto__" }, []],
    [{ status: " Deprecated " }, ["old"]],
    [{ status: "active" }, ["elsewhere", "global", "project"]],
    [{ status: "deprecated", tag: "other" }, []],
  ];
  for (const [input, ids] of filters) {
    it(`listMemories() filters by ${JSON.stringify(input)}`, async () => {
      await using world = await indexed({
        "memories/g.md": memory("global", "tags: [hash table]"),
        [`memories/projects/${ULID}/p.md`]: memory("project", "tags: [Hash-Table, x]"),
        "e.md": memory("elsewhere", "tags: [other]"),
        "o.md": memory("old", "status: Deprecated", "tags: [x]"),
      });

      const answer = await list(world, input);

      deepEqual(idsOf(answer).toSorted(), ids);
      equal(answer.total, ids.length);
    });
  }

  it("listMemories() sees every change that was made before", async () => {
    await using world = await indexed({ "a.md": updated("m1", "2026-01-01") });

    world.write("b.md", updated("m2", "2026-01-02"));
    deepEqual(idsOf(await list(world)), ["m2", "m1"]);
    world.write("a.md", updated("m3", "2026-01-03"));
    deepEqual(idsOf(await list(world)), ["m3", "m2"]);
    world.remove("b.md");
    deepEqual(idsOf(await list(world)), ["m3"]);
  });

  it("listMemories() tells what it could not see", async () => {
    await using world = await indexed({ "a.md": memory("m1") });
    const { index, clock, projects } = world;
    const answer = await list({
      clock,
      projects,
      index: Object.assign(Object.create(null), {
        find: index.find.bind(index),
        filterPaths: index.filterPaths.bind(index),
        indexing: { done: 1, total: 2 },
        refresh: () => Promise.resolve({ verified: false, ageMs: 7 }),
      }),
    });

    deepEqual(MemoriesAnswerShape.parse(answer), answer);
    deepEqual(answer.indexing, { done: 1, total: 2 });
    deepEqual(answer.freshness, { verified: false, ageMs: 7 });
    deepEqual(idsOf(answer), ["m1"]);
  });
});

describe("listMemories() page by page", () => {
  /** The lower the number, the newer; pairs share a time, two at the end have none that can be read. */
  const numbered = (count: number): Files =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => {
      const at = new Date(Date.UTC(2026, 0, 1) - Math.floor(i / 2) * 1_000).toISOString();
      return [`${String(i).padStart(3, "0")}.md`, updated(`m${i}`, i >= count - 2 ? "soon" : at)];
    }));
  const ids = (...numbers: number[]) => numbers.map((number) => `m${number}`);

  for (const limit of [1, 2, 3, 5, 10, 11]) {
    it(`listMemories() shows each memory once, ${limit} a page`, async () => {
      await using world = await indexed(numbered(10));
      const totals: number[] = [];

      const all = await listAll(world, { limit }, ({ total }) => totals.push(total));

      deepEqual(all, ids(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
      deepEqual(totals, Array(Math.ceil(10 / limit) - 1).fill(10));
    });
  }

  it("listMemories() neither repeats nor misses one when others come and go", async () => {
    await using world = await indexed(numbered(10));
    let round = 0;

    const all = await listAll(world, { limit: 2 }, ({ memories }) => {
      world.write(`new${round++}.md`, updated(`new${round}`, "2026-06-01"));
      // one that was shown, and the very one that the cursor names
      for (const { path } of memories) world.remove(path);
      world.removeIfThere("007.md");
    });

    deepEqual(all, ids(0, 1, 2, 3, 4, 5, 6, 8, 9));
  });

  it("listMemories() shows what is saved behind the cursor, and counts all", async () => {
    await using world = await indexed(numbered(4));

    const first = await list(world, { limit: 1 });
    world.write("late.md", updated("late", "2025-01-01"));
    const rest = await list(world, { cursor: first.nextCursor ?? "" });

    deepEqual(idsOf(rest), ["m1", "late", "m2", "m3"]);
    equal(rest.total, 5);
    equal(rest.nextCursor, undefined);
  });

  it("listMemories() takes one that is changed meanwhile to the front, where a new list has it", async () => {
    await using world = await indexed(numbered(3));

    const first = await list(world, { limit: 1 });
    world.write("002.md", updated("m2", "2030-01-01"));
    const rest = await list(world, { cursor: first.nextCursor ?? "" });

    deepEqual([idsOf(first), idsOf(rest)], [["m0"], ["m1"]]);
    deepEqual(idsOf(await list(world, {})), ["m2", "m0", "m1"]);
  });

  it("listMemories() takes no text for a date that only ends in a number", async () => {
    await using world = await indexed({
      "a.md": updated("text", "Sprint 7"),
      "b.md": updated("old", "1999-12-31"),
      "c.md": updated("slashes", "2000/1/2"),
    });

    deepEqual(idsOf(await list(world, {})), ["slashes", "old", "text"]);
  });

  it("cursorsAfter(caller, ) goes on after any memory of a page", async () => {
    await using world = await indexed(numbered(6));
    const input: MemoriesInput = { scope: "all", limit: 50 };
    const { memories } = await listMemories(world, caller, input);

    for (const [at, memory] of memories.entries()) {
      const page = await list(world, { cursor: cursorsAfter(caller, input)(memory) });

      deepEqual(page.memories, memories.slice(at + 1));
    }
  });

  it("listMemories() takes a cursor for another limit, not for other filters", async () => {
    await using world = await indexed(numbered(6));
    const { nextCursor = "" } = await list(world, { limit: 2, status: "active" });

    deepEqual(
      idsOf(await list(world, { limit: 3, status: "active", cursor: nextCursor })),
      ids(2, 3, 4),
    );
    for (const other of [{}, { status: "done" }, { status: "active", tag: "x" }]) {
      await refuses(list(world, { ...other, cursor: nextCursor }));
    }
  });

  const question = { scope: "all" } as const;
  const places: readonly (readonly (string | number)[])[] = [
    [],
    [1],
    ["a.md"],
    ["1", "a.md"],
    [1, 2],
    [1.5, "a.md"],
    [1, "a.md", 3],
    [1, "a.md", "b.md"],
    [2 ** 60, "a.md"],
  ];
  const forged = [
    ...places.map((place) => cursorsOf(question).format(place)),
    // JSON makes this number Infinity
    cursorsOf(question).format([12345, "a.md"]).replace(
      /.*/,
      (cursor) =>
        btoa(atob(cursor.replaceAll("-", "+").replaceAll("_", "/")).replace("12345", "1e999"))
          .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ""),
    ),
    "x",
    "%",
    "bnVsbA",
    "e30",
  ];
  for (const cursor of forged) {
    it(`listMemories() refuses the cursor ${cursor}`, async () => {
      await using world = await indexed({ "a.md": memory("m1") });

      await refuses(list(world, { cursor }));
    });
  }

  it("listMemories() begins where a cursor points that no memory has", async () => {
    await using world = await indexed(numbered(4));
    const place: MemorySummary = {
      id: "",
      path: "000a",
      name: "",
      description: "",
      tags: [],
      status: "",
      updatedAt: "2026-01-01T00:00:00.000Z",
    };
    const cursor = cursorsAfter(caller, { scope: "all", limit: 1 })(place);

    deepEqual(idsOf(await list(world, { cursor })), ids(1, 2, 3));
  });
});

async function refuses(listing: Promise<unknown>): Promise<void> {
  const error = await listing.then(() => undefined, (error) => error);
  ok(error instanceof InvalidRequest);
  deepEqual(error.problems.map(({ field }) => field), ["cursor"]);
}
