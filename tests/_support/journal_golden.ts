/**
 * What a vault of the fixtures shows when a task begins, and what one write-back changes in it, as a
 * text for people: one that was made by hand, in a form that nobody planned, must come out well.
 */
import { fileURLToPath } from "node:url";
import type { Caller } from "@/lib/contracts.ts";
import { BeginTaskInput, WriteBackInput } from "@/lib/contracts_journal.ts";
import { AppError } from "@/lib/errors.ts";
import { allEntries } from "@/lib/journal/all_entries.ts";
import { readJournalFile } from "@/lib/journal/journal_files.ts";
import { PROFILE_PATH } from "@/lib/journal/journal_files.ts";
import { PROFILE_PREFIX } from "@/lib/journal/profile_edit.ts";
import { systemClock } from "@/lib/seams.ts";
import { beginTask } from "@/lib/tasks/begin_task.ts";
import { writeBack } from "@/lib/tasks/write_back.ts";
import { lineDiff } from "./line_diff.ts";
import { type TestServices, testServices } from "./services.ts";
import { listAll } from "./temp_vault.ts";
import { NOW_MS } from "./writing.ts";

const FIXTURES = new URL("../fixtures/journal/", import.meta.url);
const CALLER: Caller = { kind: "owner", loopback: true };

const WISHES = {
  zh: {
    trigger: "更新记忆",
    status: "登录做完了，缓存还没接",
    decisions: ["缓存改用 SQLite，因为启动快"],
    pitfalls: ["测试依赖时区，在 CI 上失败，改用 UTC 后好了"],
    next: ["接缓存", "补测试"],
    type: "项目开发",
    summary: "做完登录",
    added: { text: "函数不超过四十行", section: "development" },
    replacing: "说话先讲结论",
  },
  en: {
    trigger: "update memory",
    status: "Sign-in is done, the cache is not connected yet",
    decisions: ["The cache is SQLite now, as it starts fast"],
    pitfalls: ["Tests went by the time zone and failed on CI; UTC helped"],
    next: ["Connect the cache", "Write tests"],
    type: "development",
    summary: "Finished sign-in",
    added: { text: "No function beyond forty lines", section: "development" },
    replacing: "The conclusion comes first",
  },
} as const;

/** Returns the names of the fixtures, sorted. */
export function journalFixtures(): string[] {
  return Array.from(Deno.readDirSync(FIXTURES))
    .flatMap(({ name, isDirectory }) => isDirectory ? [name] : []).sort();
}

/** Returns where the golden text of a fixture lies. */
export function goldenPath(name: string): string {
  return fileURLToPath(new URL(`${name}.golden.md`, FIXTURES));
}

/** Makes the text anew. */
export async function makeGolden(name: string): Promise<string> {
  const files = filesOf(name);
  await using services = await testServices(files, {}, {
    clock: { ...systemClock, nowMs: () => NOW_MS },
  });
  const project = projectOf(files);
  const begun = await beginTask(services, CALLER, BeginTaskInput.parse({ projects: [project] }));
  const { text, projects = [], notices = [], truncated = [] } = begun;
  const first = await firstEntry(services);
  const { added, replacing, ...wish } = WISHES[name.endsWith("-en") ? "en" : "zh"];
  const profile = [
    added,
    ...(first === undefined ? [] : [{ text: replacing, replaces: first }]),
  ];
  const input = WriteBackInput.parse({ ...wish, project, profile });
  const said = await answerOf(services, input);
  const changes = await changesIn(services, files);
  const again = await answerOf(
    services,
    WriteBackInput.parse({ ...wish, project, profile: [added] }),
  );
  const head = [
    ...projects.flatMap(({ problem }) => problem ? [`problem: ${problem}`] : []),
    ...notices.map((notice) => `notice: ${notice}`),
    ...truncated.map((cut) => `truncated: ${cut}`),
  ];
  return [
    `# ${name}`,
    "## A task begins",
    ...head,
    fenced(text ?? ""),
    "## A write-back",
    said,
    ...changes,
    "## The same once more",
    again,
  ].join("\n\n") + "\n";
}

/** Returns the files of a fixture, by path. */
export function filesOf(name: string): Record<string, Uint8Array> {
  const folder = fileURLToPath(new URL(`${name}/`, FIXTURES));
  return Object.fromEntries(
    listAll(folder).filter((path) => path.endsWith(".md"))
      .map((path) => [path, Deno.readFileSync(folder + path)]),
  );
}

function projectOf(files: Readonly<Record<string, Uint8Array>>): string {
  const [path = ""] = Object.keys(files).filter((path) => path.startsWith("projects/"));
  return path.replace(/^projects\/|\.md$/g, "");
}

async function firstEntry(services: TestServices): Promise<string | undefined> {
  const reading = await readJournalFile(services, PROFILE_PATH);
  if (reading.state !== "read") return undefined;
  return allEntries(reading.document, PROFILE_PREFIX)[0]?.id;
}

async function answerOf(services: TestServices, input: WriteBackInput): Promise<string> {
  try {
    const { message, notices = [] } = await writeBack(services, CALLER, input);
    return [message, ...notices.map((notice) => `notice: ${notice}`)].join("\n\n");
  } catch (error) {
    if (error instanceof AppError) return `${error.code}: ${error.message}`;
    throw error;
  }
}

async function changesIn(
  services: TestServices,
  before: Readonly<Record<string, Uint8Array>>,
): Promise<string[]> {
  const paths = listAll(services.root).filter((path) => path.endsWith(".md"));
  const all = [...new Set([...Object.keys(before), ...paths])].sort();
  const decode = (bytes: Uint8Array | undefined) =>
    new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes ?? new Uint8Array());
  const parts: string[] = [];
  for (const path of all) {
    const after = paths.includes(path) ? await Deno.readFile(services.pathOf(path)) : undefined;
    const lines = lineDiff(decode(before[path]), decode(after));
    parts.push(`### ${path}`, lines.length === 0 ? "unchanged" : fenced(lines.join("\n")));
  }
  return parts;
}

function fenced(text: string): string {
  return text === "" ? "nothing" : `\`\`\`\`text\n${text}\n\`\`\`\``;
}
