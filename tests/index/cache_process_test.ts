// In Deno 2.9 the short names that this module exports are the loose ones.
import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, it } from "@std/testing/bdd";
import {
  BATCH,
  checkRoundTrip,
  countFiles,
  countKnown,
  DIMENSIONS,
  knownOf,
  makeFile,
  makeWorld,
  textOf,
} from "../_support/cache_world.ts";
import { runAtOnce } from "@/lib/seams.ts";
import { type Home, Program } from "../_support/program.ts";

const IS_WINDOWS = Deno.build.os === "windows";

/** The beginning of each child: a cache, and what this test keeps in it. */
const CHILD = `
import { openEmbeddingCache } from ${JSON.stringify(cacheUrl())};
const say = (...words) => console.error(...words);
const log = (event, { reason } = {}) => say(event, reason);
const logger = { debug: log, info: log, warn: log, error: log };
const [folder] = Deno.args;
const cache = openEmbeddingCache({ folder, modelId: "model-a", dimensions: ${DIMENSIONS}, logger });
const textOf = ${textOf};
const vectorOf = (index) =>
  Int8Array.from({ length: ${DIMENSIONS} }, (_, at) => (index * 31 + at * 7) % 255 - 127);
`;

function cacheUrl(): string {
  return new URL("../../lib/index/cache.ts", import.meta.url).href;
}

function worldUrl(): string {
  return new URL("../_support/cache_world.ts", import.meta.url).href;
}

/** Writes the program of a child, and returns the arguments of deno that run it. */
async function childArgs(home: Home, code: string, permissions: readonly string[]) {
  const config = fileURLToPath(new URL("../config.json", import.meta.url));
  const path = join(home.folder, "child.ts");
  await Deno.writeTextFile(path, CHILD + code);
  const flags = ["--quiet", "--no-prompt", "--no-check", "--no-lock", "--config", config];
  return ["run", ...flags, ...permissions, path, home.state];
}

const mayUse = ({ state }: Home) => [`--allow-read=${state}`, `--allow-write=${state}`];

describe("the cache in a process of its own", () => {
  it("needs no permission but for the state folder", async () => {
    await using world = await makeWorld();
    await Deno.mkdir(world.state);
    const code = `
      for (let index = 0; index < 300; index++) cache.put(textOf(index), vectorOf(index));
      cache.close();
    `;

    await using child = new Program(await childArgs(world, code, mayUse(world)), { home: world });
    await child.end();

    equal(child.output, "");
    equal(countKnown(world.open(), 0, 300), 300);
  });

  it("knows nothing and says so once when it may not write", async () => {
    await using world = await makeWorld();
    makeFile(world);
    const code = `
      for (let index = 0; index < 300; index++) cache.put(textOf(index), vectorOf(index));
      say("found", cache.get(textOf(0)));
      cache.close();
    `;
    const args = await childArgs(world, code, [`--allow-read=${world.state}`]);

    await using child = new Program(args, { home: world });
    await child.end();

    equal(child.output, "cache-off unusable\nfound undefined\n");
    equal(countKnown(world.open(), 0, 200), 200);
  });

  for (const written of [1000, 2500, 6000]) {
    it(`leaves good vectors when it is killed after ${written} entries`, async () => {
      await using world = await makeWorld();
      const code = `
        for (let index = 0;; index++) {
          cache.put(textOf(index), vectorOf(index));
          if (index === ${written}) say("written");
        }
      `;
      await using child = new Program(await childArgs(world, code, mayUse(world)), { home: world });
      await child.line("written");

      child.kill("SIGKILL");
      await child.end();

      const inFiles = Math.floor(written / BATCH) * BATCH;
      equal(countKnown(world.open(), 0, inFiles), inFiles);
      deepEqual(world.logs, []);
      checkRoundTrip(world);
    });
  }

  it("leaves each file in one of its states when it is killed while it writes", async () => {
    await using world = await makeWorld();
    const code = `
      import { openCache } from ${JSON.stringify(cacheUrl())};
      import { noteOf, pathOf, recordOf } from ${JSON.stringify(worldUrl())};
      const { files } = openCache({ folder, scope: "vault-a", logger });
      for (let round = 1;; round++) {
        for (let index = 0; index < 500; index++) {
          files.put(noteOf(pathOf(index), round), recordOf(round));
        }
        if (round === 10) say("written");
      }
    `;
    await using child = new Program(await childArgs(world, code, mayUse(world)), { home: world });
    await child.line("written");

    child.kill("SIGKILL");
    await child.end();

    const all = [...runAtOnce(world.openAll().files.readAll())];
    const rounds = all.map(([, { etag }]) => Number.parseInt(etag, 16));
    deepEqual(all.map(([, known]) => known), rounds.map((round) => knownOf(round)));
    equal(all.length, 500);
    // What is written in turn is of two rounds at most, and the last but one was written whole.
    ok(Math.min(...rounds) >= 9 && Math.max(...rounds) - Math.min(...rounds) <= 1, rounds.join());
    deepEqual(world.logs, []);
    checkRoundTrip(world);
  });

  it("leaves a good file when it is killed within a transaction", async () => {
    await using world = await makeWorld();
    makeFile(world);
    // With so small a cache of pages, SQLite writes to disk long before the end.
    const code = `
      import { DatabaseSync } from "node:sqlite";
      const db = new DatabaseSync(folder + "/cache.sqlite");
      db.exec("PRAGMA cache_size = 1; BEGIN IMMEDIATE");
      db.exec("DELETE FROM embeddings; DELETE FROM memory_index");
      const insert = db.prepare("INSERT INTO embeddings (key, value) VALUES (?, zeroblob(2000))");
      for (let index = 0; index < 2000; index++) insert.run(crypto.getRandomValues(new Uint8Array(32)));
      say("within", Deno.statSync(folder + "/cache.sqlite-wal").size > 2_000_000);
      setInterval(() => {}, 1000);
    `;
    await using child = new Program(await childArgs(world, code, mayUse(world)), { home: world });
    const within = await child.line("within");

    child.kill("SIGKILL");
    await child.end();

    equal(within, "within true");
    equal(countKnown(world.open(), 0, 200), 200);
    equal(countFiles(world.openAll().files), 200);
    deepEqual(world.logs, []);
    checkRoundTrip(world);
  });

  it("turns itself off when the disk takes no more, and the file stays good", async () => {
    await using world = await makeWorld();
    if (IS_WINDOWS) return;
    await Deno.mkdir(world.state);
    const code = `
      for (let index = 0; index < 50_000; index++) cache.put(textOf(index), vectorOf(index));
      cache.close();
      say("end");
    `;
    const args = await childArgs(world, code, mayUse(world));
    // Files of 1 MiB at most; without the trap the kernel would kill the process.
    const limited = `trap "" XFSZ; ulimit -f 2048; exec "$0" "$@"`;

    const { stderr } = await new Deno.Command("sh", {
      args: ["-c", limited, Deno.execPath(), ...args],
    }).output();

    equal(new TextDecoder().decode(stderr), "cache-off disk-error\nend\n");
    const known = countKnown(world.open(), 0, 50_000);
    ok(known > 500 && known < 50_000, String(known));
    deepEqual(world.logs, []);
    checkRoundTrip(world);
  });
});
