import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "@std/testing/bdd";
import { MAX_RECORDED_HINTS } from "@/lib/contracts_recall.ts";
import { RecallLog } from "@/lib/recall/recall_log.ts";
import { RecallLogFile } from "@/lib/recall/recall_log_file.ts";
import { type Logger, systemClock } from "@/lib/seams.ts";
import { untilSo } from "@/tests/_support/until.ts";
import { silentLogger } from "@/tests/_support/silent_logger.ts";
import { listAll, type TempVault, tempVault } from "@/tests/_support/temp_vault.ts";

const SCOPE = "/a/vault";
/** By the first 16 hexadecimal digits of the SHA-256 of the scope. */
const NAME = `state/recall-log-${
  createHash("sha256").update(SCOPE).digest("hex").slice(0, 16)
}.jsonl`;

/** A run of the program, as far as its record of hints goes. */
class Run implements AsyncDisposable {
  readonly log: RecallLog;
  readonly #file: RecallLogFile;

  constructor(folder: string, logger: Logger = silentLogger(), scope: string = SCOPE) {
    this.#file = new RecallLogFile({ folder, scope, clock: systemClock, logger });
    this.log = new RecallLog(systemClock, (events) => this.#file.append(events));
  }

  load(): Promise<void> {
    return this.#file.load(this.log);
  }

  hint(...ids: string[]): void {
    this.log.add(
      ids.map((id) => ({ id, trigger: "user", session: "s", run: null, score: 0.6, given: true })),
    );
  }

  ids(): string[] {
    return this.log.list({ limit: MAX_RECORDED_HINTS }).hints.map(({ id }) => id).reverse();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }
}

async function open(place: TempVault, logger?: Logger): Promise<Run> {
  const run = new Run(place.pathOf("state"), logger);
  await run.load();
  return run;
}

function linesOf(place: TempVault): string[] {
  return Deno.readTextFileSync(place.pathOf(NAME)).split("\n");
}

describe("RecallLogFile", () => {
  it("load() brings back what earlier runs have kept", async () => {
    await using place = await tempVault({});
    const write = async () => {
      await using run = await open(place);
      run.hint("a", "b");
      run.log.noteOpened("a");
      run.log.noteUpdated("b", "new");
      run.log.noteOpened("never hinted");
      return [run.log.list({ limit: 9 }), run.log.sumUp({ limit: 9 })];
    };
    const before = await write();

    await using next = await open(place);

    deepEqual([next.log.list({ limit: 9 }), next.log.sumUp({ limit: 9 })], before);
    next.log.noteOpened("b");
    equal(next.log.sumUp({ limit: 0 }).opened, 2);
    // Two hints, three things that came of them, and the end of the last line.
    await next[Symbol.asyncDispose]();
    equal(linesOf(place).length, 6);
  });

  it("load() puts what was kept before what has happened since", async () => {
    await using place = await tempVault({});
    await (await first(place))[Symbol.asyncDispose]();

    await using run = new Run(place.pathOf("state"));
    const loading = run.load();
    run.hint("b");
    await loading;

    deepEqual(run.ids(), ["a", "b"]);
    run.log.noteOpened("a");
    const isOpened = run.log.list({ limit: 2 }).hints.map(({ openedAt }) => openedAt !== null);
    deepEqual(isOpened, [false, true]);
  });

  it("load() passes over lines that are none of its own, and half a line of a crash", async () => {
    await using place = await tempVault({});
    await (await first(place))[Symbol.asyncDispose]();
    const odd = [
      "",
      "{}",
      "null",
      '{"atMs":1,"hint":{"id":7}}',
      "\ud800 text",
      "[1",
      '{"atMs":1,"hin',
    ];
    await Deno.writeTextFile(place.pathOf(NAME), odd.join("\n"), { append: true });

    await using run = await open(place);
    run.hint("b");
    await run[Symbol.asyncDispose]();
    await using next = await open(place);

    deepEqual(next.ids(), ["a", "b"]);
    ok(next.log.sumUp({ limit: 9 }).since !== null);
  });

  it("load() leaves the record of another vault alone", async () => {
    await using place = await tempVault({});
    await (await first(place))[Symbol.asyncDispose]();

    await using other = new Run(place.pathOf("state"), silentLogger(), "/another/vault");
    await other.load();

    deepEqual(other.ids(), []);
  });

  it("load() knows which of two servers' hints was opened", async () => {
    await using place = await tempVault({});
    await using one = await open(place);
    await using two = await open(place);
    one.hint("a");
    const { at = "" } = one.log.list({ limit: 1 }).hints[0] ?? {};
    await untilSo("a moment has passed", () => Date.now() > Date.parse(at));
    two.hint("a");
    one.log.noteOpened("a");
    await Promise.all([one[Symbol.asyncDispose](), two[Symbol.asyncDispose]()]);

    await using next = await open(place);

    // By time: whichever of the two wrote its lines first.
    const hints = next.log.list({ limit: 2 }).hints.toSorted((a, b) => a.at < b.at ? 1 : -1);
    deepEqual(hints.map(({ openedAt }) => openedAt !== null), [false, true]);
  });

  it("append() loses nothing of two servers", async () => {
    await using place = await tempVault({});
    await using one = await open(place);
    await using two = await open(place);
    const ids = Array.from({ length: 200 }, (_, index) => `m${index}`);

    for (const [index, id] of ids.entries()) (index % 2 === 0 ? one : two).hint(id);
    await Promise.all([one[Symbol.asyncDispose](), two[Symbol.asyncDispose]()]);

    await using next = await open(place);
    deepEqual(next.ids().sort(), ids.sort());
  });

  it("load() shortens a file that has grown long, and keeps the last hints", async () => {
    await using place = await tempVault({});
    const write = async () => {
      await using run = await open(place);
      for (let i = 0; i < MAX_RECORDED_HINTS * 3 + 100; i++) run.hint(`m${i}`);
      run.log.noteOpened(`m${MAX_RECORDED_HINTS * 3}`);
    };
    await write();
    ok(linesOf(place).length > MAX_RECORDED_HINTS * 3);

    await using run = await open(place);
    run.hint("new");
    await run[Symbol.asyncDispose]();

    // One of them was opened.
    equal(linesOf(place).length, MAX_RECORDED_HINTS + 3);
    await using next = await open(place);
    equal(next.log.list({ limit: 1 }).total, MAX_RECORDED_HINTS);
    deepEqual([next.ids().at(-1), next.log.sumUp({ limit: 0 }).opened], ["new", 1]);
    deepEqual(listAll(place.root), ["state/", NAME]);
  });

  it("append() makes the file for this person alone", async () => {
    await using place = await tempVault({});
    await (await first(place))[Symbol.asyncDispose]();

    if (Deno.build.os === "windows") return;
    const modeOf = (path: string) => (Deno.statSync(place.pathOf(path)).mode ?? 0) & 0o777;
    deepEqual([modeOf("state"), modeOf(NAME)], [0o700, 0o600]);
  });

  it("append() says once that nothing can be kept, and the record goes on", async () => {
    await using place = await tempVault({ state: "a file stands in the way" });
    const warnings: string[] = [];
    const logger = { ...silentLogger(), warn: (event: string) => void warnings.push(event) };

    await using run = await open(place, logger);
    run.hint("a");
    run.hint("b");
    await run[Symbol.asyncDispose]();

    deepEqual([run.ids(), warnings], [["a", "b"], ["recall-log-not-kept"]]);
  });

  it("load() reads no more than the end of a file of any size", async () => {
    await using place = await tempVault({});
    await (await first(place))[Symbol.asyncDispose]();
    const [line = ""] = linesOf(place);
    const filler = `${"缓存".repeat(1_000)}\n`.repeat(4_000);
    ok(filler.length * 3 > 16 * 1_024 * 1_024);
    const last = line.replace('"a"', '"last"');
    await Deno.writeTextFile(place.pathOf(NAME), `${filler}${last}\n`, { append: true });

    await using run = await open(place);

    deepEqual(run.ids(), ["last"]);
    // Nor does it keep what is never read.
    equal(linesOf(place).length, 2);
  });
});

/** A run that has hinted one memory. */
async function first(place: TempVault): Promise<Run> {
  const run = await open(place);
  run.hint("a");
  return run;
}
