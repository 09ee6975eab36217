/** A vault of memories for measuring MCP, with ids and words that a client can ask for. */
import { join } from "node:path";
import { Corpus } from "./corpus.ts";

const MEMORIES_FOLDER = "memories";
/** Each takes nine characters in a URI: as long as one client may subscribe to 500 of them. */
const LONG_TAIL = "记".repeat(50);

export interface MemoriesVault extends AsyncDisposable {
  readonly folder: string;
  readonly ids: readonly string[];
  /** Words of each memory, in the order of the ids. */
  readonly queries: readonly string[];
  /** Gives every memory another description. */
  change(): Promise<void>;
}

export interface VaultOptions {
  readonly memories: number;
  /** What is told of a change is then long. */
  readonly ids?: "short" | "long";
  /** One line without it. */
  readonly bodies?: "line" | "five sections";
}

/** Writes a vault in a folder that goes with it; use it with `await using`. */
export async function writeMemoriesVault(
  { memories, ids: kind = "short", bodies = "five sections" }: VaultOptions,
): Promise<MemoriesVault> {
  await using disposer = new AsyncDisposableStack();
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "bench-mcp-" }));
  disposer.defer(() => Deno.remove(folder, { recursive: true }));
  await Deno.mkdir(join(folder, MEMORIES_FOLDER));
  const corpus = new Corpus();
  const texts = Array.from({ length: memories }, (_, number) => corpus.noteAt(number).text);
  const queries = texts.map((text) => text.split("\n", 1)[0]?.slice(2) ?? "");
  const ids = texts.map((_, number) => `mem_${number}${kind === "long" ? `_${LONG_TAIL}` : ""}`);
  let version = 0;
  const write = async () => {
    for (const [number, id] of ids.entries()) {
      const title = queries[number] ?? "";
      const description = JSON.stringify(`${title}, version ${version}`);
      const body = bodies === "line" ? `${title}\n` : texts[number];
      await Deno.writeTextFile(
        join(folder, MEMORIES_FOLDER, `${number}.md`),
        `---\nid: ${id}\ndescription: ${description}\n---\n${body}`,
      );
    }
    version++;
  };
  await write();
  const kept = disposer.move();
  return { folder, ids, queries, change: write, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
