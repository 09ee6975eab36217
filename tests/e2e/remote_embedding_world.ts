/** A real vault with the real services and app over it, and a provider that they reach over HTTP. */
import { DiagnosticsAnswerShape, HealthAnswerShape, SearchAnswerShape } from "@/lib/contracts.ts";
import type { Config } from "@/lib/config.ts";
import type { RemoteModel } from "@/lib/remote_model.ts";
import { systemClock } from "@/lib/seams.ts";
import { createServices, type Seams, type Services } from "@/lib/services.ts";
import { createApp } from "@/routes/app.ts";
import {
  type EmbeddingProvider,
  type EmbeddingProviderOptions,
  startEmbeddingProvider,
} from "../_support/embedding_provider.ts";
import { remoteModel } from "../_support/remote_model.ts";
import { type TestServices, testServices } from "../_support/services.ts";
import type { Files } from "../_support/temp_vault.ts";
import { until } from "../_support/until.ts";
import { NEAR } from "../_support/world.ts";

export const KEY = "sk-of-the-test";
/** Words as they stand in notes and questions, and nowhere in what a server says of itself. */
export const SECRET = "Schrödinger";

const ADDRESS = "http://127.0.0.1:8787";
const DIMENSIONS = 512;

export interface RemoteVaultOptions {
  readonly provider?: Partial<EmbeddingProviderOptions>;
  readonly model?: Partial<RemoteModel>;
  readonly config?: Partial<Config>;
  readonly seams?: Partial<Seams>;
  /** What the provider does from the start. */
  readonly prepare?: (provider: EmbeddingProvider) => void;
}

/** One run of a server. */
export interface Run {
  readonly services: Services;
  readonly search: (query: string, mode?: "hybrid" | "vector") => ReturnType<typeof searchOver>;
  /** Returns the first answer by meaning. */
  readonly untilMeaning: (query: string) => ReturnType<typeof searchOver>;
  readonly health: () => Promise<ReturnType<typeof HealthAnswerShape.parse>>;
  readonly warnings: () => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
}

export interface RemoteVault extends Run, AsyncDisposable {
  readonly provider: EmbeddingProvider;
  readonly world: TestServices;
  /** Texts that were asked for, in order. */
  readonly texts: () => readonly string[];
  /** Puts the clock forward. */
  readonly moveOn: (ms: number) => void;
  /** Ends this run, and starts another one on the same vault and state. */
  readonly restart: (model?: Partial<RemoteModel>) => Promise<Run>;
}

/** Opens a vault whose load has ended; its notes are embedded meanwhile. */
export async function openRemoteVault(
  files: Files,
  options: RemoteVaultOptions = {},
): Promise<RemoteVault> {
  let aheadMs = 0;
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
  const provider = startEmbeddingProvider({
    dimensions: DIMENSIONS,
    key: KEY,
    ...options.provider,
  });
  options.prepare?.(provider);
  const modelOf = (changes: Partial<RemoteModel> = {}) =>
    remoteModel({
      baseUrl: provider.baseUrl,
      credential: "env:TEST_KEY",
      dimensions: options.provider?.dimensions ?? DIMENSIONS,
      timeoutMs: 5_000,
      ...options.model,
      ...changes,
    });
  const remote = { embedding: "openai-compatible" as const, remoteModel: modelOf() };
  const env = new Map([["TEST_KEY", KEY]]);
  const seams = { clock, env, ...options.seams };
  const world = await testServices(files, { ...remote, ...options.config }, seams);
  await world.ready();
  const runs: Run[] = [toRun(world)];
  const { logger, newId } = world;
  const [first] = runs;
  if (!first) throw new Error("Cannot happen");
  return {
    ...first,
    provider,
    world,
    texts: () => provider.requests.flatMap(({ texts }) => texts),
    moveOn: (ms) => void (aheadMs += ms),
    restart: async (changes) => {
      await runs.at(-1)?.close();
      const config = { ...world.config, remoteModel: modelOf(changes) };
      const next = createServices(config, { ...seams, logger, newId, ripgrepPath: undefined });
      await next.ready();
      const run = toRun(next);
      runs.push(run);
      return run;
    },
    [Symbol.asyncDispose]: async () => {
      await runs.at(-1)?.close();
      await world[Symbol.asyncDispose]();
      await provider.stop();
    },
  };
}

function toRun(services: Services): Run {
  const app = createApp(services);
  const request = async (path: string): Promise<unknown> => {
    const { host } = new URL(ADDRESS);
    const asked = new Request(new URL(path, ADDRESS), { headers: { host } });
    return await (await app.fetch(asked, { remoteAddr: NEAR })).json();
  };
  const search = (query: string, mode: "hybrid" | "vector" = "hybrid") =>
    searchOver(request, query, mode);
  return {
    services,
    search,
    untilMeaning: (query) =>
      until(async () => {
        const answer = await search(query);
        return answer.fallback === undefined && answer;
      }, "It is never answered by meaning"),
    health: async () => HealthAnswerShape.parse(await request("/healthz")),
    warnings: async () => DiagnosticsAnswerShape.parse(await request("/api/diagnostics")).warnings,
    close: () => services.close(),
  };
}

async function searchOver(
  request: (path: string) => Promise<unknown>,
  query: string,
  mode: "hybrid" | "vector",
) {
  const answer = await request(`/api/search?q=${encodeURIComponent(query)}&mode=${mode}`);
  const parsed = SearchAnswerShape.parse(answer);
  return { ...parsed, paths: parsed.results.map(({ path }) => path) };
}

/** Returns notes of which each has a word of its own, `word0` in `note-0.md`. */
export function wordNotes(count: number): Files {
  const notes = Array.from({ length: count }, (_, at) => [`note-${at}.md`, textAt(at)]);
  return Object.fromEntries(notes);
}

function textAt(at: number): string {
  return `# Number ${at}\n\nThis tells of word${at} and ${SECRET}, as of other${at} things.\n`;
}
