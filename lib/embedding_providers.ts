/**
 * Who offers embeddings by the interface of OpenAI, `POST {base}/embeddings`, and how each differs
 * from the others. Taken from their documentation, November 2026.
 */

/** In the order in which they are listed to a person. */
export const EMBEDDING_PROVIDER_NAMES = [
  "openai",
  "openrouter",
  "voyage",
  "jina",
  "gemini",
  "azure",
  "dashscope",
  "ollama",
  "lmstudio",
  "openai-compatible",
] as const;
export type EmbeddingProviderName = (typeof EMBEDDING_PROVIDER_NAMES)[number];

/** What a provider takes in one call, by its documentation or, where that is more, by what is wise. */
export interface ProviderBatch {
  readonly texts: number;
  readonly bytes: number;
  readonly atOnce: number;
}

export interface EmbeddingProvider {
  /** Without a slash at the end; `undefined` = the person has to say. */
  readonly baseUrl: string | undefined;
  /** Taken where none is configured; `undefined` = the person has to say. */
  readonly model: string | undefined;
  /** Where the key is looked for if nothing is configured; `undefined` = it needs none. */
  readonly credential: string | undefined;
  /** The header that the key goes into. */
  readonly keyHeader: "authorization" | "api-key";
  /** Fields that every request has. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Fields that say whether texts are questions or what may answer them. */
  readonly kindFields: Readonly<Record<"query" | "passage", Readonly<Record<string, unknown>>>>;
  /** The field by which shorter vectors are asked for; `undefined` = it knows none. */
  readonly dimensionsField: "dimensions" | "output_dimension" | undefined;
  readonly batch: ProviderBatch;
}

const NO_FIELDS = { query: {}, passage: {} };
/** Vectors as bytes: a third of the text, read in a hundredth of the time. */
const AS_BYTES = { encoding_format: "base64" };
/** Larger answers hold others up while they are read, and bring no more where texts are counted. */
const FAR: ProviderBatch = { texts: 48, bytes: 128 * 1024, atOnce: 4 };
/** Of the person's own machine, which has other things to do as well. */
const NEAR: ProviderBatch = { texts: 16, bytes: 32 * 1024, atOnce: 1 };

const PLAIN: EmbeddingProvider = {
  baseUrl: undefined,
  model: undefined,
  credential: undefined,
  keyHeader: "authorization",
  fields: {},
  kindFields: NO_FIELDS,
  dimensionsField: "dimensions",
  batch: { ...FAR, texts: 32, atOnce: 2 },
};

/** By name. `openai-compatible` is whatever else speaks like them. */
export const EMBEDDING_PROVIDERS: Readonly<Record<EmbeddingProviderName, EmbeddingProvider>> = {
  "openai-compatible": PLAIN,
  openai: {
    ...PLAIN,
    baseUrl: "https://api.openai.com/v1",
    model: "text-embedding-3-small",
    credential: "env:OPENAI_API_KEY",
    fields: AS_BYTES,
    batch: FAR,
  },
  openrouter: {
    ...PLAIN,
    baseUrl: "https://openrouter.ai/api/v1",
    model: "baai/bge-m3",
    credential: "env:OPENROUTER_API_KEY",
    // No bytes: some of its models answer with nothing when asked for them.
    batch: { ...FAR, texts: 32 },
  },
  voyage: {
    ...PLAIN,
    baseUrl: "https://api.voyageai.com/v1",
    model: "voyage-4",
    credential: "env:VOYAGE_API_KEY",
    // It takes no other value than this, `float` neither.
    fields: AS_BYTES,
    kindFields: { query: { input_type: "query" }, passage: { input_type: "document" } },
    dimensionsField: "output_dimension",
    batch: FAR,
  },
  jina: {
    ...PLAIN,
    baseUrl: "https://api.jina.ai/v1",
    model: "jina-embeddings-v3",
    credential: "env:JINA_API_KEY",
    // Otherwise it refuses a text that is too long.
    fields: { truncate: true },
    kindFields: { query: { task: "retrieval.query" }, passage: { task: "retrieval.passage" } },
    batch: { ...FAR, texts: 32 },
  },
  gemini: {
    ...PLAIN,
    baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai",
    model: "gemini-embedding-001",
    credential: "env:GEMINI_API_KEY",
    // It takes 100.
    batch: { ...FAR, texts: 32 },
  },
  azure: {
    ...PLAIN,
    model: "text-embedding-3-small",
    credential: "env:AZURE_OPENAI_API_KEY",
    keyHeader: "api-key",
    fields: AS_BYTES,
    batch: FAR,
  },
  dashscope: {
    ...PLAIN,
    baseUrl: "https://dashscope.aliyuncs.com/compatible-mode/v1",
    model: "text-embedding-v4",
    credential: "env:DASHSCOPE_API_KEY",
    // It takes no more, and knows no bytes.
    batch: { ...FAR, texts: 10 },
  },
  ollama: {
    ...PLAIN,
    baseUrl: "http://127.0.0.1:11434/v1",
    model: "bge-m3",
    batch: NEAR,
  },
  lmstudio: {
    ...PLAIN,
    baseUrl: "http://127.0.0.1:1234/v1",
    model: "text-embedding-bge-m3",
    batch: NEAR,
  },
};
