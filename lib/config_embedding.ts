/** From settings to the model behind an address; no key is looked at before it is needed. */
import { type ConfigReading, expandPath } from "./config_disk.ts";
import type { FieldValues } from "./config_fields.ts";
import type { RawValue, RawValues } from "./config_sources.ts";
import { type RemoteModel, toRemoteModel } from "./remote_model.ts";

const KEYS = [
  "embeddingModel",
  "embeddingBaseUrl",
  "embeddingCredential",
  "embeddingDimensions",
] as const;

const REFERENCES = [
  /^env:[A-Za-z_]\w*$/,
  // What begins with a hyphen would be an option of the program that is asked.
  /^keychain:(?!-)[^/\p{Cc}]+\/(?!-)\P{Cc}+$/u,
];

/**
 * Returns the model of the provider that the settings name; adds to the problems of `reading`.
 *
 * @returns `undefined` for what needs no provider, and where there is a problem.
 */
export function toModel(
  reading: ConfigReading,
  raw: RawValues,
  fields: FieldValues,
): RemoteModel | undefined {
  const { embedding: provider } = fields;
  const given = raw.get("embeddingCredential");
  const credential = given && toReference(reading, given);
  if (provider === "static" || provider === "none") return undefined;
  // What follows from a value that is refused already says nothing new.
  const isRefused = KEYS.some((key) => raw.has(key) && fields[key] === undefined);
  if (isRefused || (given !== undefined && credential === undefined)) return undefined;
  const problems: string[] = [];
  const model = toRemoteModel({
    provider,
    credential,
    baseUrl: fields.embeddingBaseUrl,
    model: fields.embeddingModel,
    dimensions: fields.embeddingDimensions,
    timeoutMs: fields.embeddingTimeout,
    assumedDimensions: reading.input.assumedDimensions,
  }, problems);
  reading.problems.push(...problems);
  return model;
}

/** Reads where a key is, with an absolute path; what is no reference may be the key, and is not shown. */
function toReference(reading: ConfigReading, given: RawValue): string | undefined {
  const text = String(given.text).trim();
  if (REFERENCES.some((form) => form.test(text))) return text;
  const file = /^file:(.*\S.*)$/.exec(text)?.[1];
  if (file !== undefined) {
    const path = expandPath(reading, file, given);
    return path && `file:${path}`;
  }
  if (text === "") return undefined;
  reading.problems.push(
    `${given.from}: a key never belongs in flags or configuration: put it into a variable, a file ` +
      "(mode 600) or the key chain, and say where with env:NAME, file:PATH or " +
      "keychain:SERVICE/ACCOUNT",
  );
  return undefined;
}
