import {
  deepStrictEqual as deepEqual,
  match,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { it } from "@std/testing/bdd";
import type { Caller } from "@/lib/contracts.ts";
import { InvalidRequest, ScopeUnresolved } from "@/lib/errors.ts";
import { describeWithGit } from "../_support/git_repo.ts";
import { type WritingWorld, writingWorld } from "../_support/writing.ts";

const near: Caller = { kind: "agent", loopback: true };
const far: Caller = { kind: "agent", loopback: false };

const ORIGIN = "https://ada:s3cret@GitHub.com/acme/site.git";

async function cloneOf(world: WritingWorld, folder: string, origin = ORIGIN): Promise<string> {
  await world.repos.init(folder);
  await world.repos.git(folder, "remote", "add", "origin", origin);
  return world.repos.pathOf(folder);
}

async function remember(world: WritingWorld, text: string, where: object): Promise<string> {
  const { status, body } = await world.ask("POST", "/api/remember", { text, ...where });
  equal(status, 201, JSON.stringify(body));
  return body.id;
}

const storeFolders = (world: WritingWorld) => world.list("memories/projects");

describeWithGit("Projects: one store a repository", () => {
  it("makes the store at the first save, with an identity that holds no path and no password", async () => {
    await using world = await writingWorld();
    const cwd = await cloneOf(world, "site");

    const before = await world.ask("GET", `/api/projects/identity?cwd=${cwd}`);
    await remember(world, "The build needs Node 22.", { cwd });
    const { body } = await world.ask("GET", `/api/projects/identity?cwd=${cwd}`);

    deepEqual(before.body.project, {
      name: "site",
      repoId: "github.com/acme/site",
      source: "origin",
      branch: "main",
      store: null,
    });
    const [ulid = "", ...more] = storeFolders(world);
    deepEqual([more, body.project.store], [[], {
      id: ulid,
      folder: `memories/projects/${ulid}`,
    }]);
    match(ulid, /^[0-9A-HJKMNP-TV-Z]{26}$/);
    const identity = world.text(`memories/projects/${ulid}/project.md`);
    match(identity, /^---\nproject: site\nrepo_id: github\.com\/acme\/site\nulid: /);
    ok(!/s3cret|ada|\/tmp|vault-/.test(identity), identity);
    ok(!world.logs.some((line) => line.includes("s3cret")));
  });

  it("shares it between clones, worktrees and machines, whatever way the origin is spelt", async () => {
    await using world = await writingWorld();
    const first = await cloneOf(world, "site");
    const second = await cloneOf(world, "other", "git@github.com:acme/site");
    await world.repos.git("site", "worktree", "add", "-q", "../tree", "-b", "feature");
    const wheres = [
      { cwd: first },
      { cwd: second },
      { cwd: world.repos.pathOf("tree") },
      { repo: "ssh://git@github.com:22/acme/site.git/" },
    ];

    const ids = await Promise.all(
      wheres.map((where, i) => remember(world, `fact ${i}`, where)),
    );

    equal(storeFolders(world).length, 1);
    for (const where of wheres) {
      const query = new URLSearchParams({ q: "fact", scope: "project", ...where });
      deepEqual(await world.idsOf(String(query)), [...ids].sort());
    }
  });

  it("finds a repository without a remote again when it has moved, and no other one", async () => {
    await using world = await writingWorld();
    await world.repos.init("a/site");
    const id = await remember(world, "fact one", { cwd: world.repos.pathOf("a/site") });
    await Deno.mkdir(world.repos.pathOf("b"));
    await Deno.rename(world.repos.pathOf("a/site"), world.repos.pathOf("b/site"));
    await world.repos.git("c/site", "init", "-q");
    await world.repos.git("c/site", "commit", "-q", "--allow-empty", "-m", "another history");

    const moved = await world.ask("POST", "/api/remember", {
      text: "fact two",
      cwd: world.repos.pathOf("b/site"),
    });
    const other = await world.ask("POST", "/api/remember", {
      text: "fact three",
      cwd: world.repos.pathOf("c/site"),
    });

    equal(moved.body.path.split("/")[2], (await idStore(world, id)).split("/")[2]);
    ok(moved.body.notice === undefined);
    match(
      other.body.notice,
      /A new store .* was made for project site.*If its memories lie in "memories\/projects\//,
    );
    equal(storeFolders(world).length, 2);
  });

  it("keeps its store when it gets a remote, and every clone finds it from the next save on", async () => {
    await using world = await writingWorld();
    await world.repos.init("mine");
    const cwd = world.repos.pathOf("mine");
    const before = await remember(world, "fact one", { cwd });
    await world.repos.git("mine", "remote", "add", "origin", ORIGIN);

    deepEqual(await world.idsOf(`q=fact&scope=project&cwd=${cwd}`), [before]);
    const after = await remember(world, "fact two", { cwd });
    const clone = await cloneOf(world, "clone");

    equal(storeFolders(world).length, 1);
    const both = [before, after].sort();
    deepEqual(await world.idsOf(`q=fact&scope=project&cwd=${clone}`), both);
    const [ulid = ""] = storeFolders(world);
    const identity = world.text(`memories/projects/${ulid}/project.md`);
    match(identity, /^---\nproject: mine\nrepo_id: github\.com\/acme\/site\nulid: /);
    ok(!identity.includes("s3cret"));
  });

  it("gives its store to no other repository that comes to lie in its place", async () => {
    await using world = await writingWorld();
    await world.repos.init("mine");
    const cwd = world.repos.pathOf("mine");
    const old = await remember(world, "fact one", { cwd });
    await Deno.remove(cwd, { recursive: true });
    await world.repos.git("mine", "init", "-q");
    await world.repos.git("mine", "commit", "-q", "--allow-empty", "-m", "another history");
    await world.repos.git("mine", "remote", "add", "origin", ORIGIN);

    const id = await remember(world, "fact two", { cwd });

    equal(storeFolders(world).length, 2);
    deepEqual(await world.idsOf(`q=fact&scope=project&cwd=${cwd}`), [id]);
    deepEqual(await world.idsOf("q=fact"), [id, old].sort());
  });

  it("takes a URL that a person wrote for what it means, and never shows its password", async () => {
    const ulid = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    await using world = await writingWorld({
      [`memories/projects/${ulid}/project.md`]:
        `---\nproject: ${ORIGIN}\nrepo_id: ${ORIGIN}\n---\n`,
    });
    const cwd = await cloneOf(world, "site");

    const { body } = await world.ask("GET", `/api/projects/identity?cwd=${cwd}`);
    const unknown = await world.ask("GET", "/api/search?q=x&project=https");

    equal(body.project.store.id, ulid);
    ok(!JSON.stringify([body, unknown.body]).includes("s3cret"));
  });

  it("reports stores of which nobody can tell whose they are, and says so when it makes one", async () => {
    const [broken, missing, nameless] = [
      "01ARZ3NDEKTSV4RRFFQ69G5FAV",
      "01BX5ZZKBKACTAV9WEVGEMMVRZ",
      "01CX5ZZKBKACTAV9WEVGEMMVRZ",
    ];
    await using world = await writingWorld({
      [`memories/projects/${broken}/project.md`]: '---\nproject: "si: te\n---\n',
      [`memories/projects/${missing}/a.md`]: "# A\n",
      [`memories/projects/${nameless}/project.md`]: "# nothing\n",
    });
    const cwd = await cloneOf(world, "site");

    const { body } = await world.ask("GET", "/api/diagnostics?reason=store-without-project");
    const saved = await world.ask("POST", "/api/remember", { text: "fact", cwd });

    deepEqual(
      body.diagnostics.map(({ path }: { path: string }) => path.split("/")[2]).sort(),
      [broken, missing, nameless],
    );
    match(saved.body.notice, new RegExp(broken));
  });

  it("makes one store although many save at once", async () => {
    await using world = await writingWorld();
    const cwd = await cloneOf(world, "site");

    await Promise.all(Array.from({ length: 10 }, (_, i) => remember(world, `fact ${i}`, { cwd })));

    equal(storeFolders(world).length, 1);
  });

  it("reads both stores of two machines, and writes to the older one", async () => {
    const identity = (ulid: string) =>
      `---\nproject: site\nrepo_id: github.com/acme/site\nulid: ${ulid}\n---\n`;
    const [older, newer] = ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "01BX5ZZKBKACTAV9WEVGEMMVRZ"];
    const note = (id: string) => `---\nid: ${id}\nname: N\ndescription: D\n---\nfact\n`;
    await using world = await writingWorld({
      [`memories/projects/${newer}/project.md`]: identity(newer),
      [`memories/projects/${newer}/a.md`]: note("m1"),
      [`memories/projects/${older}/project.md`]: identity(older),
      [`memories/projects/${older}/b.md`]: note("m2"),
      "memories/projects/notes/project.md": identity("none"),
    });
    const cwd = await cloneOf(world, "site");

    const id = await remember(world, "fact three", { cwd });

    deepEqual(await world.idsOf(`q=fact&scope=project&cwd=${cwd}`), [id, "m1", "m2"].sort());
    match(await idStore(world, id), new RegExp(older));
  });
});

async function idStore(world: WritingWorld, id: string): Promise<string> {
  return (await world.ask("GET", `/api/memories/${id}`)).body.path;
}

describeWithGit("scopes", () => {
  const note = (id: string) => `---\nid: ${id}\nname: N\ndescription: D\n---\nfact\n`;

  async function scopedWorld(): Promise<
    WritingWorld & { cwd: string; other: string; mine: string }
  > {
    const world = await writingWorld({ "memories/g.md": note("global"), "plain.md": "fact" });
    const cwd = await cloneOf(world, "site");
    const elsewhere = await cloneOf(world, "else", "https://example.org/acme/else");
    const mine = await remember(world, "fact of site", { cwd });
    const other = await remember(world, "fact of else", { cwd: elsewhere });
    return { ...world, cwd, mine, other };
  }

  it("limit a search to what they mean", async () => {
    await using world = await scopedWorld();
    const { cwd, mine, other } = world;
    const cases: [string, string[]][] = [
      ["", ["global", "plain.md", mine, other]],
      ["&scope=all", ["global", "plain.md", mine, other]],
      [`&scope=all&cwd=${cwd}`, ["global", "plain.md", mine, other]],
      ["&scope=global", ["global"]],
      [`&scope=project&cwd=${cwd}`, [mine]],
      [`&scope=here&cwd=${cwd}`, ["global", "plain.md", mine]],
      ["&scope=here", ["global", "plain.md"]],
      ["&scope=here&cwd=/", ["global", "plain.md"]],
      ["&project=else", [other]],
      ["&project=else&scope=project", [other]],
      ["&project=ELSE&scope=here", ["global", "plain.md", other]],
      ["&project=github.com/acme/site", [mine]],
      ["&scope=project&repo=https://example.org/acme/unknown", []],
      ["&scope=project&repo=git@example.org:acme/else.git", [other]],
    ];

    for (const [query, ids] of cases) {
      for (const mode of ["keyword", "grep"]) {
        deepEqual(await world.idsOf(`q=fact&mode=${mode}${query}`), ids.toSorted(), mode + query);
      }
    }
  });

  it("take the working directory from the header where the call says none", async () => {
    await using world = await scopedWorld();
    const folder = "工作 site";
    const cwd = await cloneOf(world, folder);
    const search = (headers: HeadersInit) =>
      world.ask("GET", "/api/search?q=fact&scope=project", undefined, headers);

    for (const value of [encodeURI(cwd), toLatin1(cwd)]) {
      const { body } = await search({ "x-commonplace-cwd": value });

      deepEqual(body.results.map(({ id }: { id: string }) => id), [world.mine]);
    }
    equal((await search({})).status, 422);
    equal((await search({ "x-commonplace-cwd": "/" })).status, 422);
  });

  it("narrow the list of memories, and a cursor holds for one scope", async () => {
    await using world = await scopedWorld();
    const list = (query: string) => world.ask("GET", `/api/memories?limit=1&${query}`);

    const all = await list("scope=all");
    const project = await list(`scope=project&cwd=${world.cwd}`);

    deepEqual([all.body.total, project.body.total], [3, 1]);
    equal(project.body.memories[0].id, world.mine);
    equal((await list(`scope=global&cursor=${all.body.nextCursor}`)).status, 400);
  });

  it("outside a project, project is refused with what to do, and global works", async () => {
    await using world = await scopedWorld();
    const cwd = world.repos.root;
    const asks = [
      world.ask("GET", `/api/search?q=fact&scope=project&cwd=${cwd}`),
      world.ask("GET", `/api/memories?scope=project&cwd=${cwd}`),
      world.ask("POST", "/api/remember", { text: "fact", cwd }),
      world.ask("POST", "/api/memories", {
        name: "N",
        description: "D",
        body: "B",
        tags: ["a"],
        scope: "project",
        cwd,
      }),
      world.ask("PUT", "/api/handoff", { body: "text", cwd }),
    ];

    for (const { status, body } of await Promise.all(asks)) {
      deepEqual([status, body.code], [422, "scope-unresolved"]);
      match(body.detail, /no Git repository.*scope global|repo/);
    }
    equal((await world.ask("POST", "/api/remember", { text: "x", scope: "global" })).status, 201);
    equal(storeFolders(world).length, 2);
  });

  it("one project neither sees nor switches off what another one has learned", async () => {
    await using world = await scopedWorld();
    const draft = { name: "Fact of else", description: "D", body: "B", tags: ["a"] };
    const elsewhere = world.repos.pathOf("else");
    const here = { scope: "project", cwd: world.cwd };

    const saved = await world.ask("POST", "/api/memories", { ...draft, ...here });
    const refused = await world.ask("POST", "/api/memories", {
      ...draft,
      ...here,
      supersedes: world.other,
    });
    const allowed = await world.ask("POST", "/api/memories", {
      ...draft,
      cwd: elsewhere,
      supersedes: world.other,
    });

    const similar = saved.body.similar.map(({ id }: { id: string }) => id);
    ok(similar.includes(world.mine) && !similar.includes(world.other), String(similar));
    deepEqual([refused.status, refused.body.problems[0].field], [400, "supersedes"]);
    match(refused.body.detail, /belongs to another project/);
    equal(allowed.status, 201);
  });

  it("a cursor holds for one working directory, the header's too", async () => {
    await using world = await scopedWorld();
    await remember(world, "fact two of site", { cwd: world.cwd });
    const list = (cwd: string, more = "") =>
      world.ask("GET", `/api/memories?limit=1&scope=project${more}`, undefined, {
        "x-commonplace-cwd": cwd,
      });

    const { body } = await list(world.cwd);

    equal((await list(world.cwd, `&cursor=${body.nextCursor}`)).status, 200);
    equal((await list(world.repos.pathOf("else"), `&cursor=${body.nextCursor}`)).status, 400);
  });

  it("refuse what says wrongly where the agent works, and never repeat a URL", async () => {
    await using world = await scopedWorld();
    const { projects } = world;
    const secret = "https://ada:s3cret@";

    await rejects(projects.find(near, { cwd: "relative/path" }), InvalidRequest);
    await rejects(projects.find(near, { cwd: "/a\0b" }), InvalidRequest);
    await rejects(projects.find(far, { cwd: world.cwd }), /from this machine only/);
    await rejects(projects.find({ ...far, cwd: world.cwd }, {}), /from this machine only/);
    equal((await projects.find(far, { repo: ORIGIN }))?.ref.repoId, "github.com/acme/site");
    await rejects(projects.require(near, {}), ScopeUnresolved);
    for (const query of [`repo=${secret}`, `rpo=${secret}host/x`, `cwd=${secret}host/x`]) {
      const { status, body } = await world.ask("GET", `/api/projects/identity?${query}`);

      equal(status, 400, query);
      ok(!JSON.stringify(body).includes("s3cret"), JSON.stringify(body));
    }
    equal((await world.ask("GET", "/api/search?q=x&project=site&scope=global")).status, 400);
    const unknown = await world.ask("GET", "/api/search?q=x&project=sit");
    match(unknown.body.detail, /project "sit".*did you mean site/i);
    ok(!world.logs.some((line) => line.includes("s3cret")));
  });
});

/** As a client sends it that puts the bytes of UTF-8 into a header. */
function toLatin1(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text));
}
