/** The tools that write, by every client: what they save, and a day of two agents and a person. */
import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { describeWithGit, gitWorld } from "../_support/git_repo.ts";
import { clientOver, CLIENTS, type McpClient, serveMcp, type ToolReply } from "../_support/mcp.ts";
import { listFiles } from "../_support/temp_vault.ts";

/** Lint takes the literal for an argument that nobody can read. */
const NO = false;

const draft = { name: "Cache order", description: "D", body: "zebra", tags: ["Cache"] };

function dataOf({ isError, data, text }: ToolReply): Readonly<Record<string, unknown>> {
  ok(!isError && data, text);
  return data;
}

function idsOf(reply: ToolReply, key = "results"): unknown[] {
  const items = dataOf(reply)[key];
  ok(Array.isArray(items));
  return items.map(({ id }) => id);
}

const SEARCHES: readonly (readonly [tool: string, args: object, key?: string])[] = [
  ["recall", {}],
  ["search_notes", { mode: "keyword" }],
  ["search_notes", { mode: "grep" }],
  ["memory_search", {}],
];

describe("tools that write", () => {
  for (const kind of CLIENTS) {
    it(`${kind.name}: what is saved is found by the next call of every tool`, async () => {
      await using world = await serveMcp();
      await using client = await kind.connect(world.server.url);

      const saved = dataOf(await client.call("memory_save", draft));
      for (const [tool, args] of SEARCHES) {
        deepEqual(idsOf(await client.call(tool, { query: "zebra", ...args })), [saved["id"]], tool);
      }
      const opened = dataOf(await client.call("memory_open", { id: saved["id"] }));
      const changed = await client.call("memory_save", {
        id: saved["id"],
        etag: opened["etag"],
        body: "quokka",
      });
      const stale = await client.call("memory_save", {
        id: saved["id"],
        etag: opened["etag"],
        tags: ["b"],
      });

      deepEqual(idsOf(await client.call("list_memory"), "memories"), [saved["id"]]);
      equal(dataOf(changed)["created"], NO);
      ok(stale.isError);
      match(stale.text, /changed since it was read.*Open it again.*\[edit-conflict, /);
      deepEqual(idsOf(await client.call("recall", { query: "zebra" })), []);
      deepEqual(idsOf(await client.call("recall", { query: "quokka" })), [saved["id"]]);
      match(String(opened["markdown"]), /actor: test-client\/1\.2\.3\n/);
      const hasSession = /\norigin_session_id: \S+\n/.test(String(opened["markdown"]));
      equal(hasSession, kind.transport !== "modern");
    });
  }

  it("memory_save says what is wrong with a call, and writes nothing", async () => {
    await using world = await serveMcp({ "a.md": "# A note\n" });
    await using client = await clientOver("modern").connect(world.server.url);
    const cases: [object, RegExp][] = [
      [{}, /a new one needs name, description, body, tags\. To change one, pass its id/],
      [{ ...draft, tags: "cache" }, /tags must be a list of texts/],
      [{ ...draft, scope: "all" }, /scope must be one of project, global/],
      [{ ...draft, scope: "project" }, /not known where you work.*cwd.*scope-unresolved/],
      [{ ...draft, allow_secrets: true }, /allow_secrets is not known; did you mean allow_secret/],
      [{ id: "nope", tags: ["a"] }, /no memory and no note "nope"/],
      [{ id: "a.md", tags: ["a"] }, /a note of the person's and no memory/],
      [{ ...draft, id: "x", supersedes: "y" }, /supersedes is for new memories only/],
      [{ ...draft, supersedes: "y" }, /no memory and no note "y"/],
      [{ ...draft, status: "deprecated" }, /status needs id/],
      [{ ...draft, etag: "deadbeef" }, /etag needs id/],
      [{ ...draft, name: "\u0007" }, /name must say something/],
    ];

    for (const [args, words] of cases) {
      const { isError, text } = await client.call("memory_save", args);

      ok(isError, JSON.stringify(args));
      match(text, words);
    }
    deepEqual(listFiles(world.services.root), ["a.md"]);
  });

  it("logs no text of what is written", async () => {
    await using world = await serveMcp();
    await using client = await clientOver("modern").connect(world.server.url);

    await client.call("memory_save", { ...draft, name: "Wombatname", body: "wombatbody" });
    await client.call("remember", { text: "wombattext", scope: "global", cwd: "/wombatcwd" });

    ok(!world.services.logs.some((line) => /wombat/i.test(line)), "a text is in the log");
  });
});

describeWithGit("a day of two agents and a person", () => {
  it("each finds what the others wrote, and nothing is lost", async () => {
    await using repos = await gitWorld();
    await repos.init("site");
    await repos.git("site", "remote", "add", "origin", "git@example.org:acme/site.git");
    await repos.git("site", "worktree", "add", "-q", "../tree", "-b", "feature");
    const [site, tree] = [repos.pathOf("site"), repos.pathOf("tree")];
    const git = { path: repos.gitPath, env: repos.env };
    await using world = await serveMcp({}, { seams: { git } });
    const { services } = world;
    await using claude = await clientOver("modern").connect(world.server.url);
    await using codex = await clientOver("sse").connect(world.server.url);
    const recall = async (client: McpClient, query: string, more: object = {}) =>
      idsOf(await client.call("recall", { query, ...more }));

    // In the morning one agent learns something, and the other knows it in another worktree.
    const fact = dataOf(
      await claude.call("remember", { text: "Deploys need the zebra flag.", cwd: site }),
    );
    deepEqual(await recall(codex, "zebra", { cwd: tree }), [fact["id"]]);
    deepEqual(await recall(codex, "zebra"), []);
    deepEqual(await recall(codex, "zebra", { scope: "all" }), [fact["id"]]);

    // The person moves and renames the note in Obsidian, and edits it there.
    const moved = "memories/deploying/flags.md";
    await Deno.mkdir(services.pathOf("memories/deploying"));
    await Deno.rename(services.pathOf(String(fact["path"])), services.pathOf(moved));
    const text = await Deno.readTextFile(services.pathOf(moved));
    services.write(moved, text.replace("zebra flag", "zebra flag, and the quokka one"));
    const opened = dataOf(await codex.call("memory_open", { id: fact["id"] }));
    equal(opened["path"], moved);
    match(String(opened["markdown"]), /quokka one/);

    // The agent that read it before cannot write over that; after a look it can.
    const late = await claude.call("memory_save", {
      id: fact["id"],
      etag: fact["etag"],
      body: "old news",
    });
    match(late.text, /changed since it was read/);
    const again = dataOf(await claude.call("memory_open", { id: fact["id"] }));
    dataOf(
      await claude.call("memory_save", { id: fact["id"], etag: again["etag"], tags: ["ops"] }),
    );
    match(await Deno.readTextFile(services.pathOf(moved)), /quokka one/);

    // A sync tool leaves copies: they are reported, and the original stays in use.
    const copies = [
      "memories/deploying/flags (conflicted copy).md",
      "memories/deploying/flags.sync-conflict-20260514-103000-ABCDEFG.md",
    ];
    for (const copy of copies) services.write(copy, text);
    const withCopies = dataOf(await codex.call("memory_open", { id: fact["id"] }));
    deepEqual(withCopies["conflictCopies"], copies);
    deepEqual(await recall(codex, "quokka"), [fact["id"]]);

    // Any other file with that id silences both, and the message says what to do.
    services.write("memories/copied by hand.md", text);
    deepEqual(await recall(codex, "quokka"), []);
    const torn = dataOf(await codex.call("memory_open", { id: fact["id"] }));
    deepEqual(torn["conflicts"], ["memories/copied by hand.md", moved]);
    const refused = await codex.call("memory_save", { id: fact["id"], tags: ["b"] });
    match(refused.text, /2 files claim that id.*another id, or delete it.*\[id-conflict/);
    services.remove("memories/copied by hand.md");
    deepEqual(await recall(codex, "quokka"), [fact["id"]]);

    // In the evening the lesson is rewritten, and the work handed off.
    const newer = dataOf(
      await codex.call("memory_save", {
        ...draft,
        body: "No flags any more.",
        supersedes: fact["id"],
      }),
    );
    deepEqual(await recall(claude, "zebra quokka"), []);
    deepEqual(await recall(claude, "flags"), [newer["id"]]);
    dataOf(await codex.call("set_handoff", { body: "Next: remove the flag.", cwd: tree }));
    const resumed = dataOf(await claude.call("resume", { cwd: tree }));
    deepEqual([resumed["branch"], resumed["body"]], ["feature", "Next: remove the flag."]);
    equal(dataOf(await claude.call("resume", { cwd: site }))["found"], NO);

    // In the vault there is nothing but notes and their lists.
    await services.manifests.flush();
    const names = listFiles(services.root);
    deepEqual(names.filter((name) => !name.endsWith(".md")), []);
    deepEqual(names.filter((name) => /^\.|\/\./.test(name)), []);
  });
});
