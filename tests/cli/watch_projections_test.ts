import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { it } from "@std/testing/bdd";
import { applyAll } from "@/lib/cli/project_agents.ts";
import { openProjectionSession, type ProjectionRequest } from "@/lib/cli/projection_session.ts";
import { watchProjections } from "@/lib/cli/watch_projections.ts";
import { claude } from "@/lib/projection/claude.ts";
import { codex } from "@/lib/projection/codex.ts";
import { BLOCK_END } from "@/lib/projection/managed_block.ts";
import { describeWithGit as describe } from "../_support/git_repo.ts";
import { memoryText, type ProjectionWorld, projectionWorld } from "../_support/projection_world.ts";
import { until, untilSo } from "../_support/until.ts";
import { type FakeTerminal, fakeTerminal } from "./_fake_terminal.ts";

interface Watching {
  readonly terminal: FakeTerminal;
  /** Whether a server answered in the last round. */
  readonly isServed: () => boolean;
  /** Returns when so many more rounds have begun. */
  readonly rounds: (count: number) => Promise<void>;
}

/** Applies, then watches while a test works. */
async function watching(
  world: ProjectionWorld,
  work: (watching: Watching) => Promise<void>,
  access: "open" | "ask" = "open",
): Promise<void> {
  const terminal = fakeTerminal();
  const surroundings = world.surroundings([], terminal);
  await using session = await openProjectionSession(
    { ...world.config(), access },
    surroundings,
  );
  const request: ProjectionRequest = { adapters: [claude, codex], cwd: world.repo };
  await applyAll(session, request);
  let begun = 0;
  const plan = session.plan.bind(session);
  session.plan = (asked) => {
    begun++;
    return plan(asked);
  };
  const stop = Promise.withResolvers<void>();
  const running = watchProjections(session, request, { stopped: stop.promise, intervalMs: 5 });
  const rounds = async (count: number) => {
    const end = begun + count * request.adapters.length + 1;
    await untilSo("some rounds are done", () => begun >= end);
  };
  await work({ terminal, rounds, isServed: () => session.source.isServed })
    .finally(() => stop.resolve());
  await running;
}

const own = (world: ProjectionWorld) => world.read(world.inHome(".codex/AGENTS.md"));
const shows = (world: ProjectionWorld, text: string) =>
  untilSo(`${text} is shown`, () => own(world).includes(text));

describe("watchProjections()", () => {
  it("watchProjections() follows changes, with a server, without, and with the next one", async () => {
    await using world = await projectionWorld({ "memories/g.md": memoryText("m_global") });

    await watching(world, async ({ isServed, terminal }) => {
      world.write(world.vault, { "memories/one.md": memoryText("m_one") });
      await shows(world, "m_one");
      ok(!isServed());
      {
        await using _server = await world.serve();
        await untilSo("the server is found", isServed);
        world.write(world.vault, { "memories/two.md": memoryText("m_two") });
        await shows(world, "m_two");
      }
      await untilSo("the server is missed", () => !isServed());
      world.write(world.vault, { "memories/three.md": memoryText("m_three") });
      await shows(world, "m_three");
      await using _next = await world.serve();
      await untilSo("the next server is found", isServed);
      await Deno.remove(`${world.vault}/memories/two.md`);
      await until(() => Promise.resolve(!own(world).includes("m_two")));
      equal(terminal.errors, "");
    });
  });

  it("watchProjections() writes only where bytes change", async () => {
    await using world = await projectionWorld({ "memories/g.md": memoryText("m_global") });

    await watching(world, async ({ rounds, terminal }) => {
      const before = await Deno.stat(world.inHome(".codex/AGENTS.md"));
      world.write(world.vault, { "note.md": "# Not a memory\n" });
      await rounds(5);

      const { ino, mtime } = await Deno.stat(world.inHome(".codex/AGENTS.md"));
      deepEqual([ino, mtime], [before.ino, before.mtime]);
      equal(terminal.output, "");
    });
  });

  it("watchProjections() says once what it cannot do, and goes on when it can", async () => {
    await using world = await projectionWorld({ "memories/g.md": memoryText("m_global") });
    const path = world.inHome(".codex/AGENTS.md");

    await watching(world, async ({ rounds, terminal }) => {
      const whole = own(world);
      await Deno.writeTextFile(path, whole.replace(`\n${BLOCK_END}`, ""));
      await rounds(5);
      await Deno.writeTextFile(path, whole);
      world.write(world.vault, { "memories/one.md": memoryText("m_one") });
      await shows(world, "m_one");

      match(terminal.errors, /half a block/);
      equal(terminal.errors.split("half a block").length, 2);
    });
  });

  it("watchProjections() goes on while the vault is away", async () => {
    await using world = await projectionWorld({ "memories/g.md": memoryText("m_global") });

    await watching(world, async ({ rounds }) => {
      await Deno.rename(world.vault, world.git.pathOf("away"));
      await rounds(3);
      ok(own(world).includes("m_global"));
      await Deno.rename(world.git.pathOf("away"), world.vault);
      world.write(world.vault, { "memories/one.md": memoryText("m_one") });
      await shows(world, "m_one");
    });
  });

  it("watchProjections() asks nobody: what was not allowed is not shown", async () => {
    await using world = await projectionWorld({ "memories/g.md": memoryText("m_global") });

    await watching(world, async ({ rounds, terminal }) => {
      const asked = terminal.questions.length;
      world.write(world.vault, { "memories/one.md": memoryText("m_one") });
      await rounds(3);
      equal(terminal.questions.length, asked);
      equal((await world.tree())[".codex"], undefined);
    }, "ask");
  });
});
