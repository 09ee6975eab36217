// In Deno 2.9 the short names that this module exports are the loose ones.
import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { describe, it } from "@std/testing/bdd";
import { type EmbeddingCache, openEmbeddingCache } from "@/lib/index/cache.ts";
import { createLogger, systemClock } from "@/lib/seams.ts";
import { type Home, makeHome, Program } from "../_support/program.ts";
import { randomSource } from "../_support/random.ts";

const IS_WINDOWS = Deno.build.os === "windows";
const DIMENSIONS = 64;
const BATCH = 128;
const PRUNE_STEP = 256;

interface OpenOptions {
  readonly modelId?: string;
  readonly dimensions?: number;
  readonly maxEntries?: number;
}

interface World extends Home {
  /** Where the file lies when there is one. */
  readonly file: string;
  /** What was warned of so far: event and reason. */
  readonly warnings: readonly string[];
  /** All lines of the log. */
  readonly logs: readonly string[];
  /** Opens a cache that is closed at the end of the test. */
  open(options?: OpenOptions): EmbeddingCache;
  /** Opens the file itself, likewise. */
  openFile(): DatabaseSync;
}

async function makeWorld(): Promise<World> {
  const home = await makeHome();
  const [logs, opened]: [string[], { close(): void }[]] = [[], []];
  const file = join(home.state, "cache.sqlite");
  const write = (line: string) => logs.push(line);
  const logger = createLogger({ level: "debug", clock: systemClock, pretty: false, write });
  return {
    ...home,
    file,
    logs,
    get warnings() {
      return logs.map((line) => JSON.parse(line)).filter(({ level }) => level === "warn")
        .map(({ event, reason }) => `${event} ${reason}`);
    },
    open(options = {}) {
      const model = { modelId: "model-a", dimensions: DIMENSIONS, ...options };
      const cache = openEmbeddingCache({ folder: home.state, logger, ...model });
      opened.push(cache);
      return cache;
    },
    openFile() {
      const db = new DatabaseSync(file);
      opened.push({ close: () => db.isOpen && db.close() });
      return db;
    },
    [Symbol.asyncDispose]: async () => {
      for (const each of opened) each.close();
      await home[Symbol.asyncDispose]();
    },
  };
}

const textOf = (index: number) => `text ${index} 缓存`;

function vectorOf(index: number, dimensions = DIMENSIONS): Int8Array {
  return Int8Array.from({ length: dimensions }, (_, at) => (index * 31 + at * 7) % 255 - 127);
}

function putSome(cache: EmbeddingCache, from: number, to: number): void {
  for (let index = from; index < to; index++) cache.put(textOf(index), vectorOf(index));
}

/** Returns how many of the texts are known, and fails if one has another's vector. */
function countKnown(cache: EmbeddingCache, from: number, to: number): number {
  let known = 0;
  for (let index = from; index < to; index++) {
    const found = cache.get(textOf(index));
    if (found === undefined) continue;
    deepEqual(found, vectorOf(index));
    known++;
  }
  return known;
}

function countRows(db: DatabaseSync): unknown {
  return db.prepare("SELECT count(*) AS rows FROM embeddings").get()?.rows;
}

/** Makes a file with 200 entries, and closes it. */
function makeFile(world: World): void {
  const cache = world.open();
  putSome(cache, 0, 200);
  cache.close();
}

/** Fails unless a new cache keeps something from now on. */
function checkRoundTrip(world: World): void {
  const first = world.open();
  first.put("round trip", vectorOf(7));
  first.close();
  const second = world.open();

  deepEqual(second.get("round trip"), vectorOf(7));
  second.close();
}

async function listNames(folder: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).sort();
}

describe("openEmbeddingCache()", () => {
  it("get() tells a vector, none and not known apart, before and after it was written", async () => {
    await using world = await makeWorld();
    const cache = world.open();
    cache.put("some", vectorOf(1));
    cache.put("none", null);
    const ask = (from: EmbeddingCache) => ["some", "none", "other"].map((text) => from.get(text));

    const buffered = ask(cache);
    cache.flush();
    const written = ask(cache);
    cache.close();
    const reopened = ask(world.open());

    const expected = [vectorOf(1), null, undefined];
    deepEqual(buffered, expected);
    deepEqual(written, expected);
    deepEqual(reopened, expected);
    deepEqual(world.logs, []);
  });

  it("put() and get() copy, so that no later change of an array reaches the cache", async () => {
    await using world = await makeWorld();
    const cache = world.open();
    const vector = vectorOf(1);

    cache.put("a", vector);
    vector.fill(0);
    cache.get("a")?.fill(1);

    deepEqual(cache.get("a"), vectorOf(1));
  });

  it("put() of a known text replaces what was known of it", async () => {
    await using world = await makeWorld();
    const cache = world.open();
    cache.put("a", null);
    cache.flush();

    cache.put("a", vectorOf(2));
    cache.flush();

    deepEqual(cache.get("a"), vectorOf(2));
    equal(countRows(world.openFile()), 1);
  });

  it("put() takes the extremes of a byte as they are", async () => {
    await using world = await makeWorld();
    const cache = world.open({ dimensions: 4 });

    cache.put("a", new Int8Array([-128, -1, 0, 127]));
    cache.flush();

    deepEqual(cache.get("a"), new Int8Array([-128, -1, 0, 127]));
  });

  it("put() does not keep a vector of other dimensions", async () => {
    await using world = await makeWorld();
    const cache = world.open();

    const found = [0, 1, DIMENSIONS - 1, DIMENSIONS + 1].map((length) => {
      cache.put("a", new Int8Array(length));
      return cache.get("a");
    });

    deepEqual(found, [undefined, undefined, undefined, undefined]);
  });

  it("put() does not keep a text whose bytes would be another's too", async () => {
    await using world = await makeWorld();
    const cache = world.open();

    cache.put("half \ud83d", vectorOf(1));
    const wrong = cache.get("half \ufffd");
    cache.put("half \ufffd", vectorOf(2));

    equal(wrong, undefined);
    equal(cache.get("half \ud83d"), undefined);
    deepEqual(cache.get("half \ufffd"), vectorOf(2));
  });

  it("get() finds nothing of another model or of other dimensions, and each keeps its own", async () => {
    await using world = await makeWorld();
    const models = [
      { modelId: "model-a", dimensions: 4 },
      { modelId: "model-b", dimensions: 4 },
      { modelId: "model-a", dimensions: 8 },
      { modelId: "model-a4", dimensions: 4 },
      { modelId: "", dimensions: 4 },
      { modelId: '",4]', dimensions: 4 },
    ];
    const found = models.map((model, index) => {
      const cache = world.open(model);
      const before = cache.get("a");
      cache.put("a", vectorOf(index, model.dimensions));
      cache.close();
      return before;
    });

    const again = models.map((model) => world.open(model).get("a"));

    deepEqual(found, models.map(() => undefined));
    deepEqual(again, models.map(({ dimensions }, index) => vectorOf(index, dimensions)));
  });

  it("the file holds no text and no name of a model", async () => {
    await using world = await makeWorld();
    const cache = world.open({ modelId: "model-with-a-name" });
    cache.put("zebra crossing", vectorOf(1));
    cache.close();

    const bytes = new TextDecoder("latin1").decode(await Deno.readFile(world.file));

    ok(bytes.includes("embeddings"));
    ok(!/zebra|crossing|model-with/.test(bytes));
  });

  it("after close() nothing is known or kept, and closing twice does no harm", async () => {
    await using world = await makeWorld();
    const cache = world.open();
    cache.put("a", vectorOf(1));

    cache.close();
    cache.close();
    cache.put("b", vectorOf(2));
    cache.flush();

    equal(cache.get("a"), undefined);
    equal(cache.get("b"), undefined);
    deepEqual(world.logs, []);
  });

  it("folder and files are for this person alone, and become so where they were not", async () => {
    await using world = await makeWorld();
    const modeOf = async (path: string) => ((await Deno.stat(path)).mode ?? 0) & 0o777;
    makeFile(world);
    if (IS_WINDOWS) return;
    equal(await modeOf(world.state), 0o700);
    equal(await modeOf(world.file), 0o600);
    const known: number[] = [];
    for (const mode of [0o400, 0o644]) {
      await Deno.chmod(world.file, mode);
      const cache = world.open();
      known.push(countKnown(cache, 0, 200));
      putSome(cache, 200, 500);
    }

    deepEqual(known, [200, 200]);
    deepEqual(world.logs, []);
    deepEqual(await listNames(world.state), [
      "cache.sqlite",
      "cache.sqlite-shm",
      "cache.sqlite-wal",
    ]);
    for (const suffix of ["", "-wal", "-shm"]) equal(await modeOf(world.file + suffix), 0o600);
  });
});

describe("the batches of the cache", () => {
  it("put() writes when a batch is full by number", async () => {
    await using world = await makeWorld();
    const cache = world.open();
    const other = world.open();

    putSome(cache, 0, BATCH - 1);
    const before = countKnown(other, 0, BATCH);
    putSome(cache, BATCH - 1, BATCH);

    equal(before, 0);
    equal(countKnown(other, 0, BATCH), BATCH);
  });

  it("put() writes when a batch is full by bytes", async () => {
    await using world = await makeWorld();
    const dimensions = 100_000;
    const cache = world.open({ dimensions });
    const other = world.open({ dimensions });

    cache.put("a", vectorOf(1, dimensions));
    cache.put("b", vectorOf(2, dimensions));
    const before = other.get("a");
    cache.put("c", vectorOf(3, dimensions));

    equal(before, undefined);
    deepEqual(other.get("a"), vectorOf(1, dimensions));
    deepEqual(other.get("c"), vectorOf(3, dimensions));
  });

  it("put() drops the longest-ago written over the bound, whichever model they are of", async () => {
    await using world = await makeWorld();
    const other = world.open({ modelId: "model-b" });
    other.put("old", vectorOf(1));
    other.flush();
    const cache = world.open({ maxEntries: 300 });

    putSome(cache, 0, 1000);
    cache.flush();

    equal(countKnown(cache, 700, 1000), 300);
    equal(countRows(world.openFile()), 300);
    equal(other.get("old"), undefined);
  });

  it("flush() goes below a bound that was lowered in small steps", async () => {
    await using world = await makeWorld();
    const wide = world.open();
    putSome(wide, 0, 1000);
    wide.close();
    const narrow = world.open({ maxEntries: 10 });
    const db = world.openFile();
    const [rows, oldest]: [unknown[], number[]] = [[], []];

    for (let index = 1000; index < 1005; index++) {
      narrow.put(textOf(index), vectorOf(index));
      narrow.flush();
      rows.push(countRows(db));
      oldest.push(Number(db.prepare("SELECT min(age) AS oldest FROM embeddings").get()?.oldest));
    }

    deepEqual(oldest, [1, 2, 3].map((step) => 1 + step * PRUNE_STEP).concat(995, 996));
    deepEqual(rows, [1, 2, 3].map((step) => 1000 - step * (PRUNE_STEP - 1)).concat(10, 10));
    equal(countKnown(narrow, 995, 1005), 10);
  });

  it("two caches on one file see what the other wrote", async () => {
    await using world = await makeWorld();
    const [one, two] = [world.open(), world.open()];

    putSome(one, 0, 300);
    putSome(two, 200, 500);
    one.flush();
    two.flush();

    equal(countKnown(one, 0, 500), 500);
    equal(countKnown(two, 0, 500), 500);
    equal(countRows(world.openFile()), 500);
    deepEqual(world.warnings, []);
  });

  it("flush() skips a write while another holds the lock, and goes on after", async () => {
    await using world = await makeWorld();
    const cache = world.open();
    putSome(cache, 0, 10);
    cache.flush();
    const db = world.openFile();
    db.exec("BEGIN IMMEDIATE");

    putSome(cache, 10, 20);
    cache.flush();
    const whileLocked = [cache, world.open()].map((each) => countKnown(each, 0, 20));
    db.exec("COMMIT");
    putSome(cache, 20, 30);
    cache.flush();

    deepEqual(whileLocked, [10, 10]);
    equal(countKnown(world.open(), 0, 30), 20);
    deepEqual(world.warnings, []);
  });

  it("flush() skips a write that fails at its end, where the file was not made for two", async () => {
    await using world = await makeWorld();
    makeFile(world);
    const db = world.openFile();
    db.exec("PRAGMA journal_mode = DELETE; BEGIN; SELECT count(*) FROM embeddings");
    countRows(db);
    const cache = world.open();

    putSome(cache, 200, 210);
    cache.flush();
    db.exec("COMMIT");
    putSome(cache, 210, 220);
    cache.flush();

    equal(countKnown(cache, 0, 210), 200);
    equal(countKnown(cache, 210, 220), 10);
    deepEqual(world.warnings, []);
  });

  it("the write-ahead log stays small however much is written and read", async () => {
    await using world = await makeWorld();
    const cache = world.open();

    for (let from = 0; from < 10_000; from += 500) {
      putSome(cache, from, from + 500);
      countKnown(cache, from, from + 10);
    }

    ok((await Deno.stat(`${world.file}-wal`)).size < 4 * 1024 * 1024);
  });
});

/** What may lie where the file should, and what is told of it. */
interface Damage {
  readonly what: string;
  readonly make: (world: World) => void;
  /** Of the 200 entries that were there. */
  readonly known?: number;
  readonly warnings?: readonly string[];
}

function change(sql: string): (world: World) => void {
  return (world) => {
    makeFile(world);
    const db = world.openFile();
    db.exec(sql);
    db.close();
  };
}

function overwrite(path: string, { at, length }: { at: number; length: number }): void {
  const file = Deno.openSync(path, { write: true });
  file.seekSync(at, Deno.SeekMode.Start);
  file.writeSync(new Uint8Array(length).fill(0xa5));
  file.close();
}

const DAMAGED = ["embedding-cache-renewed damaged"];
const UNUSABLE = ["embedding-cache-renewed unusable"];
const OTHER_VERSION = ["embedding-cache-renewed other-version"];

const DAMAGES: readonly Damage[] = [
  { what: "no file", make: () => {} },
  { what: "an empty file", make: ({ file }) => write(file, "") },
  { what: "a text", make: ({ file }) => write(file, "x".repeat(9000)), warnings: DAMAGED },
  { what: "a few bytes", make: ({ file }) => write(file, "SQLite"), warnings: DAMAGED },
  {
    what: "half a file",
    make: (world) => {
      makeFile(world);
      Deno.truncateSync(world.file, Deno.statSync(world.file).size / 2);
    },
    warnings: DAMAGED,
  },
  {
    what: "nothing but its first page",
    make: (world) => {
      makeFile(world);
      Deno.truncateSync(world.file, 4096);
    },
    warnings: DAMAGED,
  },
  {
    what: "a file whose pages are all overwritten but the first",
    make: (world) => {
      makeFile(world);
      overwrite(world.file, { at: 4096, length: Deno.statSync(world.file).size - 4096 });
    },
    warnings: DAMAGED,
  },
  { what: "a later schema", make: change("PRAGMA user_version = 2"), warnings: OTHER_VERSION },
  {
    what: "a file of another program",
    make: change("DROP TABLE embeddings; CREATE TABLE embeddings (id); PRAGMA user_version = 0"),
    warnings: UNUSABLE,
  },
  {
    what: "a table with other columns",
    make: change("ALTER TABLE embeddings RENAME COLUMN value TO vector"),
    warnings: UNUSABLE,
  },
  { what: "a folder", make: ({ file }) => write(join(file, "in it"), ""), warnings: UNUSABLE },
  {
    what: "a folder that was put aside before",
    make: ({ file }) => {
      write(`${file}.damaged/in it`, "");
      write(file, "x".repeat(9000));
    },
    warnings: DAMAGED,
  },
  {
    what: "a write-ahead log of nonsense",
    make: (world) => {
      makeFile(world);
      write(`${world.file}-wal`, "x".repeat(9000));
    },
    known: 200,
  },
  {
    what: "a folder in place of the write-ahead log",
    make: (world) => {
      makeFile(world);
      write(`${world.file}-wal/in it`, "");
    },
    warnings: UNUSABLE,
  },
  {
    what: "a write-ahead log without its file",
    make: (world) => {
      const cache = world.open();
      putSome(cache, 0, 200);
      cache.flush();
      Deno.copyFileSync(`${world.file}-wal`, `${world.file}.log`);
      cache.close();
      Deno.removeSync(world.file);
      Deno.renameSync(`${world.file}.log`, `${world.file}-wal`);
    },
  },
  {
    what: "values without their last byte",
    make: change("UPDATE embeddings SET value = substr(value, 1, length(value) - 1)"),
  },
  { what: "values of no byte", make: change("UPDATE embeddings SET value = x''") },
  { what: "values that say none", make: change("UPDATE embeddings SET value = x'00000000'") },
  {
    what: "values with one byte changed",
    make: change("UPDATE embeddings SET value = CAST(x'80' || substr(value, 2) AS BLOB)"),
  },
  {
    what: "values that changed places",
    make: change(
      "UPDATE embeddings SET value = (SELECT value FROM embeddings AS other " +
        "WHERE other.age = embeddings.age % 200 + 1)",
    ),
  },
];

function write(path: string, text: string): void {
  Deno.mkdirSync(dirname(path), { recursive: true });
  Deno.writeTextFileSync(path, text);
}

describe("a cache over what it cannot use", () => {
  for (const { what, make, known = 0, warnings = [] } of DAMAGES) {
    it(`openEmbeddingCache() copes with ${what}`, async () => {
      await using world = await makeWorld();
      make(world);

      const cache = world.open();
      const found = countKnown(cache, 0, 200);
      putSome(cache, 0, 200);
      cache.flush();
      const healed = countKnown(cache, 0, 200);
      cache.close();

      equal(found, known);
      equal(healed, 200);
      deepEqual(world.warnings, warnings);
      equal((await listNames(world.state)).includes("cache.sqlite.damaged"), warnings.length > 0);
      ok(world.logs.every((line) => !line.includes(world.folder)));
      checkRoundTrip(world);
    });
  }

  it("openEmbeddingCache() puts a link aside and leaves alone what it leads to", async () => {
    await using world = await makeWorld();
    if (IS_WINDOWS) return;
    const target = join(world.folder, "precious.txt");
    await Deno.writeTextFile(target, "precious", { mode: 0o644 });
    await Deno.mkdir(world.state);
    await Deno.symlink(target, world.file);

    checkRoundTrip(world);

    equal(await Deno.readTextFile(target), "precious");
    equal(((await Deno.stat(target)).mode ?? 0) & 0o777, 0o644);
    deepEqual(world.warnings, UNUSABLE);
  });

  it("openEmbeddingCache() knows nothing when the state folder is a file", async () => {
    await using world = await makeWorld();
    await Deno.writeTextFile(world.state, "");

    const cache = world.open();
    cache.put("a", vectorOf(1));
    cache.close();

    equal(cache.get("a"), undefined);
    deepEqual(world.warnings, ["embedding-cache-off unusable"]);
  });

  it("openEmbeddingCache() leaves a file that is locked, and uses it the next time", async () => {
    await using world = await makeWorld();
    makeFile(world);
    const db = world.openFile();
    db.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");

    const locked = world.open();
    locked.put("a", vectorOf(1));
    const known = [countKnown(locked, 0, 200), locked.get("a")];
    db.exec("COMMIT");
    db.close();

    deepEqual(known, [0, undefined]);
    deepEqual(world.warnings, ["embedding-cache-off locked"]);
    equal(countKnown(world.open(), 0, 200), 200);
    checkRoundTrip(world);
  });

  it("a cache whose file breaks under it begins anew once, then turns itself off", async () => {
    await using world = await makeWorld();
    const cache = world.open();
    const breakFile = () => {
      const db = world.openFile();
      db.exec("DROP TABLE embeddings");
      db.close();
    };
    putSome(cache, 0, 200);

    breakFile();
    const afterFirst = countKnown(cache, 0, 10);
    putSome(cache, 0, 200);
    cache.flush();
    const begunAnew = countKnown(cache, 0, 200);
    breakFile();
    putSome(cache, 200, 600);
    const afterSecond = countKnown(cache, 0, 600);
    cache.close();

    deepEqual([afterFirst, begunAnew, afterSecond], [0, 200, 0]);
    deepEqual(world.warnings, [
      "embedding-cache-renewed unusable",
      "embedding-cache-off unusable",
    ]);
    checkRoundTrip(world);
  });

  it("no damage makes the cache fail or answer wrongly", async () => {
    await using world = await makeWorld();
    const random = randomSource(20);
    makeFile(world);
    const whole = await Deno.readFile(world.file);

    for (let round = 0; round < 60; round++) {
      const length = 1 + random(6000);
      const at = random(whole.length - length);
      await Deno.writeFile(world.file, whole);
      overwrite(world.file, { at, length });
      const cache = world.open();
      countKnown(cache, 0, 200);
      putSome(cache, 0, 300);
      cache.close();
      const next = world.open();
      countKnown(next, 0, 300);
      next.close();
    }

    ok(world.warnings.length > 10);
    ok(world.warnings.every((warning) => warning.startsWith("embedding-cache-renewed")));
    checkRoundTrip(world);
  });
});

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

    equal(child.output, "embedding-cache-off unusable\nfound undefined\n");
    equal(countKnown(world.open(), 0, 200), 200);
  });

  for (const written of [1000, 2500, 6000]) {
    it(`leaves a good file when it is killed after ${written} entries`, async () => {
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

  it("leaves a good file when it is killed within a transaction", async () => {
    await using world = await makeWorld();
    makeFile(world);
    // With so small a cache of pages, SQLite writes to disk long before the end.
    const code = `
      import { DatabaseSync } from "node:sqlite";
      const db = new DatabaseSync(folder + "/cache.sqlite");
      db.exec("PRAGMA cache_size = 1; BEGIN IMMEDIATE; DELETE FROM embeddings");
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

    equal(new TextDecoder().decode(stderr), "embedding-cache-off disk-error\nend\n");
    const known = countKnown(world.open(), 0, 50_000);
    ok(known > 500 && known < 50_000, String(known));
    deepEqual(world.logs, []);
    checkRoundTrip(world);
  });
});
