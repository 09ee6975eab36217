/** A model behind an address, as the configuration describes it. */
import { findKnownModel, type KnownModel } from "./embedding_models.ts";
import {
  EMBEDDING_PROVIDERS,
  type EmbeddingProvider,
  type EmbeddingProviderName,
} from "./embedding_providers.ts";
import { isLoopbackHost } from "./loopback.ts";

export interface RemoteModel {
  readonly provider: EmbeddingProviderName;
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly model: string;
  /** `env:NAME`, `file:PATH` with an absolute path, or `keychain:SERVICE/ACCOUNT`; never a key. */
  readonly credential: string | undefined;
  readonly dimensions: number;
  /** Whether the provider has to be asked for vectors of that length. */
  readonly asksForDimensions: boolean;
  /** What stands before a text, by what it is. */
  readonly prefixes: Readonly<Record<"query" | "passage", string>>;
  /** How long a search waits for a query's vector. */
  readonly timeoutMs: number;
}

/** What a person has said of a model; the rest is known of provider and model. */
export interface ModelSettings {
  readonly provider: EmbeddingProviderName;
  /** As in `RemoteModel`. */
  readonly baseUrl: string | undefined;
  readonly model: string | undefined;
  /** As in `RemoteModel`. */
  readonly credential: string | undefined;
  readonly dimensions: number | undefined;
  readonly timeoutMs: number;
  /** Taken for the length of vectors where nobody knows it; without it that is a problem. */
  readonly assumedDimensions: number | undefined;
}

const NO_PREFIXES = { query: "", passage: "" };

/**
 * Completes what a person has said of a model.
 *
 * @param problems Gets what is wrong, one sentence each.
 * @returns `undefined` if something is.
 */
export function toRemoteModel(
  settings: ModelSettings,
  problems: string[],
): RemoteModel | undefined {
  const { provider, timeoutMs } = settings;
  const known = EMBEDDING_PROVIDERS[provider];
  const baseUrl = settings.baseUrl ?? known.baseUrl;
  const model = settings.model ?? known.model;
  const credential = settings.credential ?? known.credential;
  if (baseUrl === undefined) problems.push(needsBaseUrl(provider));
  if (model === undefined) {
    problems.push(`--embedding ${provider} has no usual model: pass --embedding-model MODEL`);
  }
  if (baseUrl !== undefined && credential !== undefined && isOpenRoad(baseUrl)) {
    problems.push(
      `--embedding-base-url: the key from ${credential} would travel unencrypted to ` +
        `${new URL(baseUrl).host}: take https, or a provider that needs no key`,
    );
  }
  const knownModel = model === undefined ? undefined : findKnownModel(model);
  const lengths = model === undefined
    ? undefined
    : toLengths({ ...settings, model, known: knownModel, field: known.dimensionsField }, problems);
  if (!baseUrl || !model || !lengths || problems.length > 0) return undefined;
  const prefixes = knownModel?.prefixes ?? NO_PREFIXES;
  return { provider, baseUrl, model, credential, ...lengths, prefixes, timeoutMs };
}

function needsBaseUrl(provider: EmbeddingProviderName): string {
  const example = provider === "azure"
    ? "https://RESOURCE.openai.azure.com/openai/v1"
    : "http://127.0.0.1:8080/v1";
  return `--embedding ${provider} needs an address: pass --embedding-base-url, such as ${example}`;
}

/** True where others may read what is sent: beyond this machine, and not encrypted. */
function isOpenRoad(baseUrl: string): boolean {
  const { hostname, protocol } = new URL(baseUrl);
  return protocol === "http:" && !isLoopbackHost(hostname);
}

interface LengthSettings extends Omit<ModelSettings, "model"> {
  readonly model: string;
  readonly known: KnownModel | undefined;
  readonly field: EmbeddingProvider["dimensionsField"];
}

type Lengths = Pick<RemoteModel, "dimensions" | "asksForDimensions">;

function toLengths(settings: LengthSettings, problems: string[]): Lengths | undefined {
  const { known, model, provider } = settings;
  if (known !== undefined) return toKnownLengths(settings, known, problems);
  const dimensions = settings.dimensions ?? settings.assumedDimensions;
  // Whether it can be asked for others nobody knows, and many refuse to be asked at all.
  if (dimensions !== undefined) return { dimensions, asksForDimensions: false };
  problems.push(
    `How long the vectors of ${
      JSON.stringify(model)
    } are is not known: run \`deno task embeddings ` +
      `use ${provider}\`, which asks the provider, or pass --embedding-dimensions`,
  );
  return undefined;
}

function toKnownLengths(
  { dimensions: wanted, field, model }: LengthSettings,
  { dimensions: usual, isShortenable, native }: KnownModel,
  problems: string[],
): Lengths | undefined {
  const canAsk = isShortenable && field !== undefined;
  const dimensions = wanted ?? (canAsk ? usual : undefined) ?? native;
  if (dimensions === native) return { dimensions, asksForDimensions: false };
  if (canAsk && dimensions < native) return { dimensions, asksForDimensions: true };
  const possible = canAsk ? `at most ${native}` : `${native} and no others`;
  problems.push(`--embedding-dimensions ${dimensions}: ${model} gives ${possible}`);
  return undefined;
}
