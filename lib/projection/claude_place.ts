/** Where Claude Code keeps what it remembers of a project, after its own rules. */
import { join } from "node:path";
import { isRecord } from "@/lib/is_record.ts";
import { readOutsideFile } from "@/lib/outside_files.ts";
import { claudeFolder, type Machine } from "@/lib/machine.ts";

/** Longer names are cut there, and told apart by a hash. */
const MAX_SLUG_UNITS = 200;
const DIR_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Returns the name of the folder that stands for a project.
 *
 * @param root Real path of the repository's root.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 *
 * equal(claudeSlug("/home/ada/my.site"), "-home-ada-my-site");
 * ```
 */
export function claudeSlug(root: string): string {
  const path = root.normalize("NFC");
  const slug = path.replace(/[^a-zA-Z0-9]/g, "-");
  if (slug.length <= MAX_SLUG_UNITS) return slug;
  let hash = 0;
  for (let at = 0; at < path.length; at++) hash = (hash << 5) - hash + path.charCodeAt(at) | 0;
  return `${slug.slice(0, MAX_SLUG_UNITS)}-${Math.abs(hash).toString(36)}`;
}

/** Returns the folder in which Claude Code keeps its memories of a project. */
export function claudeMemoryFolder(machine: Machine, root: string): string {
  const given = machine.env.get("CLAUDE_CODE_PROJECT_DIR_NAME") ?? "";
  const name = DIR_NAME.test(given) ? given : claudeSlug(root);
  return join(claudeFolder(machine), "projects", name, "memory");
}

/** What the person's settings say of Claude Code's memory. */
export interface ClaudeMemorySettings {
  /** Where it is kept instead. */
  readonly elsewhere?: string;
  /** What switches it off. */
  readonly off?: string;
}

/**
 * Reads what concerns its memory from the person's settings; what is no JSON says nothing, to Claude
 * Code either.
 *
 * @throws {AppError} `not-writable` if they are there and cannot be read.
 */
export async function readClaudeSettings(machine: Machine): Promise<ClaudeMemorySettings> {
  const path = join(claudeFolder(machine), "settings.json");
  const file = await readOutsideFile(path);
  const settings = file === undefined ? undefined : parse(file.bytes);
  const { autoMemoryDirectory: elsewhere, autoMemoryEnabled } = settings ?? {};
  const variable = "CLAUDE_CODE_DISABLE_AUTO_MEMORY";
  const off = isOn(machine.env.get(variable))
    ? variable
    : autoMemoryEnabled === false
    ? `autoMemoryEnabled in ${path}`
    : undefined;
  return {
    ...(typeof elsewhere === "string" && elsewhere !== "" ? { elsewhere } : {}),
    ...(off === undefined ? {} : { off }),
  };
}

function isOn(value: string | undefined): boolean {
  return ["1", "true", "yes", "on"].includes(value?.trim().toLowerCase() ?? "");
}

function parse(bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
