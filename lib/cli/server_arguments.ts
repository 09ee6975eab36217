/** With which arguments an agent starts this program, so that it finds the vault that is meant now. */
import { isAbsolute, resolve } from "node:path";
import type { Config } from "@/lib/config.ts";
import { type Setting, SETTINGS } from "@/lib/config_fields.ts";
import {
  leaveOtherProviders,
  type RawValue,
  readArguments,
  readEnvironment,
} from "@/lib/config_sources.ts";
import { ConfigError } from "@/lib/errors.ts";
import type { Surroundings } from "./surroundings.ts";

/** Never an agent's; or of one run alone; or said by `--vault`. */
const NOT_PASSED: readonly string[] = ["ownerToken", "init", "soul", "log"];
const PATHS: readonly string[] = ["vault", "state", "config"];

/**
 * Returns the flags that stand for what was set by flags and environment: an agent may be started where
 * neither is known. What the configuration file says is read again.
 *
 * @throws {ConfigError} If a flag holds a token as it is: an agent's settings are no place for one.
 */
export function serverArguments(
  { args, cwd, env }: Pick<Surroundings, "args" | "cwd" | "env">,
  config: Pick<Config, "vault" | "vaultWasGiven">,
): string[] {
  const flags = readArguments(args, SETTINGS, cwd).values;
  const variables = readEnvironment(env, SETTINGS, { cwd, neverEmpty: new Set() });
  const values = new Map([...variables, ...flags]);
  leaveOtherProviders([flags, variables], values);
  if (config.vaultWasGiven) {
    values.set("vault", { text: config.vault, from: "--vault", baseFolder: cwd });
  }
  return SETTINGS.filter(({ key }) => !NOT_PASSED.includes(key)).flatMap((setting) => {
    const value = values.get(setting.key);
    if (value === undefined) return [];
    if (setting.secret) return tokenFlag(setting, value, { isFlag: flags.has(setting.key) });
    return toFlag(setting, value);
  });
}

function toFlag({ flag, key, kind }: Setting, { text, baseFolder }: RawValue): string[] {
  if (kind === "switch") return [text === "false" ? `--no-${flag}` : `--${flag}`];
  const words = typeof text === "string" ? text : text.join(",");
  if (PATHS.includes(key)) return [`--${flag}=${toAbsolute(words, baseFolder)}`];
  return [`--${flag}=${isReference(key) ? toAbsoluteReference(words, baseFolder) : words}`];
}

function tokenFlag(
  { flag }: Setting,
  { text, baseFolder }: RawValue,
  { isFlag }: { readonly isFlag: boolean },
): string[] {
  const token = String(text).trim();
  if (/^(file|env):/.test(token)) return [`--${flag}=${toAbsoluteReference(token, baseFolder)}`];
  // What the environment holds, an agent that is started in it has too.
  if (!isFlag) return [];
  throw new ConfigError(
    `--${flag} would stand in the agent's settings as it is: pass file:PATH (mode 600) or env:NAME`,
  );
}

/** Says where a key is, and is never one. */
function isReference(key: string): boolean {
  return key === "embeddingCredential";
}

function toAbsoluteReference(reference: string, folder: string): string {
  const path = /^file:(.*)$/s.exec(reference.trim())?.[1];
  return path === undefined ? reference.trim() : `file:${toAbsolute(path, folder)}`;
}

/** `~` is left to the program, as the agent may have another home. */
function toAbsolute(path: string, folder: string): string {
  return path.startsWith("~") || isAbsolute(path) ? path : resolve(folder, path);
}
