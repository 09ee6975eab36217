/** The stable keys of the memory protocol: that their names and values stay, and that they hold. */
import {
  deepStrictEqual as deepEqual,
  match,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { join } from "node:path";
import { Budget, type BudgetPart } from "@/lib/access/budget.ts";
import { parseFacts } from "@/lib/reading/facts.ts";
import { localRepoId, repoIdOf } from "@/lib/projects/repo_identity.ts";
import * as keys from "@/lib/protocol_keys.ts";
import { runAtOnce } from "@/lib/seams.ts";
import { ABSENT } from "@/lib/vault/vault_writer.ts";
import { parseNote } from "@/lib/vault/note.ts";
import { parseVaultPath } from "@/lib/vault/vault_path.ts";
import { testServices } from "./_support/services.ts";
import { json } from "./_support/ask_world.ts";
import type { Files } from "./_support/temp_vault.ts";
import { testWorld, type World } from "./_support/world.ts";

/** As the protocol has them, letter by letter. */
const LINES = `
MEMORY_ZERO_ACCESS=true
MEMORY_READ_AUTH=MEMORY_READ_OPT_IN
MEMORY_DEEP_READ_AUTH=MEMORY_DEEP_READ_OPT_IN
MEMORY_WRITE_AUTH=MEMORY_WRITE_OPT_IN
MEMORY_SOURCE_OF_TRUTH=OBSIDIAN_MARKDOWN
MEMORY_NATIVE_MEMORY_POLICY=POINTERS_ONLY
MEMORY_INDEX_POLICY=HUMAN_ONLY
MEMORY_ROUTE_MAX_ITEMS=60
MEMORY_ROUTE_MAX_CHARS=1500
MEMORY_SUMMARY_MAX_FILES=3
MEMORY_SUMMARY_MAX_CHARS=4000
MEMORY_SUMMARY_MAX_EST_TOKENS=2500
MEMORY_DEEP_MAX_MEMORY_FILES=1
MEMORY_DEEP_MAX_MEMORY_CHARS=3000
MEMORY_HISTORY_MAX_FILES=2
MEMORY_TASK_MAX_FILES=5
MEMORY_TASK_MAX_CHARS=8000
MEMORY_TASK_MAX_EST_TOKENS=5000
MEMORY_FACT_SCHEMA=key,fact,status,verified_at,source,expires?
MEMORY_CURRENT_OBSERVATION_WINS=true
MEMORY_REPO_ID_SOURCE=NORMALIZED_GIT_ORIGIN
MEMORY_REPO_ID_FALLBACK=ROOT_REALPATH_HASH
MEMORY_NEW_FILE_BASE_STATE=ABSENT
MEMORY_MISSING_TARGET_VALIDATION=PARENT_REALPATH
MEMORY_LEGACY_UNMATCHED_ORDER=LAST
`.trim().split("\n");

const ASK = { access: "ask", ownerToken: "the-owners-own-token" } as const;
const SITE = "https://example.org/acme/site.git";
const MEMORY = "---\nid: m1\nname: Tea\ndescription: How tea is made\n---\nBODYTEXT of tea\n";

/** What each key does, seen from outside; a key without an effect is a test that is missing. */
const EFFECTS: Readonly<Record<string, () => Promise<void> | void>> = {
  MEMORY_ZERO_ACCESS: async () => {
    await using world = await testWorld({ "a.md": "zebra" }, ASK);
    const found = await world.request("/api/search?q=zebra");
    equal(found.status, 403, await found.text());
  },
  MEMORY_READ_AUTH: () => namesItsKey("/api/search?q=zebra", undefined, "MEMORY_READ_OPT_IN"),
  MEMORY_DEEP_READ_AUTH: async () => {
    await using world = await testWorld({}, ASK);
    const task = allowRead(world);
    const body = json("POST", { project: "site", task });
    const refused = await (await world.request("/api/reading/deep", body)).json();
    match(refused.detail, /MEMORY_DEEP_READ_OPT_IN/);
  },
  MEMORY_WRITE_AUTH: () =>
    namesItsKey("/api/remember", json("POST", { text: "x" }), "MEMORY_WRITE_OPT_IN"),
  MEMORY_SOURCE_OF_TRUTH: async () => {
    await using world = await testWorld({ "a.md": "zebra" });
    world.write("a.md", "quokka");
    const { results } = await (await world.request("/api/search?q=quokka")).json();
    deepEqual(results.map(({ path }: { path: string }) => path), ["a.md"]);
    equal((await (await world.request("/api/search?q=zebra")).json()).total, 0);
  },
  MEMORY_NATIVE_MEMORY_POLICY: async () => {
    await using world = await testWorld({ "memories/tea.md": MEMORY });
    const manifest = await world.manifests.preview("memories");
    const hint = { trigger: "user", text: "how is tea made, BODYTEXT", session: "s" };
    const { text } = await (await world.request("/api/recall/hints", json("POST", hint))).json();
    for (const list of [manifest, text]) {
      match(list, /Tea/);
      ok(!list.includes("BODYTEXT"));
    }
  },
  MEMORY_INDEX_POLICY: async () => {
    const files = { "_index.md": "zebra", "zoo/_index.md": "zebra", "zoo/summary.md": "x" };
    await using world = await testWorld(files);
    for (const mode of ["keyword", "grep"]) {
      equal((await (await world.request(`/api/search?q=zebra&mode=${mode}`)).json()).total, 0);
    }
    equal((await world.request("/api/notes/_index.md")).status, 404);
  },
  MEMORY_ROUTE_MAX_ITEMS: async () => {
    const { checked, unchecked, note } = await routeOf(manyProjects(69));
    deepEqual([checked, unchecked], [60, 10]);
    match(note, /10 folders were not checked/);
  },
  MEMORY_ROUTE_MAX_CHARS: async () => {
    const { candidates, truncated } = await routeOf(manyProjects(60));
    const chars = [...JSON.stringify(candidates)].length;
    ok(chars <= 1_500 && chars > 1_000, `${chars}`);
    ok(truncated.includes("MEMORY_ROUTE_MAX_CHARS=1500"));
  },
  MEMORY_SUMMARY_MAX_FILES: () => allowsFiles("summary", 3),
  MEMORY_SUMMARY_MAX_CHARS: () => allowsText("summary", "x", 4_000),
  MEMORY_SUMMARY_MAX_EST_TOKENS: () => allowsText("summary", "记", 2_500),
  MEMORY_DEEP_MAX_MEMORY_FILES: () => allowsFiles("facts", 1),
  MEMORY_DEEP_MAX_MEMORY_CHARS: () => allowsText("facts", "记", 3_000),
  MEMORY_HISTORY_MAX_FILES: () => allowsFiles("history", 2),
  MEMORY_TASK_MAX_FILES: () => allowsFiles("other", 5),
  MEMORY_TASK_MAX_CHARS: () => allowsText("other", "x", 8_000),
  MEMORY_TASK_MAX_EST_TOKENS: () => allowsText("other", "记", 5_000),
  MEMORY_FACT_SCHEMA: () => {
    const table = (columns: string) => {
      const cells = columns.split(",");
      return [cells, cells.map(() => "---"), cells.map((cell) => `a ${cell}`)]
        .map((row) => `| ${row.join(" | ")} |`).join("\n");
    };
    const factsIn = (columns: string) => {
      const bytes = new TextEncoder().encode(table(columns));
      const note = runAtOnce(parseNote("a.md", bytes));
      return note ? runAtOnce(parseFacts(note)).facts.length : NaN;
    };
    equal(factsIn("key,fact,status,verified_at,source,expires"), 1);
    equal(factsIn("key,fact,status,verified_at,source"), 1);
    equal(factsIn("key,fact,status,verified_at"), 0);
  },
  MEMORY_CURRENT_OBSERVATION_WINS: async () => {
    await using world = await testWorld({ "site/memory.md": "a fact" });
    const body = json("POST", { project: "site" });
    const { precedence } = await (await world.request("/api/reading/deep", body)).json();
    match(precedence, /^\W*(?:what|the current)/i);
    match(precedence, /verified[^]*assumption[^]*deprecated/);
  },
  MEMORY_REPO_ID_SOURCE: () => {
    equal(repoIdOf("https://ada:pw@Example.org:443/acme/site.git?a#b"), "example.org/acme/site");
  },
  MEMORY_REPO_ID_FALLBACK: () => match(localRepoId("/code/site"), /^local:site:[0-9a-f]{12}$/),
  MEMORY_NEW_FILE_BASE_STATE: async () => {
    equal(ABSENT, keys.MEMORY_NEW_FILE_BASE_STATE.toLowerCase());
    await using services = await testServices({ "a.md": "mine" });
    const write = { path: parseVaultPath("a.md"), bytes: new Uint8Array(), expected: ABSENT };
    await rejects(services.writer.write(write), { code: "edit-conflict" });
    equal(await Deno.readTextFile(join(services.root, "a.md")), "mine");
  },
  MEMORY_MISSING_TARGET_VALIDATION: async () => {
    await using outside = await testServices();
    await using services = await testServices();
    await Deno.symlink(outside.root, join(services.root, "link"));
    const path = parseVaultPath("link/new.md");
    const write = { path, bytes: new Uint8Array([1]), expected: ABSENT } as const;
    await rejects(services.writer.write(write));
    deepEqual(await Array.fromAsync(Deno.readDir(outside.root)), []);
  },
  MEMORY_LEGACY_UNMATCHED_ORDER: async () => {
    const { candidates } = await routeOf({
      "aaa/memory.md": "unmigrated",
      "site/summary.md": "---\nproject: site\ntags: [a]\n---\n",
      "zzz/summary.md": "---\nproject: zzz\ntags: [a]\n---\n",
    });
    deepEqual(candidates.map(({ project }: { project: string }) => project), [
      "site",
      "zzz",
      "aaa",
    ]);
  },
};

function manyProjects(count: number): Files {
  return Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      `project-${String(at).padStart(3, "0")}/summary.md`,
      `---\nproject: project-${String(at).padStart(3, "0")}\nrelated: [site]\n---\n`,
    ]),
  );
}

async function routeOf(files: Files) {
  await using world = await testWorld({ "site/summary.md": "---\nproject: site\n---\n", ...files });
  return await (await world.request(`/api/projects/route?repo=${SITE}`)).json();
}

function allowRead({ access }: World): string {
  const asked = { grant: "read", history: false, shared: [] } as const;
  const { task = "", request } = access.ask(
    { kind: "agent", loopback: true, principal: "" },
    asked,
  );
  access.decide(request?.id ?? "", "allow");
  return task;
}

async function namesItsKey(path: string, init: RequestInit | undefined, key: string) {
  await using world = await testWorld({}, ASK);
  match((await (await world.request(path, init)).json()).detail, new RegExp(`\\(${key}\\)`));
}

function allowsFiles(part: BudgetPart, count: number): void {
  const budget = new Budget();
  const reached = Array.from({ length: count + 1 }, (_, at) => budget.openFile(part, `${at}.md`));
  deepEqual(reached.slice(0, count), Array.from({ length: count }, () => undefined));
  ok(reached[count]);
}

function allowsText(part: BudgetPart, char: string, count: number): void {
  equal(new Budget().take(part, char.repeat(count)).cutBy, undefined);
  const over = new Budget().take(part, char.repeat(count + 1));
  equal([...over.text].length, count);
  ok(over.cutBy);
}

describe("the keys of the memory protocol", () => {
  it("are these, with these values, and no others", () => {
    deepEqual(
      Object.entries(keys).map(([name, value]) => `${name}=${value}`).toSorted(),
      [
        ...LINES,
      ].toSorted(),
    );
    deepEqual(Object.keys(EFFECTS).toSorted(), Object.keys(keys).toSorted());
  });

  for (const [name, check] of Object.entries(EFFECTS)) {
    it(`${name} has its effect`, () => check());
  }
});
