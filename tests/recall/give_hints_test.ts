import {
  deepStrictEqual as deepEqual,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import type { Caller } from "@/lib/contracts.ts";
import {
  type HintsAnswer,
  HintsAnswerShape,
  HintsInput,
  MAX_ASSISTANT_HINTS,
  MAX_CANDIDATES,
  MAX_USER_HINTS,
  SUPPRESSION_RUNS,
} from "@/lib/contracts_recall.ts";
import { giveHints } from "@/lib/recall/give_hints.ts";
import type { Config } from "@/lib/config.ts";
import type { Seams } from "@/lib/services.ts";
import { filtered } from "@/tests/_support/filtered_events.ts";
import { until } from "@/tests/_support/until.ts";
import { conceptEmbedder } from "@/tests/_support/concept_embedder.ts";
import { type TestServices, testServices } from "@/tests/_support/services.ts";
import type { Files } from "@/tests/_support/temp_vault.ts";

const AGENT: Caller = { kind: "agent", loopback: true };

/** Quoted, as descriptions may hold anything. */
const memory = (id: string, description: string, more = "", body = "") =>
  `---\nid: ${JSON.stringify(id)}\nname: ${id}\ndescription: ${
    JSON.stringify(description)
  }\n${more}---\n${body}\n`;

async function openWorld(
  files: Files,
  config: Partial<Config> = {},
  seams: Partial<Seams> = {},
): Promise<TestServices> {
  const services = await testServices(files, config, seams);
  await services.ready();
  return services;
}

function withMinScore(services: TestServices, recallMinScore: number): TestServices {
  return { ...services, config: { ...services.config, recallMinScore } };
}

type Asked = Partial<Parameters<typeof HintsInput.parse>[0] & object>;

function ask(services: TestServices, asked: Asked, caller = AGENT): Promise<HintsAnswer> {
  const input = { trigger: "user", session: "s", text: "zebra stripes", ...asked };
  return giveHints(services, caller, HintsInput.parse(input));
}

const idsOf = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id);
const NOTHING = { text: "", hints: [], candidates: [], suppressed: [], dropped: 0 };

const ZEBRA = memory("zebra", "zebra stripes confuse flies");

describe("giveHints()", () => {
  it("giveHints() returns lines that are ready to inject, and the same as data", async () => {
    await using services = await openWorld({ "memories/a.md": ZEBRA });

    const answer = HintsAnswerShape.parse(await ask(services, {}));

    const score = answer.hints[0]?.score ?? 0;
    ok(score >= 0.5 && score <= 1);
    deepEqual(answer, {
      ...NOTHING,
      fallback: { from: "hybrid", to: "keyword", reason: answer.fallback?.reason },
      text: `[recall]\n- zebra | score=${score.toFixed(2)} | zebra | zebra stripes confuse flies`,
      hints: [{ id: "zebra", score, name: "zebra", description: "zebra stripes confuse flies" }],
    });
  });

  it("giveHints() knows a memory that was written a moment ago", async () => {
    await using services = await openWorld({});
    services.write("memories/a.md", ZEBRA);

    deepEqual(idsOf((await ask(services, {})).hints), ["zebra"]);
  });

  const left: readonly (readonly [name: string, files: Files])[] = [
    ["a note that is no memory", {
      "a.md": "---\ndescription: zebra stripes\n---\nzebra stripes\n",
    }],
    [
      "a memory without a description",
      { "memories/a.md": "---\nid: m\nname: zebra stripes\n---\nzebra stripes\n" },
    ],
    ["a blank description", { "memories/a.md": memory("m", "\u200b \u0000", "", "zebra stripes") }],
    ["a deprecated memory", {
      "memories/a.md": memory("m", "zebra stripes", "status: deprecated\n"),
    }],
    [
      "memories that claim one id",
      { "memories/a.md": memory("m", "zebra stripes"), "b.md": memory("m", "zebra stripes") },
    ],
    ["an id that cannot be handed back", { "memories/a.md": memory("m|x", "zebra stripes") }],
    ["what is far from the message", {
      "memories/a.md": memory("m", "a long way to the zebra park"),
    }],
    ["what is in private/", { "private/a.md": ZEBRA }],
  ];
  for (const [name, files] of left) {
    it(`giveHints() leaves out ${name}`, async () => {
      await using services = await openWorld(files);

      const answer = await ask(services, {});

      deepEqual([answer.text, answer.hints], ["", []]);
    });
  }

  it("giveHints() finds a memory behind any number of notes that it must not show", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 200 }, (_, index) => [
        `memories/${index}.md`,
        `---
id: m${index}
name: zebra stripes
---
zebra stripes
`,
      ]),
    );
    await using services = await openWorld({ ...files, "memories/a.md": ZEBRA });

    deepEqual(idsOf((await ask(services, {})).hints), ["zebra"]);
  });

  it("giveHints() finds a memory behind any number of those whose ids cannot be shown", async () => {
    const files = Object.fromEntries(
      Array.from(
        { length: 80 },
        (_, i) => [`memories/${i}.md`, memory(`bad|${i}`, "zebra stripes")],
      ),
    );
    await using services = await openWorld({ ...files, "memories/a.md": ZEBRA });

    deepEqual(idsOf((await ask(services, {})).hints), ["zebra"]);
    const odd = services.index.diagnostics().filter(({ reason }) => reason === "odd-id");
    equal(odd.length, 80);
  });

  it("giveHints() keeps to the threshold of the settings", async () => {
    const at = async (recallMinScore: number) => {
      await using services = await openWorld({ "memories/a.md": ZEBRA }, { recallMinScore });
      return (await ask(services, {})).hints.length;
    };

    deepEqual([await at(0), await at(0.5), await at(1)], [1, 1, 0]);
  });

  it("giveHints() takes three for a message, two for an output, and counts the rest", async () => {
    const files = Object.fromEntries(
      ["a", "b", "c", "d", "e"].map((id) => [`memories/${id}.md`, memory(id, "zebra stripes")]),
    );
    await using services = await openWorld(files);

    const message = await ask(services, { session: "1" });
    const output = await ask(services, { session: "2", trigger: "assistant" });

    deepEqual([idsOf(message.hints), message.dropped], [["a", "b", "c"], 2]);
    deepEqual(message.candidates, []);
    deepEqual([idsOf(output.hints), output.dropped], [["a", "b"], 3]);
    deepEqual(idsOf(output.candidates), ["a", "b", "c"]);
    ok(!("description" in (output.candidates[0] ?? {})));
  });

  it("giveHints() shows candidates of an output that are not worth a hint", async () => {
    await using services = await openWorld({
      "memories/a.md": memory("far", "a long way to the zebra park near the old mill"),
    });

    const answer = await ask(services, {
      trigger: "assistant",
      text: "zebra crossing paint dries",
    });

    deepEqual([answer.text, idsOf(answer.hints), idsOf(answer.candidates)], ["", [], ["far"]]);
  });

  it("giveHints() hints nothing twice, and says what it holds back", async () => {
    await using services = await openWorld({ "memories/a.md": ZEBRA });

    const first = await ask(services, {});
    const output = await ask(services, { trigger: "assistant" });
    const next = await ask(services, {});
    const later = [];
    for (let i = 0; i < SUPPRESSION_RUNS; i++) later.push((await ask(services, {})).hints.length);

    equal(first.hints.length, 1);
    deepEqual([output.hints, idsOf(output.suppressed)], [[], ["zebra"]]);
    deepEqual([next.hints, idsOf(next.suppressed)], [[], ["zebra"]]);
    deepEqual(later, [...Array(SUPPRESSION_RUNS - 1).fill(0), 1]);
  });

  it("giveHints() does not hint one memory twice to requests at the same time", async () => {
    await using services = await openWorld({ "memories/a.md": ZEBRA });

    const answers = await Promise.all(
      Array.from(
        { length: 20 },
        (_, index) => ask(services, { run: "r", trigger: index % 2 === 0 ? "user" : "assistant" }),
      ),
    );

    equal(answers.flatMap(({ hints }) => hints).length, 1);
  });

  it("giveHints() records after the last output of a run, and hints nothing", async () => {
    await using services = await openWorld({ "memories/a.md": ZEBRA });

    const last = await ask(services, { trigger: "assistant", final: true });
    const next = await ask(services, {});

    deepEqual([last.text, last.hints, idsOf(last.candidates)], ["", [], ["zebra"]]);
    deepEqual(idsOf(next.hints), ["zebra"]);
    const { hints } = services.recallLog.list({ limit: 10 });
    deepEqual(hints.map(({ id, given }) => [id, given]), [["zebra", true], ["zebra", false]]);
  });

  it("giveHints() gives and keeps nothing when it is switched off", async () => {
    await using services = await openWorld({ "memories/a.md": ZEBRA });
    await using off = await openWorld({ "memories/a.md": ZEBRA }, { recall: "off" });

    deepEqual(await ask(services, { recall: "off" }), { ...NOTHING, recall: "off" });
    deepEqual(await ask(off, {}), { ...NOTHING, recall: "off" });

    equal(services.hintSessions.size + off.hintSessions.size, 0);
    equal(services.recallLog.list({ limit: 1 }).total, 0);
    equal((await ask(services, {})).hints.length, 1);
  });

  it("giveHints() is quiet in a run in which the person wants no memory", async () => {
    await using services = await openWorld({ "memories/a.md": ZEBRA });
    const user = (text: string, run: string) => ask(services, { text, run });
    const output = (run: string) =>
      ask(services, { trigger: "assistant", text: "zebra stripes", run });

    deepEqual(await user("不用记忆，写一段 zebra stripes", "r1"), NOTHING);
    deepEqual(await output("r1"), NOTHING);
    deepEqual(idsOf((await user("zebra stripes", "r2")).hints), ["zebra"]);
  });

  it("giveHints() says nothing to small talk and blanks", async () => {
    await using services = await openWorld({
      "memories/a.md": memory("m", "ok continue yes fix it 继续 好的"),
    });

    for (const text of ["ok", "continue", "fix it", "好的，继续", " ", ""]) {
      deepEqual(await ask(services, { text }), NOTHING, text);
    }
  });

  it("giveHints() finds the one telling sentence of a long message", async () => {
    const lines = Array.from({ length: 200 }, (_, i) => `step ${i} has gone by without a word`);
    const others = Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [`memories/${i}.md`, memory(`m${i}`, `topic ${i}`)]),
    );
    await using services = await openWorld({
      ...others,
      "memories/a.md": memory("busy", "SQLITE_BUSY: database is locked, begin immediate"),
    });

    lines.splice(90, 0, "Error: SQLITE_BUSY: database is locked");
    const answer = await ask(services, { trigger: "assistant", text: lines.join("\n") });

    deepEqual(idsOf(answer.hints), ["busy"]);
  });

  it("giveHints() does not count as hinted what nobody waited for", async () => {
    await using services = await openWorld({ "memories/a.md": ZEBRA });
    const leaving = new AbortController();

    const asking = ask(services, {}, { ...AGENT, signal: leaving.signal });
    leaving.abort(new Error("gone"));
    await rejects(asking, /gone/);

    deepEqual(idsOf((await ask(services, {})).hints), ["zebra"]);
    equal(services.recallLog.list({ limit: 10 }).total, 1);
  });

  it("giveHints() finds something in a long message of nothing but short lines", async () => {
    const others = Array.from(
      { length: 30 },
      (_, i) => [`memories/${i}.md`, memory(`m${i}`, `x ${i}`)],
    );
    await using services = await openWorld({
      ...Object.fromEntries(others),
      "memories/a.md": memory("busy", "SQLITE_BUSY: database is locked"),
    });
    const lines = Array.from({ length: 51 }, (_, i) => `task ${i} ok`);

    const text = [...lines, "SQLITE_BUSY"].join("\n");
    const answer = await ask(services, { trigger: "assistant", text });

    ok(text.length > 400);
    equal(answer.candidates[0]?.id, "busy");
  });

  it("giveHints() holds back what was hinted before, however many runs open meanwhile", async () => {
    await using services = await openWorld({ "memories/a.md": ZEBRA });
    await ask(services, {});

    const answers = await Promise.all(
      Array.from({ length: SUPPRESSION_RUNS + 1 }, () => ask(services, {})),
    );

    deepEqual(answers.map(({ hints }) => hints.length), [...Array(SUPPRESSION_RUNS).fill(0), 1]);
  });

  it("giveHints() keeps nothing of a request that it refuses", async () => {
    await using services = await openWorld({ "memories/a.md": ZEBRA });
    await ask(services, {});

    for (let i = 0; i < SUPPRESSION_RUNS; i++) {
      await rejects(ask(services, { cwd: "here" }), { code: "invalid-request" });
      await rejects(ask(services, { session: `other ${i}`, repo: "no remote" }));
    }

    deepEqual([(await ask(services, {})).hints, services.hintSessions.size], [[], 1]);
  });

  it("giveHints() never keeps others waiting, whatever message and memories hold", async () => {
    const hostile = ["[", "”", ")", "<", '"', "。", "] ", "|"].map((sign) => sign.repeat(8_000));
    const files = Object.fromEntries(
      Array.from({ length: 60 }, (_, i) => {
        const blanks = `zebra [${" ".repeat(2_500)}${"[x ".repeat(1_000)}`;
        return [`memories/${i}.md`, memory(`m${i}`, blanks)];
      }),
    );
    await using services = await openWorld(files);

    for (
      const text of [...hostile, `zebra ${"中”".repeat(40_000)}`, "zebra stripes [".repeat(20_000)]
    ) {
      for (const trigger of ["user", "assistant"] as const) {
        await ask(services, { session: trigger + text.length, trigger, text });
      }
    }
  });

  it("giveHints() finds what is new behind any number of memories that are held back", async () => {
    const held = Array.from(
      { length: 90 },
      (_, i) => memory(`m${i}`, "stripes and colours confuse flies, says the cat"),
    );
    await using services = await openWorld(
      {
        ...Object.fromEntries(held.map((text, i) => [`memories/${i}.md`, text])),
        "memories/z.md": memory(
          "z",
          "stripes and colours confuse flies, says the cat",
          "",
          "and more ".repeat(9),
        ),
      },
      { embedding: "static" },
      { embedder: conceptEmbedder() },
    );
    const ids = Array.from({ length: 90 }, (_, i) => `m${i}`);
    for (const session of ["s", "t"]) {
      services.hintSessions.enter({ session, trigger: "user" }).mark(ids);
    }
    const zebra = "stripes and colours confuse flies, says the cat";

    const alone = await ask(services, { text: zebra });
    // Behind another sentence, in a message that is not compared as a whole.
    const text = `${"of cats and rivers and loaves and caches, ".repeat(10)}.\n${zebra}.`;
    const behind = await ask(withMinScore(services, 0.3), { session: "t", text });

    deepEqual([idsOf(alone.hints), alone.suppressed.length], [["z"], 10]);
    deepEqual([idsOf(behind.hints), behind.suppressed.length], [["z"], 10]);
  });

  it("giveHints() asks for the meaning of the whole, and of parts where words match", async () => {
    const embedder = conceptEmbedder();
    const files = {
      "memories/a.md": memory("m", "a kitten"),
      "memories/b.md": memory("n", "a loaf"),
    };
    await using services = await openWorld(files, { embedding: "static" }, { embedder });
    const filler = "one two three four five six seven. ".repeat(15);

    // In the other language, where meaning alone is enough.
    const first = await ask(services, { session: "1", text: `我的猫坐在那里看书。${filler}` });
    const later = await ask(services, { session: "2", text: `${filler}我的面包放在那里凉着。` });

    deepEqual([idsOf(first.hints), idsOf(later.hints)], [["m"], []]);
  });

  const onLinux = Deno.build.os === "linux" ? it : it.skip;
  onLinux("giveHints() shows no memory as it was, if nothing was heard of a change", async () => {
    const texts = ["m0", "m1", "m2", "m3"].map((id) => memory(id, "zebra stripes confuse flies"));
    const files = Object.fromEntries(texts.map((text, i) => [`memories/${i}.md`, text]));
    const openEvents = filtered(({ paths }) => !paths.some((path) => path.endsWith("3.md")));
    await using services = await openWorld(files, { freshness: "auto" }, { openEvents });
    await until(async () => {
      await services.index.refresh();
      return services.index.freshness.mode === "watch";
    });
    services.hintSessions.enter({ session: "s", run: "r", trigger: "user" }).mark([
      "m0",
      "m1",
      "m2",
    ]);

    services.write("memories/3.md", memory("m3", "something else", "status: deprecated\n"));
    const answer = await ask(services, { run: "r" });

    deepEqual([answer.text, answer.hints], ["", []]);
  });

  it("giveHints() lets memories of the project come first, and others come too", async () => {
    const repo = "https://example.org/team/site.git";
    await using services = await openWorld({
      "memories/a.md": memory("a", "zebra stripes of all", "tags: [project/other]\n"),
      "memories/b.md": memory("b", "zebra stripes of all", "tags: [a/site]\n"),
      "memories/c.md": memory("c", "zebra stripes of all", "tags: [Project/Site]\n"),
    });

    const anywhere = await ask(services, { session: "1" });
    const here = await ask(services, { session: "2", repo });

    deepEqual(idsOf(anywhere.hints), ["a", "b", "c"]);
    deepEqual(idsOf(here.hints), ["c", "a", "b"]);
    const scoreOf = ({ hints }: HintsAnswer) => hints.find(({ id }) => id === "c")?.score;
    equal(scoreOf(here), scoreOf(anywhere));
  });

  it("giveHints() refuses a wrong place to work in", async () => {
    await using services = await openWorld({ "memories/a.md": ZEBRA });

    await rejects(ask(services, { cwd: "here" }), { code: "invalid-request" });
    await rejects(ask(services, { cwd: "/x" }, { ...AGENT, loopback: false }), {
      code: "invalid-request",
    });
    await rejects(ask(services, { repo: "no remote" }), { code: "invalid-request" });
  });

  it("giveHints() goes by meaning too, and asks more of meaning alone", async () => {
    const files = { "memories/a.md": memory("m", "a cat on a mat", "", "cat ".repeat(20)) };
    const embedder = conceptEmbedder();
    await using services = await openWorld(files, { embedding: "static" }, { embedder });

    const near = await ask(services, { session: "1", text: "猫" });
    const far = await ask(withMinScore(services, 0.96), {
      session: "2",
      text: "猫面包",
      trigger: "assistant",
    });

    deepEqual([idsOf(near.hints), near.fallback], [["m"], undefined]);
    equal(far.hints.length, 0);
    ok((far.candidates[0]?.score ?? 1) < 1);
  });
});

/** What a session looks like to somebody who only sees requests and answers. */
class SessionModel {
  readonly #runs: { name: string | undefined; hinted: Set<string> }[] = [];
  #current = -1;

  /** Returns the ids that may not be hinted now, and takes down those that were. */
  check({ trigger, run, final }: ModelCall, ids: readonly string[], candidates: number): void {
    this.#enter(run, trigger);
    const own = this.#runs[this.#current]?.hinted ?? new Set<string>();
    // Whichever way one counts, if an earlier run goes on.
    const before = [
      ...this.#runs.slice(Math.max(0, this.#current - SUPPRESSION_RUNS), this.#current),
      ...this.#runs.slice(-SUPPRESSION_RUNS),
    ];
    const held = trigger === "user" ? [own, ...before.map(({ hinted }) => hinted)] : [own];
    for (const id of ids) {
      ok(!held.some((hinted) => hinted.has(id)), `${id} was hinted before`);
    }
    equal(new Set(ids).size, ids.length);
    ok(ids.length <= (final ? 0 : trigger === "user" ? MAX_USER_HINTS : MAX_ASSISTANT_HINTS));
    ok(candidates <= (trigger === "user" ? 0 : MAX_CANDIDATES));
    for (const id of ids) own.add(id);
  }

  #enter(name: string | undefined, trigger: string): void {
    const known = name === undefined ? -1 : this.#runs.findIndex((run) => run.name === name);
    if (known >= 0) this.#current = known;
    else if (name !== undefined || trigger === "user" || this.#current < 0) {
      this.#current = this.#runs.push({ name, hinted: new Set() }) - 1;
    }
  }
}

interface ModelCall {
  readonly trigger: "user" | "assistant";
  readonly run: string | undefined;
  readonly final: boolean;
  readonly session: string;
  readonly text: string;
}

const TOPICS = ["zebra", "otter", "heron", "lynx"];

const anyCall: fc.Arbitrary<ModelCall> = fc.record({
  trigger: fc.constantFrom("user", "assistant"),
  run: fc.option(fc.integer({ min: 1, max: 15 }).map((run) => `r${run}`), {
    nil: undefined,
    freq: 1,
  }),
  final: fc.integer({ min: 0, max: 5 }).map((dice) => dice === 0),
  session: fc.constantFrom("s", "t"),
  text: fc.constantFrom(
    ...TOPICS,
    ...TOPICS.map((topic) => `${topic} of the river bank. And a day`),
  ),
});

describe("giveHints() in any sequence of calls", () => {
  it("giveHints() repeats nothing too soon, and exceeds no limit", async () => {
    const files = Object.fromEntries(
      TOPICS.flatMap((topic) =>
        Array.from({ length: 12 }, (_, index) => {
          const id = `${topic}${index}`;
          return [`memories/${id}.md`, memory(id, `${topic} ${"x".repeat(index)}`)];
        })
      ),
    );
    await using services = await openWorld(files);
    let turn = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(anyCall, { minLength: 20, maxLength: 80 }), async (calls) => {
        turn++;
        const models = new Map<string, SessionModel>();
        for (const call of calls) {
          const session = `${turn} ${call.session}`;
          const model = models.get(session) ?? new SessionModel();
          models.set(session, model);

          const answer = await ask(services, { ...call, session });

          model.check(call, idsOf(answer.hints), answer.candidates.length);
          const lines = answer.text === "" ? [] : answer.text.split("\n");
          equal(lines.length, answer.hints.length === 0 ? 0 : answer.hints.length + 1);
        }
      }),
      { numRuns: 60 },
    );
  });
});
