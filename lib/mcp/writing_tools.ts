/** Tools that write: memories, and what one run leaves for the next. */
import {
  HandoffAnswerShape,
  HandoffInput,
  MemorySaveArgs,
  RememberInput,
  ResumeAnswerShape,
  ResumeParams,
  type SavedMemory,
  SavedMemoryShape,
} from "@/lib/contracts_memories.ts";
import { InvalidRequest } from "@/lib/errors.ts";
import { remember } from "@/lib/memories/remember.ts";
import { createMemory } from "@/lib/memories/create_memory.ts";
import { updateMemory } from "@/lib/memories/update_memory.ts";
import { resume, setHandoff } from "@/lib/tasks/handoff.ts";
import { clip, countChars, fitText, MAX_ANSWER_CHARS } from "./pack.ts";
import { MAX_LABEL_CHARS, MAX_NAME_CHARS, shortenDescription } from "./shorten.ts";
import { defineTool, READ_ONLY, type Tool, type ToolAnswer, type ToolHints } from "./tool.ts";

/** For tools that make something and take nothing away. */
const ADDS: ToolHints = { ...READ_ONLY, readOnlyHint: false, idempotentHint: false };

const memorySaveTool: Tool = defineTool({
  name: "memory_save",
  toolset: "core",
  grants: ["write"],
  title: "Save a memory",
  description:
    "Saves a memory as a Markdown file: a new one (name, description, body and tags are needed), or " +
    "with id a change of one, where what you do not pass stays as it is. recall first, and change " +
    "the memory that is there instead of saving it twice; similar names the nearest ones. To put " +
    "right what is no longer true, save the new memory with supersedes. Before you replace a body, " +
    "memory_open it and pass its etag. For one quick fact take remember.",
  hints: { ...ADDS, destructiveHint: true },
  isEssential: true,
  args: MemorySaveArgs,
  result: SavedMemoryShape,
  run: async (services, caller, { id, status, etag, ...input }) => {
    if (id === undefined) {
      requireNone({ status, etag }, "needs id, of the memory that is to be changed");
      return shortenSaved(await createMemory(services, caller, input));
    }
    const etags = etag === undefined ? undefined : [etag.replace(/^(?:W\/)?"|"$/g, "")];
    const { supersedes, origin_session_id, ...edit } = input;
    requireNone({ supersedes, origin_session_id }, "is for new memories only, without id");
    return shortenSaved(await updateMemory(services, caller, { ...edit, id, status, etags }));
  },
});

const rememberTool: Tool = defineTool({
  name: "remember",
  toolset: "core",
  grants: ["write"],
  title: "Remember a fact",
  description:
    "Remembers one fact that will matter again: a decision, preference, pitfall or convention, in a " +
    "sentence or two that stand by themselves. It goes to the store of the project that you work in " +
    "(pass cwd, your working directory, or repo); with scope=global to the person's own. One fact a " +
    "call; no secrets, nothing that only this task needs.",
  hints: ADDS,
  isEssential: true,
  args: RememberInput,
  result: SavedMemoryShape,
  run: async (services, caller, input) => shortenSaved(await remember(services, caller, input)),
});

const setHandoffTool: Tool = defineTool({
  name: "set_handoff",
  toolset: "core",
  grants: ["write"],
  title: "Hand off",
  description:
    "Leaves the state of the work for the next run on this project and branch: what is done, what " +
    "comes next, what to watch out for. Call it before you stop in the middle of something. The " +
    "last ten of a branch are kept; resume reads the newest.",
  // The eleventh goes.
  hints: { ...ADDS, destructiveHint: true },
  args: HandoffInput,
  result: HandoffAnswerShape,
  run: async (services, caller, input) => ({ ...await setHandoff(services, caller, input) }),
});

const resumeTool: Tool = defineTool({
  name: "resume",
  toolset: "core",
  grants: ["read"],
  title: "Resume work",
  description:
    "Reads what the last run on this project and branch handed off, if anything. Call it when the " +
    "person asks you to go on. It is a clue about work in progress: check it against the repository.",
  hints: READ_ONLY,
  args: ResumeParams,
  result: ResumeAnswerShape,
  run: async (services, caller, input) => {
    const { body, ...answer } = await resume(services, caller, input);
    if (body === undefined) return { ...answer };
    const note =
      `Cut, as it is longer than an answer may be: memory_open(id="${answer.path}") has it all`;
    const room = MAX_ANSWER_CHARS - countChars({ ...answer, note, body: "" });
    const end = fitText(body, room);
    return end < body.length ? { ...answer, body: body.slice(0, end), note } : { ...answer, body };
  },
});

export const WRITING_TOOLS: readonly Tool[] = [
  memorySaveTool,
  rememberTool,
  setHandoffTool,
  resumeTool,
];

/** What a call does not use must not be dropped in silence. */
function requireNone(fields: Readonly<Record<string, string | undefined>>, message: string): void {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  if (given.length === 0) return;
  const problems = given.map(([field]) => ({ field, message }));
  const words = given.map(([field]) => `${field} ${message}`).join("; ");
  throw new InvalidRequest(`Cannot save the memory: ${words}`, problems);
}

function shortenSaved(saved: SavedMemory): ToolAnswer {
  const { similar } = saved;
  return {
    ...saved,
    ...shortenDescription(saved),
    status: clip(saved.status, MAX_LABEL_CHARS),
    ...(similar === undefined
      ? {}
      : { similar: similar.map((it) => ({ ...it, name: clip(it.name, MAX_NAME_CHARS) })) }),
  };
}
