/** Remembering one fact: a memory whose name and description come from its text. */
import { clipLine } from "@/lib/clip_line.ts";
import type { Caller } from "@/lib/contracts.ts";
import type { RememberInput, SavedMemory } from "@/lib/contracts_memories.ts";
import { requireNoSecrets } from "@/lib/require_no_secrets.ts";
import { Slicer } from "@/lib/seams.ts";
import { firstSentenceOf } from "./memory_names.ts";
import type { SaveMemoryDeps } from "./_saved_memory.ts";
import { createMemory } from "./create_memory.ts";

const MAX_NAME_CHARS = 60;
const MAX_DESCRIPTION_CHARS = 160;
const DEFAULT_TYPE = "fact";
/** Name and description come from the beginning of a text. */
const MAX_LOOKED_AT_CHARS = 4_000;

/**
 * Saves one fact as a memory of its own; the text is not interpreted, only its first sentence
 * becomes the name.
 *
 * @throws {ScopeUnresolved} If it is to go to a project's store and there is no project.
 * @throws {AppError} `secret-found` if the text looks like it holds a secret.
 */
export async function remember(
  deps: SaveMemoryDeps,
  caller: Caller,
  input: RememberInput,
): Promise<SavedMemory> {
  const { text, scope, type, ...more } = input;
  const { origin_session_id, allow_secret } = more;
  if (!allow_secret) {
    const texts = { text, type, origin_session_id };
    await new Slicer(deps.clock).run(requireNoSecrets(texts));
  }
  const head = text.slice(0, MAX_LOOKED_AT_CHARS);
  const project = scope === "project" ? await deps.projects.require(caller, input) : undefined;
  const kind = type?.trim() || DEFAULT_TYPE;
  return await createMemory(deps, caller, {
    ...more,
    scope,
    found: project,
    // Done by the name that the text has here.
    allow_secret: true,
    type: kind,
    name: firstSentenceOf(head, MAX_NAME_CHARS),
    description: clipLine(head, MAX_DESCRIPTION_CHARS),
    body: text,
    tags: [kind, ...(project ? [`project/${tagOf(project.ref.name)}`] : [])],
  });
}

/** A person may have given the project a name that is no tag. */
function tagOf(name: string): string {
  return name.replace(/[,\s\p{Cc}]+/gu, "-");
}
