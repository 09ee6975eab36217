import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { it } from "@std/testing/bdd";
import { describeWithGit } from "../_support/git_repo.ts";
import { NOW_MS, type WritingWorld, writingWorld } from "../_support/writing.ts";

async function worldWithRepo(): Promise<WritingWorld & { cwd: string }> {
  const world = await writingWorld();
  await world.repos.init("site");
  await world.repos.git("site", "remote", "add", "origin", "https://example.org/acme/site.git");
  return { ...world, cwd: world.repos.pathOf("site") };
}

const handOff = (world: WritingWorld, input: object, headers?: HeadersInit) =>
  world.ask("PUT", "/api/handoff", input, headers);
const resume = (world: WritingWorld, query: string) => world.ask("GET", `/api/handoff?${query}`);

describeWithGit("/api/handoff", () => {
  it("keeps the state of the work by project and branch", async () => {
    await using world = await worldWithRepo();
    const { cwd } = world;
    const body = "## Done\n\n- a\n\n## Next\n\n- b";

    const saved = await handOff(world, { body, cwd }, { "user-agent": "codex/1" });
    await world.repos.git("site", "checkout", "-q", "-b", "feature/x");
    const onOther = await resume(world, `cwd=${cwd}`);
    await handOff(world, { body: "on a feature", cwd });
    const [main, feature, far] = await Promise.all([
      resume(world, `cwd=${cwd}&branch=main`),
      resume(world, `cwd=${cwd}`),
      resume(world, "repo=git@example.org:acme/site&branch=main"),
    ]);

    equal(saved.status, 200);
    deepEqual(saved.body, {
      status: "saved",
      branch: "main",
      scope: saved.body.scope,
      path: `memories/projects/${saved.body.scope}/handoff/main.md`,
    });
    deepEqual([onOther.body.found, onOther.body.branch], [false, "feature/x"]);
    match(onOther.body.note, /handoffs on main/);
    const updated_at = new Date(NOW_MS).toISOString();
    const folder = saved.body.path.replace("main.md", "");
    deepEqual(main.body, {
      found: true,
      branch: "main",
      body,
      updated_at,
      path: `${folder}main.md`,
    });
    deepEqual(feature.body, {
      found: true,
      branch: "feature/x",
      body: "on a feature",
      updated_at,
      path: `${folder}feature%2Fx.md`,
    });
    deepEqual(far.body, main.body);
  });

  it("keeps the last ten, the newest first, in one file for people", async () => {
    await using world = await worldWithRepo();
    const { cwd } = world;

    for (let i = 1; i <= 12; i++) await handOff(world, { body: `state ${i}`, cwd });

    const { body } = await resume(world, `cwd=${cwd}`);
    equal(body.body, "state 12");
    const [store = ""] = world.list("memories/projects");
    const text = world.text(`memories/projects/${store}/handoff/main.md`);
    deepEqual(
      [...text.matchAll(/^state (\d+)$/gm)].map(([, number]) => number),
      ["12", "11", "10", "9", "8", "7", "6", "5", "4", "3"],
    );
  });

  it("loses none of many that come at once", async () => {
    await using world = await worldWithRepo();
    const { cwd } = world;

    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => handOff(world, { body: `state ${i}`, cwd })),
    );

    deepEqual(answers.map(({ status }) => status), answers.map(() => 200));
    const text = world.text(answers[0]?.body.path);
    equal([...text.matchAll(/^state \d$/gm)].length, 8);
  });

  it("says clearly why there is none: no Git, a detached HEAD, nothing yet", async () => {
    await using world = await worldWithRepo();
    const { cwd } = world;
    const nowhere = world.repos.root;

    const none = await resume(world, `cwd=${cwd}`);
    const outside = await resume(world, `cwd=${nowhere}`);
    const refused = await handOff(world, { body: "text", cwd: nowhere });
    await world.repos.git("site", "checkout", "-q", "--detach");
    const detached = await resume(world, `cwd=${cwd}`);
    const refusedToo = await handOff(world, { body: "text", cwd });
    const named = await handOff(world, { body: "text", cwd, branch: "main" });

    deepEqual(none.body, {
      found: false,
      branch: "main",
      note: "Nothing was handed off on branch main of site",
    });
    deepEqual(Object.keys(outside.body), ["found", "note"]);
    match(outside.body.note, /no Git repository/);
    equal(refused.body.code, "scope-unresolved");
    match(detached.body.note, /HEAD is detached/);
    equal(refusedToo.body.code, "scope-unresolved");
    match(refusedToo.body.detail, /HEAD is detached/);
    equal(named.status, 200);
  });

  it("works before the first commit, and with branches of odd names", async () => {
    await using world = await writingWorld();
    await world.repos.git("new", "init", "-q");
    const cwd = world.repos.pathOf("new");

    const saved = await handOff(world, { body: "first", cwd });
    for (const branch of ["功能/新", "a%2Fb", "a/b", "con", "x".repeat(150)]) {
      const answer = await handOff(world, { body: `on ${branch}`, cwd, branch });

      equal(answer.status, 200, JSON.stringify(answer.body));
      const query = new URLSearchParams({ cwd, branch });
      equal((await resume(world, String(query))).body.body, `on ${branch}`);
    }

    deepEqual([saved.body.status, saved.body.branch], ["saved", "main"]);
    equal((await resume(world, `cwd=${cwd}`)).body.body, "first");
  });

  it("refuses what Git lets no branch be, so that no URL ends up in a file name", async () => {
    await using world = await worldWithRepo();
    const { cwd } = world;

    for (
      const branch of ["https://ada:secret@example.org", "a b", "a..b", "/a", "-a", "a~1", "@{1}"]
    ) {
      const saved = await handOff(world, { body: "text", cwd, branch });
      const resumed = await resume(world, String(new URLSearchParams({ cwd, branch })));

      deepEqual([saved.status, saved.body.problems[0].field], [400, "branch"], branch);
      equal(resumed.status, 400);
      ok(!JSON.stringify([saved.body, resumed.body]).includes("secret"));
    }
  });

  it("keeps branches apart whose names differ in case alone", async () => {
    await using world = await worldWithRepo();
    const { cwd } = world;

    for (const branch of ["feature/Login", "feature/login"]) {
      equal((await handOff(world, { body: `on ${branch}`, cwd, branch })).status, 200);
    }

    for (const branch of ["feature/Login", "feature/login"]) {
      const { body } = await resume(world, String(new URLSearchParams({ cwd, branch })));
      equal(body.body, `on ${branch}`);
    }
  });

  it("says that the branch has to be passed where only the remote is known", async () => {
    await using world = await worldWithRepo();
    const where = { repo: "git@example.org:acme/site" };

    const saved = await handOff(world, { body: "text", ...where });
    const resumed = await resume(world, String(new URLSearchParams(where)));

    match(saved.body.detail, /cannot be seen from repo.*pass branch/);
    match(resumed.body.note, /cannot be seen from repo.*pass branch/);
  });

  it("refuses secrets and empty texts", async () => {
    await using world = await worldWithRepo();
    const { cwd } = world;

    const secret = await handOff(world, { body: `ghp_${"aB3dE6gH9k".repeat(3)}xY2zQ7`, cwd });
    const empty = await handOff(world, { body: " \n", cwd });

    deepEqual([secret.status, secret.body.code], [422, "secret-found"]);
    deepEqual([empty.status, empty.body.problems[0].field], [400, "body"]);
  });

  it("is found by searches as part of the journal, and is no memory", async () => {
    await using world = await worldWithRepo();

    await handOff(world, { body: "quokka state", cwd: world.cwd });

    const { body } = await world.ask("GET", "/api/search?q=quokka");
    deepEqual(body.results.map(({ kind }: { kind: string }) => kind), ["journal"]);
    equal((await world.ask("GET", "/api/memories")).body.total, 0);
  });
});
