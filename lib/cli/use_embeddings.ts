/**
 * `embeddings use`: has the configuration file name another model, which is asked once before. The file
 * is the person's: what is not about the model stays as it is, and one that cannot be used stays whole.
 */
import { dirname } from "node:path";
import { type Config, loadConfig } from "@/lib/config.ts";
import { findConfigPath, systemDisk } from "@/lib/config_disk.ts";
import { type Setting, SETTINGS } from "@/lib/config_fields.ts";
import {
  MODEL_KEYS,
  type RawValues,
  readArguments,
  readEnvironment,
} from "@/lib/config_sources.ts";
import type { Json } from "@/lib/connect/edit.ts";
import { EMBEDDING_PROVIDERS } from "@/lib/embedding_providers.ts";
import { ConfigError } from "@/lib/errors.ts";
import { type OutsideFile, readOutsideFile, writeOutsideFile } from "@/lib/outside_files.ts";
import { OWN_FILE_MODE, OWN_FOLDER_MODE } from "@/lib/own_files.ts";
import { type RemoteModel, toRemoteModel } from "@/lib/remote_model.ts";
import { editConfig, hasSetting, isConfigText, type SettingChanges } from "./edit_config.ts";
import {
  askModel,
  type EmbeddingContext,
  PROBE,
  UNKNOWN_LENGTH,
  withLength,
} from "./embedding_seams.ts";
import { showText } from "./show_text.ts";
import type { Surroundings } from "./surroundings.ts";

/** The configuration file, and what the person wants in it. */
interface Wanted {
  readonly provider: Config["embedding"];
  readonly path: string;
  readonly before: OutsideFile | undefined;
  readonly text: string;
  /** The flags. */
  readonly given: RawValues;
}

/**
 * Writes a provider and what belongs to it into the configuration file, if it answers.
 *
 * @throws {ConfigError} If no provider is named, or the configuration could not be used.
 * @throws {AppError} If the provider does not answer, or the file may not be changed: it is as it was.
 */
export async function useEmbeddings(context: EmbeddingContext): Promise<void> {
  const { line, seams, surroundings } = context;
  const wanted = await readWanted(context);
  const draft = loadDraft(surroundings, wanted);
  if (line.untested) requireLength(draft);
  const config = await withLength(seams, draft);
  const answer = line.untested ? undefined : await askOnce(context, config);
  const changes = listChanges(config, wanted);
  const text = editConfig(wanted.text, changes);
  const isChanged = text !== wanted.text;
  if (isChanged && !line.dryRun) await write(wanted, text);
  showText(
    surroundings.terminal,
    [
      ...(answer === undefined ? [] : [answer]),
      ...describeChange(changes, wanted, { isChanged, isDry: line.dryRun }),
      ...listOverrides(surroundings, wanted),
    ].join("\n"),
  );
}

async function readWanted({ surroundings, provider }: EmbeddingContext): Promise<Wanted> {
  const { args, cwd, env } = surroundings;
  if (provider === undefined) {
    throw new ConfigError(
      "use needs the name of a provider: deno task embeddings use ollama, for example",
    );
  }
  const reading = { input: { args, cwd, env, ...systemDisk }, problems: [] };
  const path = findConfigPath(reading, SETTINGS);
  if (path === undefined) {
    throw new ConfigError("There is no home folder for the configuration: pass --config FILE");
  }
  const before = await readOutsideFile(path);
  const text = before === undefined ? "" : new TextDecoder("utf-8", { ignoreBOM: true }).decode(
    before.bytes,
  );
  const given = readArguments(args, SETTINGS, cwd).values;
  return { provider, path, before, text, given };
}

/** Loads the settings as the file and the flags alone would make them, the former model left out. */
function loadDraft({ args, cwd, env }: Surroundings, { path, provider, text }: Wanted): Config {
  const left = new Map(["embedding", ...MODEL_KEYS].map((key) => [flagOf(key), undefined]));
  const bare = isConfigText(text) ? editConfig(text, left) : text;
  const names = ownSettings().map((each) => each.env);
  return loadConfig({
    ...systemDisk,
    args: [`--embedding=${provider}`, ...args],
    cwd,
    env: new Map([...env].filter(([name]) => !names.includes(name))),
    readTextFile: (each) => each === path ? bare : systemDisk.readTextFile(each),
    assumedDimensions: UNKNOWN_LENGTH,
  });
}

function requireLength({ remoteModel }: Config): void {
  if (remoteModel?.dimensions !== UNKNOWN_LENGTH) return;
  throw new ConfigError(
    `How long the vectors of ${remoteModel.model} are is not known: pass --embedding-dimensions, ` +
      "or leave --untested out, so that the provider is asked",
  );
}

/** Returns what came of it, in words. */
async function askOnce(
  { seams, surroundings: { clock } }: EmbeddingContext,
  { embedding, remoteModel }: Config,
): Promise<string | undefined> {
  const embedder = seams.openEmbedder({ embedding, remoteModel });
  if (embedder === undefined) return undefined;
  const startMs = clock.monotonicMs();
  await askModel(embedder, { texts: [PROBE], kind: "query", remoteModel });
  const tookMs = Math.round(clock.monotonicMs() - startMs);
  const name = remoteModel?.model ?? embedder.id;
  return `${name} gave a vector of ${embedder.dimensions} numbers in ${tookMs} ms`;
}

/** Decides what is to stand in the file: no more than what is not known of the provider anyway. */
function listChanges(
  { denseWeight, embedding, remoteModel }: Config,
  { given }: Wanted,
): SettingChanges {
  const usual = remoteModel && EMBEDDING_PROVIDERS[remoteModel.provider];
  const unlessUsual = (key: "baseUrl" | "model" | "credential") =>
    remoteModel?.[key] === usual?.[key] ? undefined : remoteModel?.[key];
  const changes = new Map<string, Json | undefined>([
    ["embedding", embedding],
    ["embedding-model", unlessUsual("model")],
    ["embedding-base-url", unlessUsual("baseUrl")],
    ["embedding-credential", unlessUsual("credential")],
    ["embedding-dimensions", remoteModel && lengthUnlessUsual(remoteModel)],
    ["dense-weight", given.has("denseWeight") ? denseWeight : undefined],
  ]);
  if (given.has("embeddingTimeout")) changes.set("embedding-timeout", remoteModel?.timeoutMs);
  return changes;
}

function lengthUnlessUsual(model: RemoteModel): number | undefined {
  const nobody = { dimensions: undefined, assumedDimensions: undefined };
  const usual = toRemoteModel({ ...model, ...nobody }, []);
  return usual?.dimensions === model.dimensions ? undefined : model.dimensions;
}

async function write({ path, before }: Wanted, text: string): Promise<void> {
  if (before === undefined) {
    await Deno.mkdir(dirname(path), { recursive: true, mode: OWN_FOLDER_MODE });
  }
  await writeOutsideFile({
    path,
    before,
    bytes: new TextEncoder().encode(text),
    mode: OWN_FILE_MODE,
  });
}

interface Outcome {
  readonly isChanged: boolean;
  readonly isDry: boolean;
}

function describeChange(
  changes: SettingChanges,
  { path, text }: Wanted,
  { isChanged, isDry }: Outcome,
): string[] {
  if (!isChanged) return [`${path} says so already: nothing had to be changed`];
  const lines = [...changes].flatMap(([flag, value]) =>
    value === undefined
      ? hasSetting(text, flag) ? [`   "${flag}" is taken out`] : []
      : [`   "${flag}": ${JSON.stringify(value)}`]
  );
  if (isDry) return [`This would be written into ${path}:`, ...lines, "Nothing was changed."];
  return [
    `✅ Written into ${path}:`,
    ...lines,
    "Start the server anew. It embeds your notes in the background, and finds them by their words " +
    "until then.",
  ];
}

/** What goes before the file, wherever it is set for the server too. */
function listOverrides({ cwd, env }: Surroundings, { provider }: Wanted): string[] {
  const variables = readEnvironment(env, ownSettings(), { cwd, neverEmpty: new Set() });
  return [...variables].filter(([key, { text }]) => key !== "embedding" || text !== provider)
    .map(([, { from }]) => `⚠️ ${from} is set in the environment, which goes before the file`);
}

function ownSettings(): readonly Setting[] {
  const keys: readonly string[] = ["embedding", "embeddingTimeout", ...MODEL_KEYS];
  return SETTINGS.filter(({ key }) => keys.includes(key));
}

function flagOf(key: string): string {
  return SETTINGS.find((setting) => setting.key === key)?.flag ?? key;
}
