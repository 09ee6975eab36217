import {
  deepStrictEqual as deepEqual,
  match,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { it } from "@std/testing/bdd";
import { join } from "node:path";
import { MemorySource } from "@/lib/cli/memory_source.ts";
import type { Config } from "@/lib/config.ts";
import type { MemoriesAnswer } from "@/lib/contracts_memories.ts";
import { toPage } from "@/lib/projection/plan_projections.ts";
import type { ProjectionScope } from "@/lib/projection/projection.ts";
import { randomId, systemClock } from "@/lib/seams.ts";
import { createServices } from "@/lib/services.ts";
import { describeWithGit as describe } from "../_support/git_repo.ts";
import {
  inStore,
  memoryText,
  type ProjectionWorld,
  projectionWorld,
} from "../_support/projection_world.ts";
import { silentLogger } from "../_support/silent_logger.ts";
import { listAll } from "../_support/temp_vault.ts";

const many = (count: number, prefix: string) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      `${prefix}${at}.md`,
      memoryText(`${prefix}${at}`, { updatedAt: `2026-01-01T00:00:${at % 60}.000Z` }),
    ]),
  );

/** With what either way may tell otherwise: twins, statuses, no description, no id. */
const VAULT = {
  ...many(120, "memories/g"),
  "memories/twin.md": memoryText("m_twin"),
  ...inStore({
    ...many(3, "p"),
    "twin.md": memoryText("m_twin"),
    "old.md": memoryText("m_old", { more: "status: deprecated\n" }),
    "claude.md": "---\nname: Build\ndescription: How to\n---\n\nx\n",
    "silent.md": memoryText("m_silent", { description: "" }),
  }),
};

interface Listed {
  readonly isServed: boolean;
  readonly pages: readonly Pick<MemoriesAnswer, "memories" | "total">[];
}

async function listAllPages(
  world: ProjectionWorld,
  scope: ProjectionScope,
  config: Partial<Config> = {},
): Promise<Listed> {
  const own = { ...world.config(), ...config };
  const { gitPath: path, env } = world.git;
  const services = createServices(own, {
    clock: systemClock,
    logger: silentLogger(),
    newId: randomId,
    ripgrepPath: undefined,
    git: { path, env },
  });
  await using source = new MemorySource(own, services);
  await source.beginRound();
  const pages: Pick<MemoriesAnswer, "memories" | "total">[] = [];
  let cursor: string | undefined;
  do {
    const page = await source.list(toPage(scope, { cwd: world.repo }, cursor));
    pages.push({ memories: page.memories, total: page.total });
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  const { isServed } = source;
  await services.close();
  return { isServed, pages };
}

describe("MemorySource", () => {
  for (const scope of ["global", "project"] as const) {
    it(`MemorySource lists scope ${scope} the same with a server and without`, async () => {
      await using world = await projectionWorld(VAULT);
      const alone = await listAllPages(world, scope);
      await using _server = await world.serve();

      const served = await listAllPages(world, scope);

      deepEqual([alone.isServed, served.isServed], [false, true]);
      deepEqual(served.pages, alone.pages);
      equal(alone.pages[0]?.total, scope === "global" ? 120 : 5);
    });
  }

  it("MemorySource lists the same in mode ask, by the token that the state directory keeps", async () => {
    await using world = await projectionWorld(VAULT);
    const alone = await listAllPages(world, "global", { access: "ask" });
    const token = "a-token-of-the-owner";
    world.write(world.state, { "owner-token": token });
    await Deno.chmod(join(world.state, "owner-token"), 0o600);
    await using _server = await world.serve({ access: "ask", ownerToken: token });

    const served = await listAllPages(world, "global", { access: "ask" });

    ok(served.isServed);
    deepEqual(served.pages, alone.pages);
  });

  it("MemorySource lists the same where a server has its token", async () => {
    await using world = await projectionWorld(VAULT);
    const token = "a-token-of-all-agents";
    await using _server = await world.serve({ token });

    const served = await listAllPages(world, "global", { token });
    const refused = await listAllPages(world, "global", { token: undefined });

    deepEqual([served.isServed, refused.isServed], [true, false]);
    deepEqual(refused.pages, served.pages);
  });

  it("MemorySource writes nothing, into vault or state", async () => {
    await using world = await projectionWorld(VAULT);
    const before = listAll(world.vault);

    await listAllPages(world, "project");

    deepEqual(listAll(world.vault), before);
    await rejects(Deno.stat(world.state), Deno.errors.NotFound);
  });

  it("project renders the same bytes with a server and without", async () => {
    await using world = await projectionWorld(VAULT);
    const render = async () => {
      await world.run(["codex"]);
      await world.run(["--file", "GEMINI.md"]);
      const files = ["AGENTS.md", "GEMINI.md"].map(world.inRepo.bind(world));
      const texts = [...files, world.inHome(".codex/AGENTS.md")].map(world.read);
      await world.run(["codex", "--undo"]);
      await world.run(["--file", "GEMINI.md", "--undo"]);
      return texts;
    };
    const alone = await render();
    await using _server = await world.serve();

    deepEqual(await render(), alone);
    match(alone[2] ?? "", /… and \d+ more: search with recall/);
  });
});
