/** Every save is there for whoever asks next, by whatever way it came and whatever way is asked. */
import { clientOver, type McpClient } from "../_support/mcp.ts";
import { ANY, ask, memoryUrl, type SavesServer, startSavesServer } from "./saves_server.ts";
import type { Freshness } from "./soak_world.ts";
import { FreshWords } from "./words.ts";

export interface SeenCounts {
  readonly looks: number;
  /** How often each pair of a way to save and a way to ask came; all of them if there were enough. */
  readonly pairs: number;
  readonly wrongs: readonly string[];
}

interface Saved {
  readonly id: string;
  readonly path: string;
}

interface Ways {
  readonly url: string;
  readonly mcp: McpClient;
}

type Save = (ways: Ways, word: string, last: Saved) => Promise<Saved>;
/** Tells whether the answer holds what was saved. */
type Look = (ways: Ways, word: string, saved: Saved) => Promise<boolean>;

const SAVES: ReadonlyMap<string, Save> = new Map<string, Save>([
  ["POST /api/memories", ({ url }, word) => post(`${url}/api/memories`, contentOf(word))],
  [
    "PATCH",
    ({ url }, word, last) =>
      post(memoryUrl(url, last.id), contentOf(word), { method: "PATCH", etag: ANY }),
  ],
  ["POST /api/remember", ({ url }, word) => post(`${url}/api/remember`, factOf(word))],
  ["memory_save", ({ mcp }, word) => call(mcp, "memory_save", contentOf(word))],
  [
    "memory_save of a change",
    ({ mcp }, word, { id }) => call(mcp, "memory_save", { id, ...contentOf(word) }),
  ],
  ["remember", ({ mcp }, word) => call(mcp, "remember", factOf(word))],
]);

const LOOKS: ReadonlyMap<string, Look> = new Map<string, Look>([
  ...["keyword", "hybrid", "grep"].map((mode): [string, Look] => [
    `GET /api/search, ${mode}`,
    async ({ url }, word, { path }) => {
      const { body } = await ask(`${url}/api/search?mode=${mode}&q=${word}`);
      return holds(body.results, path);
    },
  ]),
  ["GET /api/memories", async ({ url }, word) => {
    const { body } = await ask(`${url}/api/memories`);
    return holds(body.memories, word);
  }],
  ["GET /api/memories/{id}", async ({ url }, word, { id }) => {
    const { body } = await ask(memoryUrl(url, id));
    return holds(body.body, word);
  }],
  ["recall", ({ mcp }, word, { id }) => tells(mcp, "recall", { query: word }, id)],
  ["search_notes", ({ mcp }, word, { path }) => tells(mcp, "search_notes", { query: word }, path)],
  [
    "memory_search",
    ({ mcp }, word, { path }) => tells(mcp, "memory_search", { query: word }, path),
  ],
  ["list_memory", ({ mcp }, word) => tells(mcp, "list_memory", {}, word)],
  ["memory_open", ({ mcp }, word, { id }) => tells(mcp, "memory_open", { id }, word)],
]);

/** Saves and asks at once, as often as told, until every pair of ways has come. */
export async function soakSeen(
  base: string,
  { looks, freshness }: { readonly looks: number; readonly freshness: Freshness },
): Promise<SeenCounts> {
  await using server = await startSavesServer(base, { state: `state-${freshness}`, freshness });
  await using mcp = await clientOver("modern").connect(server.url);
  const pairs = [...SAVES].flatMap(([save, doSave]) =>
    [...LOOKS].map(([look, doLook]) => ({ name: `${save}, then ${look}`, doSave, doLook }))
  );
  const wrongs: string[] = [];
  const words = new FreshWords();
  const ways = { url: server.url, mcp };
  let last = await firstOf(server, words.next());
  for (let at = 0; at < looks; at++) {
    // Steps that share no factor with their number reach all of them, and soon each of either kind.
    const pair = pairs[(at * STEP) % pairs.length];
    if (!pair) break;
    const word = words.next();
    last = await pair.doSave(ways, word, last);
    if (!await pair.doLook(ways, word, last)) {
      wrongs.push(`seen, ${freshness}: ${pair.name}: not there`);
    }
  }
  return { looks, pairs: Math.min(looks, pairs.length), wrongs };
}

const STEP = 11;

async function firstOf({ url }: SavesServer, word: string): Promise<Saved> {
  return await post(`${url}/api/memories`, contentOf(word));
}

function contentOf(word: string): object {
  const description = "Known by one word";
  return { name: `About ${word}`, description, tags: ["soak"], body: `All of ${word} is here.` };
}

function factOf(word: string): object {
  return { text: `A fact about ${word}.`, scope: "global" };
}

async function post(
  url: string,
  body: object,
  question: { readonly method: string; readonly etag?: string } = { method: "POST" },
): Promise<Saved> {
  const { status, body: saved } = await ask(url, { ...question, body });
  if (status !== 200 && status !== 201) throw new Error(`A save was answered ${status}`);
  return toSaved(saved);
}

async function call(mcp: McpClient, name: string, args: object): Promise<Saved> {
  const { isError, text, data } = await mcp.call(name, args);
  if (isError || data === undefined) throw new Error(`${name} failed: ${text}`);
  return toSaved(data);
}

function toSaved({ id, path }: Readonly<Record<string, unknown>>): Saved {
  return { id: String(id), path: String(path) };
}

async function tells(mcp: McpClient, name: string, args: object, what: string): Promise<boolean> {
  const { isError, data } = await mcp.call(name, args);
  return !isError && holds(data, what);
}

function holds(answer: unknown, what: string): boolean {
  return JSON.stringify(answer ?? null).includes(what);
}
