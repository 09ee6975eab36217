import { deepStrictEqual as deepEqual, rejects, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import type { Caller } from "@/lib/contracts.ts";
import { InvalidRequest } from "@/lib/errors.ts";
import type { FoundProject } from "@/lib/projects/projects.ts";
import { NearProjects } from "@/lib/recall/near_projects.ts";
import { parseVaultPath } from "@/lib/vault/vault_path.ts";

const NEAR: Caller = { kind: "agent", loopback: true };
const ULID = "01HXAAAAAAAAAAAAAAAAAAAAAA";

const project: FoundProject = {
  ref: { name: "Site", repoId: "example.org/team/site" },
  stores: [{
    ulid: ULID,
    name: "Site",
    repoId: "example.org/team/site",
    folder: parseVaultPath(`memories/projects/${ULID}`),
    commit: undefined,
  }],
  source: "origin",
  branch: undefined,
  commit: undefined,
};

function openProjects(find: (caller: Caller) => Promise<FoundProject | undefined>) {
  let nowMs = 0;
  let calls = 0;
  const projects = new NearProjects({
    clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
    vault: { memoriesFolder: "memories" },
    projects: {
      find: (caller) => {
        calls++;
        return find(caller);
      },
    },
  });
  return {
    projects,
    pass: (ms: number) => {
      nowMs += ms;
    },
    calls: () => calls,
  };
}

const noteAt = (path: string, ...tags: string[]) => ({ path: parseVaultPath(path), tags });

describe("NearProjects", () => {
  it("find() tells notes of the project's store and with its tag from others", async () => {
    const { projects } = openProjects(() => Promise.resolve(project));

    const isNear = await projects.find(NEAR, { cwd: "/site" });

    deepEqual(
      [
        noteAt(`memories/projects/${ULID}/a.md`),
        noteAt("memories/a.md", "x", "#Project/Site"),
        noteAt("memories/a.md", "site"),
        noteAt("memories/projects/01HXBBBBBBBBBBBBBBBBBBBBBB/a.md"),
        noteAt("memories/a.md"),
      ].map(isNear),
      [true, true, false, false, false],
    );
  });

  it("find() asks nobody where it is not said where the agent works", async () => {
    const { projects, calls } = openProjects(() => Promise.resolve(project));

    const isNear = await projects.find(NEAR, {});

    deepEqual([isNear(noteAt("a.md", "project/site")), calls()], [false, 0]);
  });

  it("find() asks again after a minute, and for another place or peer", async () => {
    const { projects, calls, pass } = openProjects(() => Promise.resolve(project));
    const ask = (caller: Caller, cwd: string) => projects.find(caller, { cwd });

    await ask(NEAR, "/site");
    await ask(NEAR, "/site");
    equal(calls(), 1);
    await ask({ ...NEAR, cwd: "/site" }, "/site");
    equal(calls(), 1);
    await ask(NEAR, "/other");
    await ask({ ...NEAR, loopback: false }, "/site");
    equal(calls(), 3);
    pass(60_000);
    await ask(NEAR, "/site");
    equal(calls(), 4);
  });

  it("find() goes by the remote that the caller's task works with, and keeps it for no other", async () => {
    const { projects, calls } = openProjects(({ repo }) =>
      Promise.resolve(repo === undefined ? undefined : project)
    );
    const withTask = { ...NEAR, cwd: "/site", repo: "https://example.org/team/site" };
    const note = noteAt(`memories/projects/${ULID}/a.md`);

    const isNear = await projects.find(withTask, {});
    const isNearElsewhere = await projects.find({ ...NEAR, cwd: "/site" }, {});
    const isNearAlone = await projects.find({ ...withTask, cwd: undefined }, {});

    deepEqual([isNear(note), isNearElsewhere(note), isNearAlone(note)], [true, false, true]);
    equal(calls(), 2);
  });

  it("find() does not wait for what takes long, and has it the next time", async () => {
    const { promise, resolve } = Promise.withResolvers<FoundProject>();
    const { projects, calls } = openProjects(() => promise);
    const note = noteAt("a.md", "project/site");

    const early = await projects.find(NEAR, { cwd: "/site" });
    resolve(project);
    const late = await projects.find(NEAR, { cwd: "/site" });

    deepEqual([early(note), late(note), calls()], [false, true, 1]);
  });

  it("find() tells what was said wrongly, each time", async () => {
    const { projects, calls } = openProjects(() => Promise.reject(new InvalidRequest("no path")));

    for (const _ of [1, 2]) {
      await rejects(projects.find(NEAR, { cwd: "x" }), { code: "invalid-request" });
    }

    equal(calls(), 2);
  });

  it("find() goes on when the caller who asked first has gone", async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const { projects } = openProjects((caller) => {
      signals.push(caller.signal);
      return Promise.resolve(project);
    });

    await projects.find({ ...NEAR, signal: AbortSignal.abort() }, { cwd: "/site" });

    deepEqual(signals, [undefined]);
  });
});
