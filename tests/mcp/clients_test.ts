/** The clients that agents come with, old and new, over real sockets: all have to see the same. */
import {
  deepStrictEqual as deepEqual,
  match,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { after, before, describe, it } from "@std/testing/bdd";
import { InvocationsAnswerShape } from "@/lib/contracts_tools.ts";
import { instructionsFor } from "@/lib/mcp/instructions.ts";
import { MAX_ANSWER_CHARS } from "@/lib/mcp/pack.ts";
import { TOOLS } from "@/lib/mcp/tools.ts";
import { grepVault } from "@/lib/vault/grep.ts";
import { resolvePackagedRipgrep } from "@/lib/vault/ripgrep_path.ts";
import {
  clientOver,
  CLIENTS,
  type McpClient,
  type McpWorld,
  serveMcp,
  type ToolReply,
} from "@/tests/_support/mcp.ts";
import { randomSource } from "@/tests/_support/random.ts";
import { tempVault } from "@/tests/_support/temp_vault.ts";
import { until } from "@/tests/_support/until.ts";

const QUOKKAS = Array.from({ length: 60 }, (_, number) => `q${String(number).padStart(2, "0")}`);
/** A search with this text never ends by itself. */
const ENDLESS = "endless";

/** Holds what is hard to cut: pairs of surrogates, escapes, wide letters, all kinds of line end. */
const LONG_NOTE = Array.from(
  { length: 900 },
  (_, line) => `${line} 记忆 😀 "quoted" \\ \u0001 tab\t café${["\n", "\r\n", "\r"][line % 3]}`,
).join("");

const files = {
  ...Object.fromEntries(QUOKKAS.map((id) => [`memories/${id}.md`, quokkaNote(id)])),
  "long.md": LONG_NOTE,
};

function quokkaNote(id: string): string {
  const facts = Array.from({ length: 12 }, (_, line) => `Fact ${line} of ${id}: a quokka eats.`);
  return `---\nid: ${id}\nname: Quokka ${id}\ndescription: About ${id}\ntags: [animal]\n---\n` +
    facts.join("\n");
}

/** A server whose `grep` hangs when it is asked for `ENDLESS`. */
interface Stage extends McpWorld {
  /** Returns when the next endless search has begun, and then what tells of its end. */
  nextEndless(): Promise<{ readonly aborted: Promise<unknown> }>;
}

async function openStage(): Promise<Stage> {
  let next = Promise.withResolvers<{ readonly aborted: Promise<unknown> }>();
  const world = await serveMcp(files, {
    replace: ({ grep }) => ({
      grep: (request) => {
        if (request.query !== ENDLESS) return grep(request);
        const { promise, reject } = Promise.withResolvers<never>();
        request.signal?.addEventListener("abort", () => reject(request.signal?.reason));
        next.resolve({ aborted: promise.catch((reason) => reason) });
        next = Promise.withResolvers();
        return promise;
      },
    }),
  });
  return {
    ...world,
    nextEndless: () => next.promise,
  };
}

async function lastOutcome({ server }: McpWorld): Promise<string | undefined> {
  const response = await fetch(`${server.url}/api/invocations?limit=1`);
  return InvocationsAnswerShape.parse(await response.json()).invocations[0]
    ?.outcome;
}

type Answer = Readonly<Record<string, unknown>>;

/** Returns the answer of a call that went well: as data, which the text has to repeat. */
function answerOf({ isError, text, data }: ToolReply): Answer {
  ok(!isError, text);
  ok(data !== undefined);
  deepEqual(JSON.parse(text), data);
  ok(text.length <= MAX_ANSWER_CHARS, `${text.length} characters`);
  return data;
}

/** Follows the cursors to the end, which has to come. */
async function readPages(client: McpClient, tool: string, args: object): Promise<Answer[]> {
  const pages: Answer[] = [];
  let cursor: unknown;
  do {
    const page = answerOf(
      await client.call(tool, cursor === undefined ? args : { ...args, cursor }),
    );
    pages.push(page);
    cursor = page.nextCursor;
    ok(pages.length < 100, "there is no end");
  } while (cursor !== undefined);
  return pages;
}

function idsIn(pages: readonly Answer[], key: string): unknown[] {
  return pages.flatMap((page) => {
    const items = page[key];
    ok(Array.isArray(items));
    return items.map(({ id }) => id);
  });
}

describe("clients", () => {
  let stage: Stage;
  before(async () => {
    stage = await openStage();
  });
  after(() => stage[Symbol.asyncDispose]());

  for (const kind of CLIENTS) {
    describe(kind.name, () => {
      let client: McpClient;
      before(async () => {
        client = await kind.connect(stage.server.url);
      });
      after(() => client.close());

      it("connects and is told name and instructions", () => {
        deepEqual([client.serverName, client.instructions], [
          "commonplace",
          instructionsFor("open"),
        ]);
      });

      it("lists the tools in their order, with all that a client has to know", async () => {
        const listed = await client.listTools();

        deepEqual(
          listed.map(({ name, title, annotations, outputSchema }) => (
            { name, title, annotations, outputSchema }
          )),
          TOOLS.map(({ listing: { name, title, annotations, outputSchema } }) => (
            { name, title, annotations, outputSchema }
          )),
        );
        deepEqual(listed.map(({ name }) => name), [
          "recall",
          "search_notes",
          "memory_search",
          "memory_open",
          "list_memory",
          "memory_save",
          "remember",
          "set_handoff",
          "resume",
          "begin_task",
          "write_back",
          "audit_memory",
          "apply_audit",
          "request_access",
          "memory_route",
          "load_summaries",
          "read_project",
        ]);
      });

      const calls: readonly [tool: string, args: object, words: RegExp][] = [
        ["recall", { query: "quokka q07", top_k: 1 }, /"id":"q07","text":"Fact/],
        ["search_notes", { query: "quokka q08", limit: 1 }, /"path":"memories\/q08\.md"/],
        ["memory_search", { query: "of q09:", limit: 1 }, /"id":"q09",.*"matchCount":12/],
        [
          "memory_search",
          { query: "11 of q1[0]:", regex: true },
          /"line":18,"text":"Fact 11 of q10/,
        ],
        ["memory_open", { id: "q11" }, /"markdown":"---\\nid: q11/],
        ["memory_open", { id: "long.md" }, /"kind":"note"/],
        ["list_memory", {}, /"total":60/],
        ["list_memory", { scope: "global", cursor: null }, /"total":60/],
      ];
      for (const [tool, args, words] of calls) {
        it(`${tool} ${JSON.stringify(args)} is answered`, async () => {
          const reply = await client.call(tool, args);

          answerOf(reply);
          match(reply.text, words);
        });
      }

      const wrong: readonly [tool: string, args: object, words: RegExp][] = [
        ["recall", {}, /query must be given/],
        ["recall", { qurey: "x" }, /qurey is not known; did you mean query\?/],
        ["recall", { query: "x", top_k: "3" }, /top_k must be a whole number from 1 to 100/],
        ["search_notes", { query: "x", tags: "animal" }, /tags must be a list of texts/],
        ["search_notes", { query: "x", Limit: 3 }, /Limit is not known; did you mean limit\?/],
        ["memory_search", { query: 7 }, /query must be/],
        ["search_notes", { query: "x", tags: [7] }, /tags must be/],
        ["search_notes", { query: "x", folder: 7 }, /folder must be/],
        [
          "search_notes",
          { query: "x", kind: ["memry"] },
          /kind must be a list, and in it \[0\] must be one of memory, note/,
        ],
        ["memory_search", { query: "x", regex: "yes" }, /regex must be true or false/],
        ["memory_search", { query: "(", regex: true }, /regular expression/],
        ["memory_open", { id: " " }, /id must not be empty/],
        ["memory_open", { id: "no-such-id" }, /no memory and no note "no-such-id".*note-not-found/],
        ["list_memory", { scope: "globl" }, /scope must be one of all, here, project, global/],
        ["list_memory", { cursor: "made-up" }, /cursor is none that this server gave/],
      ];
      for (const [tool, args, words] of wrong) {
        it(`${tool} ${JSON.stringify(args)} is an error of the tool`, async () => {
          const { isError, text } = await client.call(tool, args);

          ok(isError);
          match(text, words);
          match(text, /\[[a-z-]+, request [\w-]+\]$/);
        });
      }

      it("hears of a tool that does not exist by the protocol", async () => {
        await rejects(client.call("recal"), (error: { code?: unknown; message?: unknown }) => {
          equal(error.code, -32602);
          match(String(error.message), /no tool "recal"; did you mean recall\?/);
          return true;
        });
      });

      const paged: readonly [tool: string, args: object, key: string, url: string][] = [
        [
          "search_notes",
          { query: "quokka", limit: 7 },
          "results",
          "/api/search?q=quokka&limit=100",
        ],
        [
          "search_notes",
          { query: "quokka", limit: 100 },
          "results",
          "/api/search?q=quokka&limit=100",
        ],
        ["recall", { query: "quokka", top_k: 100 }, "results", "/api/search?q=quokka&limit=100"],
        [
          "memory_search",
          { query: "quokka", limit: 100 },
          "results",
          "/api/search?q=quokka&mode=grep&limit=100",
        ],
        ["list_memory", {}, "memories", "/api/memories?limit=100"],
      ];
      for (const [tool, args, key, url] of paged) {
        it(`${tool} ${JSON.stringify(args)} comes in pages that are the whole together`, async () => {
          const whole = await fetch(`${stage.server.url}${url}`).then((response) =>
            response.json()
          );

          const pages = await readPages(client, tool, args);

          ok(pages.length > 1);
          const ids = idsIn(pages, key);
          deepEqual(ids, idsIn([whole], key));
          deepEqual(ids.toSorted(), QUOKKAS);
        });
      }

      it("memory_open comes in pages that are the file together", async () => {
        const pages = await readPages(client, "memory_open", { id: "long.md" });

        ok(pages.length > 1);
        equal(pages.map(({ markdown }) => markdown).join(""), LONG_NOTE);
        const lines = pages.map((page) => page.lines as { start: number; end: number });
        deepEqual([lines[0]?.start, lines.at(-1)?.end], [1, 900]);
        for (const [at, { start }] of lines.entries()) {
          ok(at === 0 || start === (lines[at - 1]?.end ?? 0) + 1);
        }
      });

      it("is told when a cursor belongs to another call", async () => {
        const { nextCursor: cursor } = answerOf(
          await client.call("search_notes", { query: "quokka", limit: 7 }),
        );

        for (
          const args of [{ query: "fact", limit: 7 }, { query: "quokka", limit: 8 }]
        ) {
          const { isError, text } = await client.call("search_notes", { ...args, cursor });
          ok(isError);
          match(text, /cursor belongs to a call with other arguments/);
        }
        match((await client.call("recall", { query: "quokka", cursor })).text, /cursor belongs/);
      });

      it("is told when a note changes between two pages", async () => {
        stage.services.write("changing.md", LONG_NOTE);
        const { nextCursor: cursor } = answerOf(
          await client.call("memory_open", { id: "changing.md" }),
        );

        stage.services.write("changing.md", `${LONG_NOTE}!`);
        const { isError, text } = await client.call("memory_open", { id: "changing.md", cursor });

        stage.services.remove("changing.md");
        ok(isError);
        match(text, /"changing\.md" changed while it was read: open it again.*edit-conflict/);
      });

      it("sees an edit behind the server's back in the very next answer", async () => {
        const word = "wombat";
        const ask = async (query: string) => {
          const asked = await Promise.all([
            client.call("recall", { query }),
            client.call("search_notes", { query }),
            client.call("memory_search", { query }),
          ]);
          return asked.map((reply) => answerOf(reply).total);
        };

        const totals = [await ask(word)];
        stage.services.write("edited.md", word);
        totals.push(await ask(word));
        stage.services.write("edited.md", "quoll");
        totals.push(await ask(word));
        stage.services.remove("edited.md");

        deepEqual(totals, [[0, 0, 0], [1, 1, 1], [0, 0, 0]]);
      });

      it("has 20 calls at once, each with its own answer", async () => {
        const asked = QUOKKAS.slice(0, 20);

        const replies = await Promise.all(asked.map((id) => client.call("memory_open", { id })));

        deepEqual(replies.map((reply) => answerOf(reply).id), asked);
      });

      it("cancels a call, which ends the work and is logged", async () => {
        const leaving = await kind.connect(stage.server.url);
        const giveUp = new AbortController();
        const begun = stage.nextEndless();
        const call = leaving.call("memory_search", { query: ENDLESS }, giveUp.signal);
        const failed = rejects(call);
        const { aborted } = await begun;

        // A server of the years 2025 that keeps no session sees nothing but the connection.
        if (kind.transport === "legacy") await leaving.close();
        else giveUp.abort();
        await failed;
        await aborted;

        equal(await lastOutcome(stage), "cancelled");
        await leaving.close();
      });
    });
  }
});

describe("a call that is cancelled", () => {
  const rgPath = resolvePackagedRipgrep();
  const skip = rgPath === undefined
    ? "needs the ripgrep of the npm package"
    : Deno.build.os !== "linux" && "needs /proc to see ripgrep run";

  it("kills the ripgrep that works for it", { skip }, async () => {
    // Letters in no order, over which this pattern takes long enough to be caught; where the index
    // does not look, as it would take long too.
    const query = "(?:a|b)[a-h ]{400,1500}[0-9]";
    const random = randomSource(7);
    const letters = Array.from({ length: 1_000_000 }, () => "abcdefgh "[random(9)]);
    for (let at = 1_999; at < letters.length; at += 2_000) letters[at] = "\n";
    // The name of its file changes when the number is written whole.
    await using spy = await tempVault({
      rg: `#!/bin/sh\nhere="\${0%/*}"\necho $$ > "$here/new" && mv "$here/new" "$here/pid"\n` +
        `exec '${rgPath}' "$@"\n`,
    });
    await Deno.chmod(spy.pathOf("rg"), 0o755);
    // Without this time it would be killed after its own anyway.
    const timeLimitMs = 3_600_000;
    await using world = await serveMcp({ "private/a.md": letters.join("").repeat(9) }, {
      replace: ({ vault }) => ({
        grep: (request) =>
          grepVault({
            ...request,
            vault,
            rgPath: spy.pathOf("rg"),
            excludedGlobs: [],
            timeLimitMs,
          }),
      }),
    });
    await using client = await clientOver("modern").connect(world.server.url);
    const giveUp = new AbortController();

    const call = client.call("memory_search", { query, regex: true }, giveUp.signal);
    const failed = rejects(call);
    const pid = Number(await until(() => readIfThere(spy.pathOf("pid"))));
    const isRipgrep = async () => await nameOfProcess(pid) === "rg";
    await until(isRipgrep);
    // Now it does not end by itself any more.
    Deno.kill(pid, "SIGSTOP");
    giveUp.abort();
    await failed;

    await until(async () => !await isRipgrep());
    equal(await lastOutcome(world), "cancelled");
  });
});

/** Through another program, since Deno opens such files only with all permissions. */
async function nameOfProcess(pid: number): Promise<string> {
  const command = new Deno.Command("cat", { args: [`/proc/${pid}/comm`], stderr: "null" });
  return new TextDecoder().decode((await command.output()).stdout).trim();
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return (await Deno.readTextFile(path)).trim();
  } catch {
    // Not yet, or not any more.
    return undefined;
  }
}
