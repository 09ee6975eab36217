/** A world that writes: a vault with its app, and repositories beside it. */
import type { Config } from "@/lib/config.ts";
import { systemClock } from "@/lib/seams.ts";
import type { Seams } from "@/lib/services.ts";
import { type GitWorld, gitWorld } from "./git_repo.ts";
import type { Files } from "./temp_vault.ts";
import { testWorld, type World } from "./world.ts";

/** Noon, so that every time zone but the outermost agrees on the day. */
export const NOW_MS = Date.UTC(2026, 4, 14, 12);

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // deno-lint-ignore no-explicit-any
  readonly body: any;
}

export interface WritingWorld extends World {
  readonly repos: GitWorld;
  /** Sends and reads JSON. */
  ask(method: string, path: string, body?: object, headers?: HeadersInit): Promise<Answer>;
  /** Finds ids by a search. */
  idsOf(query: string): Promise<string[]>;
  text(path: string): string;
  /** Returns the names in a folder, sorted. */
  list(folder: string): string[];
}

/** Makes it on the 14th of May 2026; use it with `await using`. */
export async function writingWorld(
  files: Files = {},
  config: Partial<Config> = {},
  seams: Partial<Seams> = {},
): Promise<WritingWorld> {
  const repos = await gitWorld();
  const git = { path: repos.gitPath, env: repos.env };
  const clock = { ...systemClock, nowMs: () => NOW_MS };
  const world = await testWorld(files, config, { git, clock, ...seams });
  const ask = async (method: string, path: string, body?: object, headers?: HeadersInit) => {
    const response = await world.request(path, {
      method,
      headers: { ...(body ? { "content-type": "application/json" } : {}), ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  return {
    ...world,
    repos,
    ask,
    async idsOf(query) {
      const { body } = await ask("GET", `/api/search?${query}`);
      return body.results.map(({ id }: { id: string }) => id).sort();
    },
    text: (path) => Deno.readTextFileSync(world.pathOf(path)),
    list: (folder) => Array.from(Deno.readDirSync(world.pathOf(folder)), ({ name }) => name).sort(),
    [Symbol.asyncDispose]: async () => {
      await world[Symbol.asyncDispose]();
      await repos[Symbol.asyncDispose]();
    },
  };
}
