import {
  deepStrictEqual as deepEqual,
  match,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { Buffer } from "node:buffer";
import { basename, join } from "node:path";
import { describe, it } from "@std/testing/bdd";
import type { SnapshotReader, SnapshotWriter } from "@/lib/index/_snapshot_stream.ts";
import { readSnapshot, type SnapshotOptions, writeSnapshot } from "@/lib/index/snapshot_file.ts";
import { createLogger, type Logger, systemClock } from "@/lib/seams.ts";
import { randomSource } from "../_support/random.ts";
import { tempVault } from "../_support/temp_vault.ts";

const IS_WINDOWS = Deno.build.os === "windows";
const FILE_HEAD = 16;
const FRAME_HEAD = 8;
const FRAME = 256 * 1024;
/** What the key takes in the first frame: its length and its JSON. */
const KEY_BYTES = 4 + '"key"'.length;

interface World extends AsyncDisposable {
  /** The state directory; there is none at first. */
  readonly folder: string;
  readonly file: string;
  readonly aside: string;
  readonly logs: readonly string[];
  readonly logger: Logger;
  readonly options: SnapshotOptions;
  /** Writes a snapshot that holds so many bytes. */
  save(length: number): Promise<void>;
  /** Reads it back; the warnings of this call are its own. */
  read(changes?: Partial<SnapshotOptions>): Promise<{ value: unknown; warnings: string[] }>;
  names(): string[];
}

async function makeWorld(): Promise<World> {
  const home = await tempVault({});
  const folder = home.pathOf("deep/state");
  const logs: string[] = [];
  const logger = loggerTo(logs);
  const options = { folder, key: "key", clock: systemClock };
  return {
    folder,
    file: join(folder, "index.snapshot"),
    aside: join(folder, "index.snapshot.aside"),
    logs,
    logger,
    options,
    async save(length) {
      await writeSnapshot(options, (writer) => saveBytes(writer, length));
    },
    async read(changes = {}) {
      const logged = logs.length;
      const value = await readSnapshot({ ...options, logger, ...changes }, restoreBytes);
      const warnings = logs.slice(logged).map((line) => JSON.parse(line))
        .map(({ event, reason }) => `${event} ${reason}`);
      return { value, warnings };
    },
    names: () => [...Deno.readDirSync(folder)].map(({ name }) => name).sort(),
    [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
  };
}

function loggerTo(logs: string[]): Logger {
  const write = (line: string) => logs.push(line);
  return createLogger({ level: "debug", clock: systemClock, pretty: false, write });
}

function bytesOf(length: number): Uint8Array {
  const random = randomSource(length);
  return Uint8Array.from({ length }, () => random(256));
}

/** Takes 8 bytes more. */
async function saveBytes(writer: SnapshotWriter, length: number): Promise<void> {
  await writer.writeNumbers(length);
  await writer.writeArray(bytesOf(length));
}

async function restoreBytes(reader: SnapshotReader): Promise<Uint8Array> {
  const [length = 0] = await reader.readNumbers(1);
  return await reader.readArray(Uint8Array, length);
}

/** How many bytes fill so many frames and leave none over. */
const lengthOfFrames = (frames: number) => frames * FRAME - KEY_BYTES - 8;

/** Fails unless these bytes are found out for that reason and put aside. */
async function checkFoundOut(world: World, bytes: Uint8Array, reason: string): Promise<void> {
  await Deno.writeFile(world.file, bytes);

  const { value, warnings } = await world.read();

  equal(value, undefined);
  deepEqual(warnings, [`snapshot-put-aside ${reason}`]);
  deepEqual(world.names(), ["index.snapshot.aside"]);
  deepEqual(await Deno.readFile(world.aside), bytes);
}

describe("readSnapshot()", () => {
  it("gives back what writeSnapshot() wrote, again and again", async () => {
    await using world = await makeWorld();
    for (const length of [0, 1, 300, FRAME, lengthOfFrames(1), lengthOfFrames(3), 1_000_000]) {
      await world.save(length);

      for (let time = 0; time < 2; time++) {
        const { value, warnings } = await world.read();
        deepEqual(value, bytesOf(length));
        deepEqual(warnings, []);
      }
      deepEqual(world.names(), ["index.snapshot"]);
    }
  });

  it("gives back numbers of every kind, and JSON", async () => {
    await using world = await makeWorld();
    const arrays = [
      Int8Array.of(-128, 127),
      Uint8Array.of(255),
      Uint16Array.of(65_535, 1),
      Uint32Array.of(2 ** 32 - 1, 0, 7),
      Float32Array.of(0.5, NaN, -0),
      Float64Array.of(Math.PI, -Infinity),
    ];
    const json = { 记: ["\ud83d", null, "__proto__", 1e300], long: "忆".repeat(200_000) };
    await writeSnapshot(world.options, async (writer) => {
      // what comes after one byte is not where such numbers usually lie
      await writer.writeArray(Uint8Array.of(1));
      for (const array of arrays) await writer.writeArray(array.subarray(0));
      await writer.writeJson(json);
      await writer.writeNumbers(1, 2 ** 53);
    });

    const value = await readSnapshot({ ...world.options, logger: world.logger }, async (reader) => {
      await reader.readArray(Uint8Array, 1);
      return [
        await reader.readArray(Int8Array, 2),
        await reader.readArray(Uint8Array, 1),
        await reader.readArray(Uint16Array, 2),
        await reader.readArray(Uint32Array, 3),
        await reader.readArray(Float32Array, 3),
        await reader.readArray(Float64Array, 2, 4),
        await reader.readJson(),
        await reader.readNumbers(2),
      ];
    });

    const roomy = Float64Array.of(Math.PI, -Infinity, 0, 0);
    deepEqual(value, [...arrays.slice(0, 5), roomy, json, [1, 2 ** 53]]);
  });

  it("returns nothing, and says nothing, when there is no snapshot", async () => {
    await using world = await makeWorld();

    const without = await world.read();
    await Deno.mkdir(world.folder, { recursive: true });
    const empty = await world.read();

    for (const each of [without, empty]) deepEqual(each, { value: undefined, warnings: [] });
    deepEqual(world.names(), []);
  });

  it("finds out a file that was cut off anywhere", async () => {
    await using world = await makeWorld();
    await world.save(100);
    const whole = await Deno.readFile(world.file);
    for (let length = 0; length < whole.length; length++) {
      await checkFoundOut(world, whole.subarray(0, length), "damaged");
    }
    await world.save(lengthOfFrames(2));
    const large = await Deno.readFile(world.file);
    const ends = [0, 1, 2].map((frame) => FILE_HEAD + frame * (FRAME_HEAD + FRAME));
    for (const end of ends) {
      for (const length of [end - 1, end, end + 1, end + FRAME_HEAD - 1]) {
        await checkFoundOut(world, large.subarray(0, length), "damaged");
      }
    }
    equal(large.length, (ends[2] ?? 0) + FRAME_HEAD);
  });

  it("finds out a bit that was flipped anywhere", async () => {
    await using world = await makeWorld();
    const random = randomSource(3);
    await world.save(100);
    const whole = await Deno.readFile(world.file);
    for (let at = 0; at < whole.length; at++) {
      const flipped = whole.slice();
      flipped[at] = (flipped[at] ?? 0) ^ 1 << random(8);
      const reason = at < 12 ? "foreign" : at < FILE_HEAD ? "other-format" : "damaged";
      await checkFoundOut(world, flipped, reason);
    }
    await world.save(700_000);
    const large = await Deno.readFile(world.file);
    for (let round = 0; round < 20; round++) {
      const flipped = large.slice();
      const at = FILE_HEAD + random(large.length - FILE_HEAD);
      flipped[at] = (flipped[at] ?? 0) ^ 1 << random(8);
      await checkFoundOut(world, flipped, "damaged");
    }
    // the last frame is empty
    await world.save(lengthOfFrames(1));
    const full = await Deno.readFile(world.file);
    for (let fromEnd = 1; fromEnd <= FRAME_HEAD; fromEnd++) {
      const flipped = full.slice();
      const at = full.length - fromEnd;
      flipped[at] = (flipped[at] ?? 0) ^ 1 << random(8);
      await checkFoundOut(world, flipped, "damaged");
    }
  });

  it("finds out what was appended, left out, doubled or moved", async () => {
    await using world = await makeWorld();
    await world.save(900_000);
    const whole = await Deno.readFile(world.file);
    const part = (from: number, to: number) =>
      whole.subarray(
        FILE_HEAD + from * (FRAME_HEAD + FRAME),
        FILE_HEAD + to * (FRAME_HEAD + FRAME),
      );
    const head = whole.subarray(0, FILE_HEAD);
    const emptyFrame = new Uint8Array(FRAME_HEAD);
    const cases: Uint8Array[][] = [
      [whole, Uint8Array.of(0)],
      [whole, emptyFrame],
      [whole, part(3, 4)],
      [whole, whole],
      [head],
      [head, emptyFrame],
      [head, part(3, 4)],
      [head, part(1, 4)],
      [head, part(0, 1), part(2, 4)],
      [head, part(0, 2), part(1, 4)],
      [head, part(1, 2), part(0, 1), part(2, 4)],
      [head, part(0, 1), part(2, 3), part(1, 2), part(3, 4)],
    ];
    for (const parts of cases) {
      await checkFoundOut(world, new Uint8Array(Buffer.concat(parts)), "damaged");
    }
  });

  it("finds out a file of something else, and one of a machine of another byte order", async () => {
    await using world = await makeWorld();
    await world.save(100);
    const whole = await Deno.readFile(world.file);
    const turned = whole.slice();
    turned.subarray(8, 12).reverse();

    await checkFoundOut(world, new TextEncoder().encode("# A note, and no snapshot"), "foreign");
    await checkFoundOut(world, new Uint8Array(5_000), "foreign");
    await checkFoundOut(world, turned, "foreign");
  });

  it("does not use a snapshot of another key", async () => {
    for (const key of ["", "ke", "keys", "Key", "key\0", "键"]) {
      await using world = await makeWorld();
      await world.save(100);

      const { value, warnings } = await world.read({ key });

      equal(value, undefined);
      deepEqual(warnings, ["snapshot-put-aside other-key"]);
      deepEqual(world.names(), ["index.snapshot.aside"]);
    }
  });

  it("puts aside what is no file, and what was put aside before gives way", async () => {
    await using world = await makeWorld();
    await Deno.mkdir(world.file, { recursive: true });
    await Deno.writeTextFile(join(world.file, "inside"), "");

    const folder = await world.read();
    await Deno.symlink(join(world.folder, "elsewhere"), world.file);
    const link = await world.read();
    if (!IS_WINDOWS) await new Deno.Command("mkfifo", { args: [world.file] }).output();
    const pipe = await world.read();

    for (const each of [folder, link, ...(IS_WINDOWS ? [] : [pipe])]) {
      deepEqual(each, { value: undefined, warnings: ["snapshot-put-aside foreign"] });
    }
    deepEqual(world.names(), ["index.snapshot.aside"]);
    await world.save(10);
    deepEqual((await world.read()).value, bytesOf(10));
  });

  it("puts aside a file that it may not read", async () => {
    await using world = await makeWorld();
    await world.save(10);
    await Deno.chmod(world.file, 0o000);
    // Nothing keeps the administrator from reading it.
    const mayRead = await Deno.readFile(world.file).then(() => true, () => false);

    const { value, warnings } = await world.read();

    deepEqual(value, mayRead ? bytesOf(10) : undefined);
    deepEqual(warnings, mayRead ? [] : ["snapshot-put-aside unreadable"]);
  });

  it("goes without a snapshot that can be neither used nor put aside", async () => {
    await using world = await makeWorld();
    await world.save(10);
    const { rename } = Deno;
    Deno.rename = () => Promise.reject(new Deno.errors.PermissionDenied("read-only"));
    try {
      const { value, warnings } = await world.read({ key: "other" });

      equal(value, undefined);
      deepEqual(warnings, ["snapshot-unusable other-key"]);
    } finally {
      Deno.rename = rename;
    }
  });

  it("puts aside what `restore` makes nothing of, and logs nothing that is in it", async () => {
    await using world = await makeWorld();
    const failures: ((reader: SnapshotReader) => Promise<unknown>)[] = [
      () => Promise.reject(new TypeError(`The secret word in ${world.folder}`)),
      // less than there is, and more
      (reader) => reader.readNumbers(1),
      async (reader) => [await restoreBytes(reader), await reader.readNumbers(1)],
      // numbers that are no JSON
      (reader) => reader.readJson(),
    ];
    for (const restore of failures) {
      await world.save(100);

      const value = await readSnapshot({ ...world.options, logger: world.logger }, restore);

      equal(value, undefined);
      deepEqual(world.names(), ["index.snapshot.aside"]);
    }
    equal(world.logs.length, failures.length);
    match(world.logs[0] ?? "", /"reason":"not-restorable","cause":"TypeError"/);
    for (const line of world.logs) ok(!/secret|deep/.test(line), line);
  });

  it("takes no memory for more than the file can hold", async () => {
    for (const count of [101, 2 ** 40, 2 ** 53, 1e300, -1, 0.5, NaN, Infinity]) {
      await using world = await makeWorld();
      await writeSnapshot(world.options, async (writer) => {
        await writer.writeNumbers(count);
        await writer.writeArray(bytesOf(100));
      });
      const { Uint8Array: Bytes } = globalThis;
      const taken: number[] = [];
      class Counted extends Bytes {
        constructor(length: number) {
          super(length);
          taken.push(length);
        }
      }

      const value = await readSnapshot(
        { ...world.options, logger: world.logger },
        async (reader) => {
          const [length = 0] = await reader.readNumbers(1);
          return await reader.readArray(Counted, length);
        },
      );

      equal(value, undefined);
      deepEqual(taken, []);
      match(world.logs[0] ?? "", /"snapshot-put-aside","reason":"damaged"/);
    }
  });

  it("rejects when it is aborted, and the snapshot stays", async () => {
    await using world = await makeWorld();
    const abort = new AbortController();
    const reason = new Error("The program ends");
    await rejects(world.read({ signal: AbortSignal.abort(reason) }), reason);
    await world.save(1_000_000);

    const reading = readSnapshot(
      { ...world.options, signal: abort.signal, logger: world.logger },
      async (reader) => {
        await reader.readNumbers(1);
        abort.abort(reason);
        return await reader.readArray(Uint8Array, 1_000_000);
      },
    );

    await rejects(reading, reason);
    await rejects(world.read({ signal: abort.signal }), reason);
    deepEqual(world.logs, []);
    deepEqual((await world.read()).value, bytesOf(1_000_000));
  });

  it("removes what killed processes left half done, and nothing else", async () => {
    await using world = await makeWorld();
    await world.save(10);
    const hourMs = 3_600_000;
    const id = "1f0a83bc-1111-4222-8333-444455556666";
    const otherPid = Deno.pid + 1;
    const cases: [name: string, agoMs: number, stays: boolean][] = [
      [`index.snapshot.${otherPid}-${id}.tmp`, 0, true],
      [`index.snapshot.${otherPid + 1}-${id}.tmp`, hourMs / 2, true],
      [`index.snapshot.${otherPid + 2}-${id}.tmp`, 2 * hourMs, false],
      [`index.snapshot.${otherPid + 3}-${id}.tmp`, -2 * hourMs, false],
      [`index.snapshot.${Deno.pid}-${id}.tmp`, 0, true],
      [`index.snapshot.${Deno.pid}-${id}0.tmp`, hourMs / 2, false],
      [`index.snapshot.${otherPid}-${id}.tmp.bak`, 2 * hourMs, true],
      [`other.snapshot.${otherPid}-${id}.tmp`, 2 * hourMs, true],
      [`index.snapshot.x-${id}.tmp`, 2 * hourMs, true],
      ["cache.sqlite", 2 * hourMs, true],
    ];
    for (const [name, agoMs] of cases) {
      await Deno.writeTextFile(join(world.folder, name), "half");
      const time = new Date(Date.now() - agoMs);
      await Deno.utime(join(world.folder, name), time, time);
    }
    const folder = `index.snapshot.${otherPid}-${id}1.tmp`;
    await Deno.mkdir(join(world.folder, folder));
    await Deno.utime(join(world.folder, folder), 0, 0);

    const { value } = await world.read();

    deepEqual(value, bytesOf(10));
    const staying = cases.filter(([, , stays]) => stays).map(([name]) => name);
    deepEqual(world.names(), [...staying, "index.snapshot", folder].sort());
  });

  it("lets other work have its turn while it reads, and while it is written", async () => {
    await using world = await makeWorld();
    let nowMs = 0;
    const clock = { ...systemClock, monotonicMs: () => nowMs += 100 };
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const options = { ...world.options, clock };

    await writeSnapshot(options, (writer) => saveBytes(writer, lengthOfFrames(12)));
    const whileWritten = turns;
    await world.read({ clock });
    clearInterval(timer);

    ok(whileWritten >= 6, `${whileWritten} turns`);
    ok(turns - whileWritten >= 6, `${turns - whileWritten} turns`);
  });
});

describe("writeSnapshot()", () => {
  it("takes the place of the last one, for this person alone, and returns its size", async () => {
    await using world = await makeWorld();
    await world.save(10);

    const size = await writeSnapshot(world.options, (writer) => saveBytes(writer, 20));

    equal(size, (await Deno.stat(world.file)).size);
    deepEqual((await world.read()).value, bytesOf(20));
    deepEqual(world.names(), ["index.snapshot"]);
    if (IS_WINDOWS) return;
    equal(((await Deno.stat(world.file)).mode ?? 0) & 0o777, 0o600);
    equal(((await Deno.stat(world.folder)).mode ?? 0) & 0o777, 0o700);
  });

  it("leaves the last one, and no half of a new one, when it fails", async () => {
    await using world = await makeWorld();
    await world.save(10);

    const failing = writeSnapshot(world.options, async (writer) => {
      await saveBytes(writer, 600_000);
      throw new Error("The disk is full");
    });

    await rejects(failing, /The disk is full/);
    deepEqual(world.names(), ["index.snapshot"]);
    deepEqual((await world.read()).value, bytesOf(10));
  });

  it("rejects with what the disk says", async () => {
    await using world = await makeWorld();
    await Deno.mkdir(world.file, { recursive: true });
    await Deno.writeTextFile(join(world.file, "inside"), "");

    await rejects(world.save(10));
    const inFile = { ...world.options, folder: join(world.file, "inside") };
    await rejects(writeSnapshot(inFile, (writer) => saveBytes(writer, 10)));

    deepEqual(world.names(), ["index.snapshot"]);
  });

  it("rejects when it is aborted at any time, and leaves nothing", async () => {
    const reason = new Error("The program ends");
    await using untouched = await makeWorld();
    const signal = AbortSignal.abort(reason);
    await rejects(writeSnapshot({ ...untouched.options, signal }, () => Promise.resolve()), reason);
    await rejects(Deno.lstat(untouched.folder), Deno.errors.NotFound);
    for (const when of ["before", "soon", "late"]) {
      await using world = await makeWorld();
      await world.save(10);
      const abort = new AbortController();
      if (when === "before") abort.abort(reason);

      const writing = writeSnapshot({ ...world.options, signal: abort.signal }, async (writer) => {
        if (when === "soon") abort.abort(reason);
        await saveBytes(writer, 1_000_000);
        if (when === "late") abort.abort(reason);
      });

      await rejects(writing, reason);
      deepEqual(world.names(), ["index.snapshot"]);
      deepEqual((await world.read()).value, bytesOf(10));
    }
  });

  it("writes beside other writers: a reader sees one of them, whole", async () => {
    await using world = await makeWorld();
    const lengths = [300_000, 500_000, 700_000];
    await world.save(300_000);

    const writing = Promise.all(lengths.map((length) => world.save(length)));
    const seen: unknown[] = [];
    for (let time = 0; time < 12; time++) seen.push((await world.read()).value);
    await writing;

    for (const value of seen) {
      ok(value instanceof Uint8Array);
      deepEqual(value, bytesOf(value.length));
    }
    deepEqual(world.names(), ["index.snapshot"]);
  });

  it("gives each file that it makes a name of its own", async () => {
    await using world = await makeWorld();
    const names = new Set<string>();
    const { open } = Deno;
    Deno.open = (path, options) => {
      names.add(basename(String(path)));
      return open(path, options);
    };
    try {
      await Promise.all([world.save(10), world.save(20)]);
    } finally {
      Deno.open = open;
    }

    equal(names.size, 2);
    for (const name of names) match(name, /^index\.snapshot\.\d+-[\da-f-]{36}\.tmp$/);
  });
});
