import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { describe, it } from "@std/testing/bdd";
import { randomId, systemClock } from "@/lib/seams.ts";
import { parseVaultPath } from "@/lib/vault/vault_path.ts";
import type { Recovered } from "@/lib/vault/vault_writer.ts";
import { WriteJournal } from "@/lib/vault/_write_journal.ts";
import { testServices } from "../_support/services.ts";
import { silentLogger } from "../_support/silent_logger.ts";
import { listAll, tempVault } from "../_support/temp_vault.ts";
import { crashTogether } from "../_support/together_kills.ts";
import {
  addRecord,
  change,
  COPY,
  crashAfter,
  etagOf,
  ID_OF_RECORD,
  leaveRecord,
  NEW,
  OLD,
  rivalWorld,
  TOGETHER,
  type TogetherWorld,
  togetherWorld,
  withoutLinks,
} from "../_support/together_world.ts";

const KILLS = 25;
const MAX_CALLS = 200;

function recovered(
  paths: readonly string[],
  { conflictCopies = [], left = [] }: {
    readonly conflictCopies?: readonly string[];
    readonly left?: readonly string[];
  } = {},
): Recovered {
  const parsed = (texts: readonly string[]) => texts.map(parseVaultPath);
  return { paths: parsed(paths), conflictCopies: parsed(conflictCopies), left: parsed(left) };
}

const ALL_DONE = recovered(["a.md", "sub/b.md", "new/c.md", "moved/m.md", "m.md"]);

/** Starts a write and cuts it off after so many calls; returns false if it was done before. */
async function writeAndCrash({ writer }: TogetherWorld, calls: number): Promise<boolean> {
  using crash = crashAfter(calls);
  await writer.writeTogether(TOGETHER).catch(() => undefined);
  return crash.hasCrashed;
}

async function recoverAndCrash(world: TogetherWorld, calls: number): Promise<boolean> {
  using _crash = crashAfter(calls);
  await world.restart().recover().catch(() => undefined);
  return world.records().some((name) => name.endsWith(".json"));
}

/** Does what a start does. */
async function start(world: TogetherWorld): Promise<Recovered[]> {
  const writer = world.restart();
  const outcome = await writer.recover();
  await writer.sweep();
  return outcome;
}

describe("VaultWriter.recover() after a crash", () => {
  it("brings all or nothing, whatever call was the last, and leaves nothing", async () => {
    const outcomes: string[] = [];
    for (let calls = 0; calls < MAX_CALLS; calls++) {
      await using world = await togetherWorld(OLD);
      if (!await writeAndCrash(world, calls)) break;
      const isDecided = world.records().some((name) => name.endsWith(".json"));

      const outcome = await start(world);

      const isNew = "moved/m.md" in world.texts();
      deepEqual(world.texts(), isNew ? NEW : OLD, `${calls}`);
      deepEqual(outcome, isDecided ? [ALL_DONE] : [], `${calls}`);
      deepEqual(world.records(), [], `${calls}`);
      outcomes.push(`${isDecided ? "decided" : "undecided"}, ${isNew ? "new" : "old"}`);
    }

    deepEqual([...new Set(outcomes)], ["undecided, old", "decided, new", "undecided, new"]);
    ok(outcomes.filter((it) => it === "decided, new").length >= 8, `${outcomes.length}`);
  });

  it("does the same on a disk without hard links, but for the names of what was away", async () => {
    for (let calls = 0; calls < MAX_CALLS; calls++) {
      await using world = await togetherWorld(OLD);
      using _disk = withoutLinks();
      if (!await writeAndCrash(world, calls)) break;

      await start(world);

      const texts = Object.values(world.texts());
      const isNew = texts.includes("c2");
      for (const text of ["a", "b"]) ok(texts.includes(text + (isNew ? 2 : 1)), `${calls}`);
      ok(texts.includes("m"), `${calls}`);
      deepEqual(world.records(), [], `${calls}`);
    }
  });

  it("brings all or nothing if the write was just being taken back", async () => {
    const theirs = { ...OLD, "new/c.md": "theirs" };
    const finished = { ...NEW, "new/c.md": "theirs", [`new/c ${COPY}`]: "c2" };
    const allowed = [OLD, theirs, finished];
    const outcomes = new Set<number>();
    for (let calls = 0; calls < MAX_CALLS; calls++) {
      await using world = await rivalWorld(
        ID_OF_RECORD,
        ({ write }) => write("new/c.md", "theirs"),
      );
      const hasCrashed = await writeAndCrash(world, calls);

      await start(world);

      outcomes.add(allowed.findIndex((texts) => isDeepStrictEqual(texts, world.texts())));
      deepEqual(world.records(), [], `${calls}`);
      if (!hasCrashed) break;
    }

    deepEqual([...outcomes].sort(), [0, 1, 2]);
  });

  it("is finished by the next one if it is cut off itself, whatever call was the last", async () => {
    let crashes = 0;
    for (let calls = 0; calls < MAX_CALLS; calls++) {
      await using world = await togetherWorld(OLD);
      await addRecord(world, TOGETHER);
      world.write("sub/b.md", "theirs");
      if (!await recoverAndCrash(world, calls)) break;
      crashes++;

      const [outcome] = await start(world);

      deepEqual(world.texts(), { ...NEW, "sub/b.md": "theirs", [`sub/b ${COPY}`]: "b2" });
      deepEqual(outcome?.conflictCopies, [`sub/b ${COPY}`]);
      deepEqual([world.records(), await start(world)], [[], []]);
    }

    ok(crashes >= 8, `${crashes}`);
  });

  it("finishes a write of which so much was done", async () => {
    const steps: readonly ((world: TogetherWorld) => void)[] = [
      () => {},
      ({ write }) => write("a.md", "a2"),
      ({ write }) => write("sub/b.md", "b2"),
      ({ write }) => write("new/c.md", "c2"),
      ({ pathOf, write, remove }) => {
        write("moved/m.md", "");
        remove("moved/m.md");
        Deno.linkSync(pathOf("m.md"), pathOf("moved/m.md"));
      },
      ({ remove }) => remove("m.md"),
    ];
    for (let done = 1; done <= steps.length; done++) {
      await using world = await togetherWorld(OLD);
      await addRecord(world, TOGETHER);
      for (const step of steps.slice(0, done)) step(world);

      deepEqual(await start(world), [ALL_DONE], `${done}`);
      deepEqual(world.texts(), NEW, `${done}`);
    }
  });

  it("keeps rights, of a conflict copy too, and of one whose note is gone", async () => {
    await using world = await togetherWorld(OLD);
    for (const path of ["a.md", "sub/b.md"]) await Deno.chmod(world.pathOf(path), 0o600);
    // Some calls after the record has its name nothing has been published yet.
    let calls = 0;
    while (world.records().every((name) => !name.endsWith(".json"))) {
      await writeAndCrash(world, calls++);
    }
    deepEqual([world.text("a.md"), world.text("sub/b.md")], ["a1", "b1"]);
    await Deno.remove(world.pathOf("sub/b.md"));

    await start(world);

    const modes = ["a.md", `sub/b ${COPY}`].map((path) => modeOf(world, path));
    deepEqual(modes, [0o600, 0o600]);
  });

  it("puts what another program wrote at the last moment beside, as a write does", async () => {
    await using world = await togetherWorld(OLD);
    const name = `.commonplace-1.${etagOf("a1")}.${etagOf("a.md").slice(0, 16)}.kept`;
    world.write(name, "theirs");
    world.write("a.md", "a2");
    await addRecord(world, TOGETHER);

    await start(world);

    deepEqual(world.texts(), { ...NEW, [`a ${COPY}`]: "theirs" });
  });
});

function modeOf({ pathOf }: TogetherWorld, path: string): number {
  return (Deno.statSync(pathOf(path)).mode ?? 0) & 0o777;
}

describe("VaultWriter.recover() and what a person has done since", () => {
  const edits: readonly (readonly [
    name: string,
    edit: (world: TogetherWorld) => void,
    after: Readonly<Record<string, string | undefined>>,
    outcome: Recovered,
  ])[] = [
    [
      "changed a file that was not written yet",
      ({ write }) => write("a.md", "theirs"),
      { "a.md": "theirs", [`a ${COPY}`]: "a2" },
      recovered(["sub/b.md", "new/c.md", "moved/m.md", "m.md"], {
        conflictCopies: [`a ${COPY}`],
      }),
    ],
    [
      "removed a file that was not written yet",
      ({ remove }) => remove("a.md"),
      { "a.md": undefined, [`a ${COPY}`]: "a2" },
      recovered(["sub/b.md", "new/c.md", "moved/m.md", "m.md"], {
        conflictCopies: [`a ${COPY}`],
      }),
    ],
    [
      "removed a file with its folder",
      ({ remove }) => remove("sub"),
      { "sub/b.md": undefined, [`sub/b ${COPY}`]: "b2" },
      recovered(["a.md", "new/c.md", "moved/m.md", "m.md"], {
        conflictCopies: [`sub/b ${COPY}`],
      }),
    ],
    [
      "made the new file themselves, in other letters",
      ({ write }) => write("new/C.md", "theirs"),
      { "new/C.md": "theirs", "new/c.md": undefined, [`new/c ${COPY}`]: "c2" },
      recovered(["a.md", "sub/b.md", "moved/m.md", "m.md"], {
        conflictCopies: [`new/c ${COPY}`],
      }),
    ],
    [
      "made a folder in the file's place",
      ({ write }) => write("new/c.md/x.md", "theirs"),
      { "new/c.md": undefined, "new/c.md/x.md": "theirs", [`new/c ${COPY}`]: "c2" },
      recovered(["a.md", "sub/b.md", "moved/m.md", "m.md"], {
        conflictCopies: [`new/c ${COPY}`],
      }),
    ],
    [
      "changed the file that was to move",
      ({ write }) => write("m.md", "theirs"),
      { "m.md": "theirs", "moved/m.md": undefined },
      recovered(["a.md", "sub/b.md", "new/c.md"]),
    ],
    [
      "removed the file that was to move",
      ({ remove }) => remove("m.md"),
      { "moved/m.md": undefined },
      recovered(["a.md", "sub/b.md", "new/c.md"]),
    ],
    [
      "put another file in its new place",
      ({ write }) => write("moved/m.md", "theirs"),
      { "m.md": "m", "moved/m.md": "theirs" },
      recovered(["a.md", "sub/b.md", "new/c.md"]),
    ],
    [
      "put another file in its new place, in other letters",
      ({ write }) => write("moved/M.md", "theirs"),
      { "m.md": "m", "moved/M.md": "theirs", "moved/m.md": undefined },
      recovered(["a.md", "sub/b.md", "new/c.md"]),
    ],
    [
      "made a new file where the moved one was",
      (world) => {
        world.write("moved/m.md", "m");
        world.write("m.md", "theirs");
      },
      { "m.md": "theirs" },
      ALL_DONE,
    ],
  ];

  for (const [name, edit, after, outcome] of edits) {
    it(`does the rest if they have ${name}`, async () => {
      await using world = await togetherWorld(OLD);
      await addRecord(world, TOGETHER);
      edit(world);

      deepEqual(await start(world), [outcome]);

      const expected = Object.entries({ ...NEW, ...after })
        .flatMap(([path, text]) => text === undefined ? [] : [[path, text]]);
      deepEqual(world.texts(), Object.fromEntries(expected));
      deepEqual([world.records(), await start(world)], [[], []]);
    });
  }
});

describe("VaultWriter.recover() and what stands in its way", () => {
  it("leaves what it may not write for the next start, and forgets the rest", async () => {
    await using outside = await togetherWorld({});
    await using world = await togetherWorld({ ...OLD, "b.md": "b1" });
    const more = [change("secret/x.md", "x"), change("link/y.md", "y"), change("b.md/z.md", "z")];
    await addRecord(world, { ...TOGETHER, changes: [...TOGETHER.changes, ...more] });
    await Deno.symlink(outside.root, world.pathOf("link"));

    const first = await start(world);
    world.write("a.md", "theirs");
    const second = await start(world);
    await Deno.remove(world.pathOf("link"));
    await Deno.rename(world.pathOf("b.md"), world.pathOf("other.md"));
    const third = await world.restart([]).recover();

    const left = ["secret/x.md", "link/y.md", "b.md/z.md"];
    deepEqual(first, [{ ...ALL_DONE, ...recovered(ALL_DONE.paths, { left }) }]);
    deepEqual(second, [recovered([], { left })]);
    deepEqual(third, [recovered(left)]);
    deepEqual([world.records(), listAll(outside.root)], [[], []]);
    deepEqual(world.texts(), {
      ...NEW,
      "a.md": "theirs",
      "b.md/z.md": "z",
      "link/y.md": "y",
      "other.md": "b1",
      "secret/x.md": "x",
    });
  });

  it("leaves a read-only file for the next start", async () => {
    await using world = await togetherWorld(OLD);
    await addRecord(world, TOGETHER);
    await Deno.chmod(world.pathOf("a.md"), 0o444);

    const [first] = await start(world);
    const before = world.text("a.md");
    await Deno.chmod(world.pathOf("a.md"), 0o644);
    const [second] = await start(world);

    deepEqual([first?.left, before], [["a.md"], "a1"]);
    deepEqual([second, world.text("a.md")], [recovered(["a.md"]), "a2"]);
  });

  it("leaves records alone that are of another vault, or of a newer version", async () => {
    await using world = await togetherWorld(OLD);
    const [clock, logger] = [systemClock, silentLogger()];
    const root = "/somewhere/else";
    const other = { folder: world.journalFolder, root, clock, newId: randomId, logger };
    const name = await new WriteJournal(other).add({ changes: [], moves: TOGETHER.moves });
    const newer = JSON.stringify({ version: 2, vault: world.root, changes: [{}], moves: [] });
    const newerName = `${world.journalFolder}/newer.json`;
    await Deno.writeTextFile(newerName, `${newer.slice(0, -1)},"lines":[\n]}\n`);

    const outcome = await start(world);

    deepEqual(outcome, []);
    deepEqual(
      world.records().map((each) => `${world.journalFolder}/${each}`),
      [name, newerName].sort(),
    );
    deepEqual(world.texts(), OLD);
  });

  it("removes its own half records, and none that another vault has under way", async () => {
    await using world = await togetherWorld(OLD);
    await addRecord(world, { changes: [], moves: [] });
    const [done = ""] = world.records();
    const hash = etagOf(world.root).slice(0, 16);
    await Deno.rename(`${world.journalFolder}/${done}`, `${world.journalFolder}/1.${hash}.tmp`);
    await Deno.writeTextFile(`${world.journalFolder}/2.0123456789abcdef.tmp`, "{");

    await start(world);

    deepEqual(world.records(), ["2.0123456789abcdef.tmp"]);
  });
});

describe("VaultWriter.recover() of a record that is not whole", () => {
  const damages: Readonly<Record<string, (text: string) => string>> = {
    "is empty": () => "",
    "is no JSON": () => "half a rec",
    "is cut off": (text) => text.slice(0, -5),
    "is cut off after its first line": (text) => text.slice(0, text.indexOf("\n") + 1),
    "holds other bytes": (text) => text.replace(btoa("b2"), btoa("xx")),
    "holds fewer bytes": (text) => text.replace(`"${btoa("b2")}"`, '""'),
    "names a place outside": (text) => text.replace('"a.md"', '"../a.md"'),
    "expects nonsense": (text) => text.replace(etagOf("a1"), "nonsense"),
    "has no list of changes": (text) => text.replace('"changes"', '"charges"'),
    "has a size that nothing has": (text) => text.replace('"size":2', '"size":9e15'),
    "has no version": (text) => text.replace('"version":1,', ""),
  };

  for (const [name, damage] of Object.entries(damages)) {
    it(`puts it aside, says so, and finishes others, if it ${name}`, async () => {
      await using world = await togetherWorld({ ...OLD, "z.md": "z1" });
      await addRecord(world, TOGETHER);
      const [record = ""] = world.records();
      const file = `${world.journalFolder}/${record}`;
      await Deno.writeTextFile(file, damage(await Deno.readTextFile(file)));
      await addRecord(world, { changes: [change("z.md", "z2", "z1")], moves: [] });

      const outcome = await start(world);

      deepEqual(outcome, [recovered(["z.md"])]);
      deepEqual(world.texts(), { ...OLD, "z.md": "z2" });
      deepEqual(world.records(), [`${record}.bad`]);
      ok(world.logs.some((line) => line.includes("write-record-damaged")));
      deepEqual(await start(world), []);
    });
  }

  it("reads contents of many lines back as they were", async () => {
    const large = new Uint8Array(2_000_003).map((_, at) => at * 31);
    await using world = await togetherWorld({ ...OLD, "large.md": large.subarray(1) });
    const path = parseVaultPath("large.md");
    const expected = etagOf(large.subarray(1));
    await addRecord(world, { ...TOGETHER, changes: [{ path, bytes: large, expected }] });
    const [record = ""] = world.records();
    const text = await Deno.readTextFile(`${world.journalFolder}/${record}`);

    const [outcome] = await world.restart().recover();

    equal(JSON.parse(text).lines.length, 3);
    // What the file holds is no text, so that it is not written over.
    deepEqual(outcome?.left, ["large.md"]);
    await Deno.remove(world.pathOf("large.md"));
    await world.restart().recover();
    deepEqual(await Deno.readFile(world.pathOf(`large ${COPY}`)), large);
  });
});

describe("VaultWriter.recover() and other writes", () => {
  it("lets writes wait that come while it works", async () => {
    await using world = await togetherWorld(OLD);
    await addRecord(world, TOGETHER);
    const writer = world.restart();

    const recovering = writer.recover();
    const written = await writer.write(change("a.md", "a3", "a2"));

    equal(written.etag, etagOf("a3"));
    deepEqual(await recovering, [ALL_DONE]);
  });

  it("waits for a process that writes, and sees no record of it", async () => {
    await using world = await togetherWorld(OLD);

    const writing = world.writer.writeTogether(TOGETHER);
    const outcomes = await Promise.all([
      ...Array.from({ length: 5 }, () => world.restart().recover()),
      new Promise((resolve) => setTimeout(resolve, 2)).then(() => world.restart().recover()),
    ]);
    await writing;

    deepEqual(outcomes.flat(), []);
    deepEqual(world.texts(), NEW);
  });

  it("has nothing to tell of a move that is given up", async () => {
    await using world = await togetherWorld({ ...OLD, "moved/m.md": "theirs" });
    await addRecord(world, { changes: [], moves: TOGETHER.moves });

    deepEqual(await start(world), []);

    deepEqual(world.texts(), { ...OLD, "moved/m.md": "theirs" });
    deepEqual(world.records(), []);
    ok(world.logs.some((line) => line.includes("move-given-up")));
  });

  it("takes the oldest record first", async () => {
    await using world = await togetherWorld(OLD);
    await addRecord(world, { changes: [change("a.md", "a2", "a1")], moves: [] });
    const [first = ""] = world.records();
    await addRecord(world, { changes: [change("a.md", "a3", "a2")], moves: [] });
    const early = new Date(Date.now() - 60_000);
    await Deno.utime(`${world.journalFolder}/${first}`, early, early);

    const outcome = await start(world);

    deepEqual([outcome.length, world.texts()], [2, { ...OLD, "a.md": "a3" }]);
  });

  it("takes no lock and makes no folder if nothing was cut off", async () => {
    await using world = await togetherWorld(OLD);
    const folder = await Deno.open(world.root, { read: true });
    await folder.lock(EXCLUSIVE);

    const outcome = await world.writer.recover();
    folder.close();

    deepEqual([outcome, world.records()], [[], []]);
  });
});

const EXCLUSIVE = true;

describe("Services.recovered()", () => {
  it("tells what the start has finished, which the index knows", async () => {
    await using services = await testServices({ ...OLD, ".commonplace-1.tmp": "half" });
    await leaveRecord(services, TOGETHER);
    const before = await services.recovered();

    await services.ready();
    const outcome = await services.recovered();
    await services.index.refresh();

    deepEqual([before, outcome], [[], [ALL_DONE]]);
    const etags = ["a.md", "new/c.md", "m.md", "moved/m.md"].map((path) =>
      services.index.find(parseVaultPath(path))?.etag
    );
    deepEqual(etags, [etagOf("a2"), etagOf("c2"), undefined, etagOf("m")]);
    ok(services.logs.some((line) => line.includes('"writes-recovered","writes":1,"files":5')));
    await services.close();
    ok(!listAll(services.root).includes(".commonplace-1.tmp"));
  });

  it("is empty where nothing was cut off, and no word is logged", async () => {
    await using services = await testServices(OLD);

    await services.ready();

    deepEqual(await services.recovered(), []);
    deepEqual(services.logs.filter((line) => line.includes('"writes-')), []);
  });

  it("is empty if it fails, which is logged and ends nothing", async () => {
    await using services = await testServices(OLD);
    await leaveRecord(services, TOGETHER);
    await Deno.rename(services.root, `${services.root}-away`);
    await Deno.mkdir(services.root);

    await services.ready();
    const outcome = await services.recovered();
    await Deno.remove(`${services.root}-away`, { recursive: true });

    deepEqual(outcome, []);
    const line = '"level":"error","event":"writes-not-recovered","cause":"AppError"';
    ok(services.logs.some((log) => log.includes(line)));
  });
});

describe("VaultWriter.recover() after a kill", () => {
  it(`finds all files of one generation, ${KILLS} times`, async () => {
    await using base = await tempVault({});

    const counts = await crashTogether(base.root, KILLS, (below) => Math.random() * below);

    deepEqual(counts.wrongs, []);
    equal(counts.kills, KILLS);
    ok(counts.saves > 0);
  });
});
