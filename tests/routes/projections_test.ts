/** `GET /api/projections`: plans of what agents are shown, and nothing done. */
import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { it } from "@std/testing/bdd";
import { ProjectionsAnswerShape } from "@/lib/contracts_projection.ts";
import { BLOCK_START } from "@/lib/projection/managed_block.ts";
import { createOpenApi } from "@/routes/openapi.ts";
import { createApp } from "@/routes/app.ts";
import { describeWithGit as describe } from "../_support/git_repo.ts";
import { readTree } from "../_support/homes.ts";
import {
  inStore,
  memoryText,
  type ProjectionWorld,
  projectionWorld,
} from "../_support/projection_world.ts";
import { textsBelow } from "../_support/temp_vault.ts";
import { testWorld } from "../_support/world.ts";

const VAULT = {
  "memories/g.md": memoryText("m_global"),
  ...inStore({ "p.md": memoryText("m_project") }),
};
const OWNER = "the-owners-own-token";

async function ask(url: string, query: string, init?: RequestInit) {
  const response = await fetch(`${url}/api/projections${query}`, init);
  const body = await response.json();
  return { status: response.status, body };
}

const at = (world: ProjectionWorld) => `?cwd=${encodeURIComponent(world.repo)}`;

describe("GET /api/projections", () => {
  it("GET /api/projections tells target, state, changes and block, and changes nothing", async () => {
    await using world = await projectionWorld(VAULT);
    world.write(world.repo, { "AGENTS.md": "a secret of theirs\n" });
    world.write(world.claudeMemory, { "a.md": "a secret of Claude\n" });
    await using server = await world.serve();
    const before = [await world.tree(), await readTree(world.repo), textsBelow(world.vault)];

    const { status, body } = await ask(server.url, at(world));

    equal(status, 200);
    const { projections } = ProjectionsAnswerShape.strict().parse(body);
    deepEqual(
      projections.map((
        { agent, mode, scope, state, target },
      ) => [agent, mode, scope, state, target]),
      [
        ["claude", "SYMLINK", "project", "merge", world.claudeMemory],
        ["codex", "RENDER", "project", "new", world.inRepo("AGENTS.md")],
        ["codex", "RENDER", "global", "new", world.inHome(".codex/AGENTS.md")],
      ],
    );
    const [claude, own, global] = projections;
    deepEqual(claude?.changes.map(({ change }) => change), ["copy", "keep-folder", "link"]);
    deepEqual(claude?.changes.at(-1)?.to, "memories/projects/01JZ0000000000000000000001");
    deepEqual(own?.changes, [{ change: "write-block", path: world.inRepo("AGENTS.md") }]);
    ok(own?.block?.startsWith(BLOCK_START) && own.block.includes("m_project"));
    deepEqual(global?.changes.map(({ change }) => change), ["make-folder", "make-file"]);
    ok(!JSON.stringify(body).includes("secret"));
    ok(!JSON.stringify(body).includes(world.vault), "Nobody is told where the vault lies");
    deepEqual([await world.tree(), await readTree(world.repo), textsBelow(world.vault)], before);
  });

  it("GET /api/projections tells what is as it should be, and why something is refused", async () => {
    await using world = await projectionWorld(VAULT);
    await world.run(["codex"]);
    world.write(world.repo, { "AGENTS.md": "```\n" });
    world.write(world.claudeMemory, { "a.json": "{}" });
    await using server = await world.serve();

    const { body } = await ask(server.url, at(world));

    deepEqual(body.projections.map(({ state }: { state: string }) => state), [
      "refused",
      "refused",
      "current",
    ]);
    match(body.projections[0].reason, /holds what is no note \(a\.json\)/);
    match(body.projections[1].reason, /its end lies inside of code/);
    deepEqual(body.projections[2].changes, []);
  });

  it("GET /api/projections takes the header too, and without either tells what is no project's", async () => {
    await using world = await projectionWorld(VAULT);
    await using server = await world.serve();

    const byHeader = await ask(server.url, "", {
      headers: { "x-commonplace-cwd": encodeURIComponent(world.repo) },
    });
    const nowhere = await ask(server.url, "");
    const byRemote = await ask(server.url, "?repo=https%3A%2F%2Fexample.org%2Fteam%2Fsite.git");

    equal(byHeader.body.projections.length, 3);
    for (const { status, body } of [nowhere, byRemote]) {
      equal(status, 200);
      deepEqual(
        body.projections.map(({ agent, scope }: Record<string, string>) => [agent, scope]),
        [["codex", "global"]],
      );
    }
  });

  it("GET /api/projections refuses what is wrongly said", async () => {
    await using world = await projectionWorld(VAULT);
    await using server = await world.serve();

    for (const query of ["?cwd=relative", "?repo=none", "?agent=codex", "?cwd="]) {
      const { status, body } = await ask(server.url, query);
      deepEqual([status, body.code], [400, "invalid-request"], query);
    }
  });

  it("GET /api/projections answers 403 to agents of other machines", async () => {
    await using world = await projectionWorld(VAULT);
    const token = "a-token-of-all-agents";
    await using server = await world.serve({ token, ownerToken: OWNER });
    const app = createApp(server.services);
    const far: Deno.NetAddr = { transport: "tcp", hostname: "192.0.2.1", port: 5 };
    const request = (bearer: string) =>
      app.fetch(
        new Request("http://127.0.0.1:8787/api/projections", {
          headers: { authorization: `Bearer ${bearer}`, host: "127.0.0.1:8787" },
        }),
        { remoteAddr: far },
      );

    const agent = await request(token);
    equal(agent.status, 403);
    equal((await agent.json()).code, "forbidden-peer");
    equal((await request(OWNER)).status, 200);
  });

  it("GET /api/projections is for the owner alone in mode ask", async () => {
    await using world = await projectionWorld(VAULT);
    await using server = await world.serve({ access: "ask", ownerToken: OWNER });

    const agent = await ask(server.url, at(world));
    const owner = await ask(server.url, at(world), {
      headers: { authorization: `Bearer ${OWNER}` },
    });

    deepEqual([agent.status, agent.body.code], [403, "owner-required"]);
    ok(!JSON.stringify(agent.body).includes("m_project"));
    equal(owner.status, 200);
    equal(owner.body.projections.length, 3);
  });

  it("GET /api/projections goes on where the record is broken, and says so", async () => {
    await using world = await projectionWorld(VAULT);
    world.write(world.home, { ".commonplace/projections.json": "{" });
    await using server = await world.serve();

    const { status, body } = await ask(server.url, at(world));

    equal(status, 200);
    for (const { notes } of body.projections) {
      match(notes.join(), /What was made before is not known/);
    }
  });

  it("GET /api/projections answers 503 where it is not known whose machine it is", async () => {
    await using world = await testWorld();

    const response = await world.request("/api/projections");

    equal(response.status, 503);
    equal((await response.json()).code, "unavailable");
  });

  it("GET /api/projections is described", () => {
    const paths = createOpenApi()["paths"] as Record<string, Record<string, unknown>>;

    const described = JSON.stringify(paths["/api/projections"]?.["get"]);

    for (const text of ["X-Commonplace-Cwd", '"repo"', "ProjectionsAnswer"]) {
      ok(described.includes(text), text);
    }
  });
});
