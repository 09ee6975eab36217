/** The files of memories, byte for byte, as the program has to write them. */
import { ACTOR } from "./saves_server.ts";

/** What is asked to be saved. */
export interface Content {
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly body: string;
  readonly type?: string;
}

/** What the program adds. */
export interface Stamps {
  readonly id: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** Returns the whole file of a memory; its texts must be plain. */
export function formatSaved(content: Content, { id, createdAt, updatedAt }: Stamps): string {
  const { name, description, tags, body, type } = content;
  return [
    "---",
    `id: ${id}`,
    `name: ${name}`,
    `description: ${description}`,
    "tags:",
    ...tags.map((tag) => `  - ${tag}`),
    "status: active",
    `created_at: ${createdAt}`,
    `updated_at: ${updatedAt}`,
    "metadata:",
    ...(type === undefined ? [] : [`  type: ${type}`]),
    `  actor: ${ACTOR}`,
    "---",
    "",
    body,
    "",
  ].join("\n");
}

/** Reads the stamps of a file, empty where it has none. */
export function readStamps(text: string): Stamps {
  const field = (key: string) => new RegExp(`^${key}: (.*)$`, "m").exec(text)?.[1] ?? "";
  return { id: field("id"), createdAt: field("created_at"), updatedAt: field("updated_at") };
}

/** Returns a text of about so many bytes that no other number has. */
export function bodyOf(number: number, bytes: number): string {
  const line = `Line of text ${number} in words, 和一些中文.`;
  const lines = Math.max(1, Math.round(bytes / 50));
  return [...Array.from({ length: lines }, (_, at) => `${line} ${at}`), `End of ${number}`]
    .join("\n");
}
