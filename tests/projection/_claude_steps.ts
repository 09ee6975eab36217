/** Carries out a plan for Claude Code, with something done around each of its steps. */
import { claude } from "@/lib/projection/claude.ts";
import { type LinkDisk, systemLinkDisk } from "@/lib/projection/link_disk.ts";
import { findLocalProject } from "@/lib/projection/plan_projections.ts";
import type { Machine } from "@/lib/machine.ts";
import { listProjections } from "@/lib/projection/projection_record.ts";
import { createLogger, randomId, systemClock } from "@/lib/seams.ts";
import { createServices } from "@/lib/services.ts";
import { testConfig } from "../_support/services.ts";

export interface ClaudeRun {
  readonly vault: string;
  readonly state: string;
  readonly repo: string;
  readonly machine: Machine;
  readonly git: { readonly path: string; readonly env: Readonly<Record<string, string>> };
}

/** What happens at a step, before or after it is done. */
export type AtStep = (name: string, when: "before" | "after") => Promise<void> | void;

/** Returns what was done. */
export async function runClaude(run: ClaudeRun, atStep: AtStep): Promise<readonly string[]> {
  const { machine, git, repo, vault: root, state } = run;
  const logger = createLogger({ level: "error", clock: systemClock, pretty: false, write() {} });
  const services = createServices(testConfig(root, { state }), {
    clock: systemClock,
    newId: randomId,
    ripgrepPath: undefined,
    logger,
    git,
  });
  try {
    const caller = { kind: "owner", loopback: true } as const;
    const { vault, projects, writer } = services;
    const [plan] = await claude.plan({
      machine,
      vault,
      project: await findLocalProject(projects, caller, { cwd: repo }),
      records: await listProjections(machine.home),
      listMemories: () => Promise.reject(new Error("A link needs no list")),
      nowMs: systemClock.nowMs(),
    });
    if (plan === undefined) throw new Error("There is no plan");
    await atStep("plan", "after");
    const around = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
      await atStep(name, "before");
      const done = await work();
      await atStep(name, "after");
      return done;
    };
    const disk: LinkDisk = {
      makeFolder: (path) => around("makeFolder", () => systemLinkDisk.makeFolder(path)),
      rename: (from, to) => around("rename", () => systemLinkDisk.rename(from, to)),
      link: (to, path) => around("link", () => systemLinkDisk.link(to, path)),
      unlink: (path) => around("unlink", () => systemLinkDisk.unlink(path)),
    };
    return await claude.apply({
      machine,
      vault,
      projects,
      clock: systemClock,
      disk,
      writer: { write: (change) => around("write", () => writer.write(change)) },
    }, plan);
  } finally {
    await services.close();
  }
}

// As a process of its own it is killed at a step, the first of which is 0.
if (import.meta.main) {
  const [run = "", at = ""] = Deno.args;
  const { env, ...rest } = JSON.parse(run);
  const machine = { home: rest.home, env: new Map(Object.entries<string>(env)) };
  let step = 0;
  // deno-lint-ignore no-top-level-await
  await runClaude({ ...rest, machine }, () => {
    if (step++ === Number(at)) Deno.kill(Deno.pid, "SIGKILL");
  });
}
