/** The real server over the vault of a run, and what its clients have in common. */
import { join } from "node:path";
import { Program, serveArgs } from "../_support/program.ts";
import { until } from "../_support/until.ts";
import { VAULT } from "./disk_model.ts";
import type { Freshness } from "./soak_world.ts";

/** How clients name themselves; it stands in what they make. */
export const ACTOR = "soak";

export interface SavesServer extends AsyncDisposable {
  /** Without a slash at the end. */
  readonly url: string;
  /** Ends it at once, in the middle of whatever it does. */
  kill(): Promise<void>;
}

export interface SavesServerOptions {
  /** Where below the base folder it keeps its state. */
  readonly state: string;
  readonly freshness: Freshness;
}

/** Starts the server on the vault in a base folder and returns when it has read that whole. */
export async function startSavesServer(
  base: string,
  { state, freshness }: SavesServerOptions,
): Promise<SavesServer> {
  await using disposer = new AsyncDisposableStack();
  const program = disposer.use(spawn(base, { state, freshness }));
  const url: string = JSON.parse(await program.line('"event":"started"')).address;
  await until(async () => (await ask(`${url}/healthz`)).body.indexing === null);
  disposer.move();
  return {
    url,
    kill: async () => {
      program.kill("SIGKILL");
      await program.end();
    },
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  };
}

function spawn(base: string, { state, freshness }: SavesServerOptions): Program {
  const places = { vault: join(base, VAULT), state: join(base, state) };
  const args = serveArgs(places, ["--port", "0", "--freshness", freshness]);
  const home = { folder: base, ...places, [Symbol.asyncDispose]: () => Promise.resolve() };
  return new Program(args, { home });
}

/** An etag that every state has. */
export const ANY = "*";

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Question {
  readonly method?: string;
  readonly body?: object;
  /** The state that is to be changed. */
  readonly etag?: string | undefined;
}

/** Asks for JSON and reads the answer whole. */
export async function ask(url: string, question: Question = {}): Promise<Answer> {
  const { method = "GET", body, etag } = question;
  const response = await fetch(url, {
    method,
    headers: {
      "user-agent": ACTOR,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(etag === undefined ? {} : { "if-match": etag === ANY ? ANY : `"${etag}"` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

/** Returns the address of a memory. */
export function memoryUrl(url: string, id: string): string {
  return `${url}/api/memories/${encodeURIComponent(id)}`;
}

/** Makes a folder with an empty vault in it; use it with `await using`. */
export async function makeBase(): Promise<AsyncDisposable & { readonly base: string }> {
  const base = await Deno.realPath(await Deno.makeTempDir({ prefix: "saves-" }));
  await Deno.mkdir(join(base, VAULT));
  return { base, [Symbol.asyncDispose]: () => Deno.remove(base, { recursive: true }) };
}
