/**
 * A story of write-backs and of what a person does to the files between them, with what must be true
 * after each step: what was accepted is there once, and what the person wrote stays as it was.
 */
import { ok, strictEqual as equal } from "node:assert/strict";
import fc from "fast-check";
import type { Caller } from "@/lib/contracts.ts";
import { WriteBackInput } from "@/lib/contracts_journal.ts";
import { AppError } from "@/lib/errors.ts";
import { allEntries } from "@/lib/journal/all_entries.ts";
import { readLog } from "@/lib/journal/dated_log.ts";
import { MAX_DECISIONS, MAX_LOG_LINES } from "@/lib/journal/journal_templates.ts";
import type { JournalDocument } from "@/lib/journal/journal_document.ts";
import { datedIn, decisionsOf, readProjectNote } from "@/lib/journal/project_note.ts";
import { writeBack } from "@/lib/tasks/write_back.ts";
import { documentOf } from "./journal_text.ts";
import type { TestServices } from "./services.ts";

const CALLER: Caller = { kind: "owner", loopback: true };
const DAY_MS = 24 * 60 * 60_000;
export const PROJECTS = ["Harbor", "灯塔"] as const;

/** Words, and signs that mean something to Markdown, to Obsidian or to us. */
const PIECES: readonly string[] = [
  ..."缓存 改用 数据库 因为 启动 很快 失败 the cache starts fast because of SQLite 完成 done".split(
    " ",
  ),
  ..."** __ ` [[ ]] #tag | > - + * 1. <div> </p> $$ ^abc == --- ~~ ![ ]( : ： ， 。 \\ \\| & &amp;"
    .split(" "),
  ..."😀 👩‍👩‍👧 é ｆｕｌｌ “q” 'x' 2025-01-01：  2025/1/5: YYYY-MM-DD ## # <script> <pre> {{ %% <!-- -->"
    .split(" "),
  ..."最后更新：2025-01-01 最后命中：2025-01-01 状态： Next: 下次起点： **决策：** [x] [^1] [a]: > ⚠️ … /"
    .split(" "),
  "\t",
  "\u3000",
  "\u200b",
  "\u202e",
  "\n",
  "\r\n",
];

const anyWords = fc.array(
  fc.tuple(fc.constantFrom(...PIECES), fc.constantFrom("", " ", " ")),
  { maxLength: 9 },
).map((parts) => parts.map(([piece, gap]) => piece + gap).join(""));

/** Without its token, which makes it unlike all others. */
interface Words {
  readonly before: string;
  readonly after: string;
}

const anyText: fc.Arbitrary<Words> = fc.record({ before: anyWords, after: anyWords });

interface WriteStep {
  readonly kind: "write";
  readonly project: number;
  readonly language: "zh" | "en";
  readonly status: Words | undefined;
  readonly decisions: readonly Words[];
  readonly pitfalls: readonly Words[];
  readonly next: readonly Words[];
  readonly summary: Words | undefined;
  readonly profile: readonly { readonly words: Words; readonly section: string | undefined }[];
  readonly replaces: number | undefined;
}

interface PersonStep {
  readonly kind: "person";
  readonly path: number;
  readonly act: (typeof ACTS)[number];
  readonly pick: number;
}

interface NightStep {
  readonly kind: "night";
  readonly days: number;
}

export type Step = WriteStep | PersonStep | NightStep;

const ACTS = [
  "swap-sections",
  "add-section",
  "add-section-on-top",
  "drop-end-line",
  "to-crlf",
  "to-lf",
  "append-text",
  "nest-below-item",
  "drop-final-newline",
  "add-comment",
  "drop-blank-lines",
  "own-label",
  "own-label-behind",
  "code",
] as const;

const anyWrite: fc.Arbitrary<WriteStep> = fc.record({
  kind: fc.constant("write" as const),
  project: fc.nat(PROJECTS.length - 1),
  language: fc.constantFrom("zh", "en"),
  status: fc.option(anyText, { nil: undefined }),
  decisions: fc.array(anyText, { maxLength: 3 }),
  pitfalls: fc.array(anyText, { maxLength: 2 }),
  next: fc.array(anyText, { maxLength: 2 }),
  summary: fc.option(anyText, { nil: undefined }),
  profile: fc.array(
    fc.record({
      words: anyText,
      section: fc.constantFrom(undefined, "writing", "开发习惯", "pace", "other"),
    }),
    { maxLength: 2 },
  ),
  replaces: fc.option(fc.nat(20), { nil: undefined }),
});
const anyPerson: fc.Arbitrary<PersonStep> = fc.record({
  kind: fc.constant("person" as const),
  path: fc.nat(3),
  act: fc.constantFrom(...ACTS),
  pick: fc.nat(100),
});
const anyNight: fc.Arbitrary<NightStep> = fc.record({
  kind: fc.constant("night" as const),
  days: fc.integer({ min: 1, max: 40 }),
});

export const anyStory: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: anyWrite },
    { weight: 3, arbitrary: anyPerson },
    { weight: 1, arbitrary: anyNight },
  ),
  { minLength: 1, maxLength: 14 },
);

type Place = "decisions" | "pitfalls" | "log" | "profile";

interface Kept {
  readonly place: Place;
  readonly project: number;
  readonly token: string;
}

/** Plays a story in a vault. */
export class Story {
  readonly #services: TestServices;
  readonly #setNow: (nowMs: number) => void;
  #nowMs: number;
  #count = 0;
  #kept: Kept[] = [];
  /** Statuses and next starts: the newest of each project, and those that have gone. */
  readonly #now = new Map<string, readonly string[]>();
  readonly #gone: string[] = [];
  /** What a person wrote before may be more than we would keep. */
  readonly #isNew: boolean;
  readonly #persons = new Map<string, string[]>();
  /** What was refused, and how often something was accepted. */
  readonly counts = { accepted: 0, refused: 0 };

  constructor(services: TestServices, nowMs: number, setNow: (nowMs: number) => void) {
    this.#services = services;
    this.#nowMs = nowMs;
    this.#setNow = setNow;
    setNow(nowMs);
    this.#isNew = this.#paths().length === 0;
  }

  async play(step: Step): Promise<void> {
    switch (step.kind) {
      case "write":
        await this.#write(step);
        break;
      case "person":
        this.#edit(step);
        break;
      case "night":
        this.#nowMs += step.days * DAY_MS;
        this.#setNow(this.#nowMs);
    }
    this.check();
  }

  async #write(step: WriteStep): Promise<void> {
    const told: Kept[] = [];
    const say = (place: Place | "status" | "next", { before, after }: Words): string => {
      const token = `k${++this.#count}k`;
      if (place !== "status" && place !== "next") {
        told.push({ place, project: step.project, token });
      }
      return `${before.replace(/\^abc$/, "^abc ")}${token}${after}`;
    };
    const tokensIn = (texts: readonly string[]) =>
      texts.flatMap((text) => /k\d+k/.exec(text)?.[0] ?? []);
    const status = step.status && say("status", step.status);
    const next = step.next.map((words) => say("next", words));
    const entries = step.profile.map(({ words, section }) => ({
      text: say("profile", words),
      ...(section === undefined ? {} : { section }),
    }));
    const replaced = this.#pickProfile(step.replaces);
    const input = WriteBackInput.parse({
      trigger: step.language === "zh" ? "更新记忆" : "update memory",
      project: PROJECTS[step.project],
      ...(status === undefined ? {} : { status }),
      decisions: step.decisions.map((words) => say("decisions", words)),
      pitfalls: step.pitfalls.map((words) => say("pitfalls", words)),
      next,
      ...(step.summary === undefined ? {} : { summary: say("log", step.summary) }),
      profile: entries.map((entry, index) =>
        index === 0 && replaced ? { ...entry, replaces: replaced.id } : entry
      ),
    });
    try {
      const answer = await writeBack(this.#services, CALLER, input);
      equal(answer.notWritten, undefined, JSON.stringify(answer.notWritten));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      this.counts.refused++;
      return;
    }
    this.counts.accepted++;
    this.#kept.push(...told);
    if (replaced && entries.length > 0) {
      this.#gone.push(replaced.token);
      this.#kept = this.#kept.filter(({ token }) => token !== replaced.token);
    }
    for (const [name, texts] of [["status", status ? [status] : []], ["next", next]] as const) {
      if (texts.length === 0) continue;
      const key = `${name} ${step.project}`;
      this.#gone.push(...this.#now.get(key) ?? []);
      this.#now.set(key, tokensIn(texts));
    }
  }

  /** One of the entries that were written, and are in the profile still. */
  #pickProfile(pick: number | undefined): { id: string; token: string } | undefined {
    const document = this.#read("profile.md");
    if (pick === undefined || document === undefined) return undefined;
    const ours = allEntries(document, "p").flatMap(({ id, text }) => {
      const kept = this.#kept.find(({ place, token }) =>
        place === "profile" && text.includes(token)
      );
      return kept ? [{ id, token: kept.token }] : [];
    });
    return ours[pick % Math.max(1, ours.length)];
  }

  #edit({ path: pathIndex, act, pick }: PersonStep): void {
    const path = ["profile.md", "session-log.md", ...PROJECTS.map((it) => `projects/${it}.md`)][
      pathIndex
    ] ?? "profile.md";
    const text = this.#text(path);
    if (text === undefined) return;
    const eol = text.includes("\r\n") ? "\r\n" : "\n";
    const mine = (line: string): string => {
      const whole = line.replace("@", `h${++this.#count}h`);
      this.#persons.set(path, [...this.#persons.get(path) ?? [], whole]);
      return whole;
    };
    const lines = text.split(/\r?\n/);
    const put = (edited: readonly string[]) => this.#services.write(path, edited.join(eol));
    switch (act) {
      case "swap-sections":
        return put(swapSections(lines, pick));
      case "add-section":
      case "add-section-on-top": {
        const heads = headsOf(lines);
        const at = act === "add-section" ? heads[pick % (heads.length || 1)] : heads[0];
        const added = [
          mine("## My own @"),
          mine("- my item @"),
          "",
          mine("my words: @ **bold**"),
          "",
        ];
        return put(
          lines.toSpliced(at ?? lines.length, 0, ...(at === undefined ? [""] : []), ...added),
        );
      }
      case "drop-end-line":
        return put(
          lines.filter((line) =>
            !/^(?:---$|(?:最后更新：|Last updated: )\d{4}-\d\d-\d\d$)/.test(line)
          ),
        );
      case "to-crlf":
        return this.#services.write(path, lines.join("\r\n"));
      case "to-lf":
        return this.#services.write(path, lines.join("\n"));
      case "append-text":
        return put([...lines, "", mine("A last word @"), ""]);
      case "nest-below-item": {
        const items = lines.flatMap((line, at) => /^- \d{4}-/.test(line) ? [at] : []);
        const at = items[pick % (items.length || 1)];
        return at === undefined ? undefined : put(lines.toSpliced(at + 1, 0, mine("  - nested @")));
      }
      case "drop-final-newline":
        return put(lines.join("\n").trimEnd().split("\n"));
      case "add-comment":
        return put(lines.toSpliced(headAt(lines, pick), 0, mine("<!-- note @ -->")));
      case "own-label":
      case "own-label-behind": {
        const words = act === "own-label"
          ? /^\*\*(?:下次起点|Next start)/
          : /^## (?:踩坑|Pitfalls)/;
        const at = lines.findIndex((line) => words.test(line));
        const added = [mine("**mine @：**"), mine("- of mine @"), ""];
        return put(at < 0 ? [...lines, ...added] : lines.toSpliced(at, 0, ...added));
      }
      case "code": {
        const added = ["", "```", mine("## 当前状态 @"), mine("- 2026-01-01：code @"), "```", ""];
        return put(lines.toSpliced(headAt(lines, pick), 0, ...added));
      }
      case "drop-blank-lines":
        return put(lines.filter((line, at) => line !== "" || /^---$/.test(lines[at + 1] ?? "")));
    }
  }

  check(): void {
    const files = this.#paths().map((path) => ({ path, text: this.#text(path) ?? "" }));
    const shown = files.map(({ path, text }) => `=== ${path}\n${text}`).join("\n");
    const groups = Map.groupBy(this.#kept, ({ place, project }) => `${place} ${project}`);
    for (const group of groups.values()) {
      const texts = group.slice(0, 1).flatMap((first) => this.#textsBeside(first));
      for (const { place, token } of group) {
        const times = texts.filter((text) => text.includes(token)).length;
        equal(times, 1, `${place} ${token} is not there once\n${shown}`);
      }
    }
    const all = files.map(({ text }) => text).join("\n");
    const times = (token: string) => all.split(token).length - 1;
    for (const { token } of this.#kept) equal(times(token), 1, `${token} twice\n${shown}`);
    for (const token of this.#gone) equal(times(token), 0, `${token} is still there\n${shown}`);
    for (const token of [...this.#now.values()].flat()) {
      equal(times(token), 1, `${token}\n${shown}`);
    }
    for (const [path, lines] of this.#persons) {
      const there = (this.#text(path) ?? "").split(/\r?\n/);
      for (const line of lines) ok(there.includes(line), `${path} lost "${line}"\n${shown}`);
    }
    if (!this.#isNew) return;
    for (const path of PROJECTS.map((it) => `projects/${it}.md`)) {
      const status = this.#note(path)?.status;
      if (status) ok(decisionsOf(status).length <= MAX_DECISIONS, shown);
    }
    const log = this.#read("session-log.md");
    if (log) ok(readLog(log).length <= MAX_LOG_LINES, shown);
  }

  /** Returns all texts of where something was kept. */
  #textsBeside({ place, project }: Kept): string[] {
    if (place === "profile") {
      const document = this.#read("profile.md");
      return document ? allEntries(document, "p").map(({ text }) => text) : [];
    }
    if (place === "log") {
      return ["session-log.md", "session-log.archive.md"].flatMap((each) => {
        const document = this.#read(each);
        return document ? readLog(document).map(({ text }) => text) : [];
      });
    }
    const note = this.#note(`projects/${PROJECTS[project]}.md`);
    if (note === undefined) return [];
    const decisions = [
      ...(note.status ? decisionsOf(note.status) : []),
      ...datedIn(note, note.history),
    ];
    return (place === "decisions" ? decisions : datedIn(note, note.pitfalls)).map(({ text }) =>
      text
    );
  }

  #note(path: string): ReturnType<typeof readProjectNote> | undefined {
    const document = this.#read(path);
    return document && readProjectNote(document);
  }

  #read(path: string): JournalDocument | undefined {
    const text = this.#text(path);
    return text === undefined ? undefined : documentOf(text, path);
  }

  #paths(): string[] {
    return [
      "profile.md",
      "session-log.md",
      "session-log.archive.md",
      ...PROJECTS.map((it) => `projects/${it}.md`),
    ].filter((path) => this.#text(path) !== undefined);
  }

  #text(path: string): string | undefined {
    try {
      return Deno.readTextFileSync(this.#services.pathOf(path));
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return undefined;
      throw error;
    }
  }
}

function headAt(lines: readonly string[], pick: number): number {
  const heads = headsOf(lines);
  return heads[pick % (heads.length || 1)] ?? lines.length;
}

/** Where sections begin; what stands in code only looks like one. */
function headsOf(lines: readonly string[]): number[] {
  let isCode = false;
  return lines.flatMap((line, at) => {
    if (/^```/.test(line)) isCode = !isCode;
    return !isCode && /^## /.test(line) ? [at] : [];
  });
}

/** Exchanges two neighbours; the lines that end the file stay where they are. */
function swapSections(lines: readonly string[], pick: number): string[] {
  const end = lines.findIndex((line) => line === "---");
  const stop = end < 0 ? lines.length : end;
  const heads = headsOf(lines).filter((at) => at < stop);
  if (heads.length < 2) return [...lines];
  const nth = pick % (heads.length - 1);
  const [from = 0, middle = 0, to = stop] = heads.slice(nth, nth + 3);
  return [
    ...lines.slice(0, from),
    ...lines.slice(middle, to),
    ...lines.slice(from, middle),
    ...lines.slice(to),
  ];
}
