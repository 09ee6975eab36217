/** What is known of models by their names: how long their vectors are, and what they want to read. */

export interface KnownModel {
  /** Of the vectors that the model gives when nothing else is asked for. */
  readonly native: number;
  /** How many are asked for where nobody says; the native ones without it. */
  readonly dimensions?: number;
  /** True if it can give shorter vectors. */
  readonly isShortenable: boolean;
  /** What stands before a text, by what it is. */
  readonly prefixes: Readonly<Record<"query" | "passage", string>>;
}

const NO_PREFIXES = { query: "", passage: "" };
const E5_PREFIXES = { query: "query: ", passage: "passage: " };
const NOMIC_PREFIXES = { query: "search_query: ", passage: "search_document: " };
const QWEN_PREFIXES = {
  query:
    "Instruct: Given a question, retrieve notes that answer it or are about the same matter\nQuery:",
  passage: "",
};
const GEMMA_PREFIXES = { query: "task: search result | query: ", passage: "title: none | text: " };
const ENGLISH_QUERY_PREFIXES = {
  query: "Represent this sentence for searching relevant passages: ",
  passage: "",
};

const fixed = (native: number, prefixes = NO_PREFIXES): KnownModel => {
  return { native, isShortenable: false, prefixes };
};
const shortenable = (
  native: number,
  dimensions = native,
  prefixes = NO_PREFIXES,
): KnownModel => {
  return { native, dimensions, isShortenable: true, prefixes };
};

/** The first that fits counts. Names are compared in lower case and without their owner. */
const KNOWN_MODELS: readonly (readonly [name: RegExp, model: KnownModel])[] = [
  [/^text-embedding-3-small$/, shortenable(1536)],
  [/^text-embedding-3-large$/, shortenable(3072, 1024)],
  [/^text-embedding-ada-002$/, fixed(1536)],
  [/^voyage-(3-large|3\.5|3\.5-lite|4|4-lite|4-large|code-3)$/, shortenable(1024)],
  [/^jina-embeddings-v3$/, shortenable(1024)],
  [/^jina-embeddings-v4$/, shortenable(2048, 1024)],
  [/^jina-embeddings-v5-text-small$/, shortenable(1024)],
  [/^jina-embeddings-v5-text-nano$/, shortenable(768)],
  [/^gemini-embedding-001$/, shortenable(3072, 768)],
  // Of a family with EmbeddingGemma, and asked in the same words.
  [/^gemini-embedding-2(-preview)?$/, shortenable(3072, 768, GEMMA_PREFIXES)],
  [/^text-embedding-v[34]$/, shortenable(1024)],
  [/^text-embedding-v[12]$/, fixed(1536)],
  [/\bbge-m3\b/, fixed(1024)],
  [/\bbge-large-en\b/, fixed(1024, ENGLISH_QUERY_PREFIXES)],
  [/\bbge-base-en\b/, fixed(768, ENGLISH_QUERY_PREFIXES)],
  [/\bbge-small-en\b/, fixed(384, ENGLISH_QUERY_PREFIXES)],
  [/\bmxbai-embed-large\b/, fixed(1024, ENGLISH_QUERY_PREFIXES)],
  [/\bsnowflake-arctic-embed2\b/, fixed(1024, { query: "query: ", passage: "" })],
  [/\bmultilingual-e5-small\b/, fixed(384, E5_PREFIXES)],
  [/\bmultilingual-e5-base\b/, fixed(768, E5_PREFIXES)],
  [/\bmultilingual-e5-large(?!-instruct)\b/, fixed(1024, E5_PREFIXES)],
  [/\bnomic-embed-text\b/, fixed(768, NOMIC_PREFIXES)],
  [/\bqwen3-embedding\b.*\b8b\b/, fixed(4096, QWEN_PREFIXES)],
  [/\bqwen3-embedding\b.*\b4b\b/, fixed(2560, QWEN_PREFIXES)],
  [/\bqwen3-embedding\b.*\b0\.6b\b/, fixed(1024, QWEN_PREFIXES)],
  [/\bembeddinggemma\b/, fixed(768, GEMMA_PREFIXES)],
  [/\ball-minilm\b/, fixed(384)],
];

/** Returns what is known of a model, however a provider spells its name; `undefined` if nothing is. */
export function findKnownModel(name: string): KnownModel | undefined {
  const short = name.toLowerCase().replace(/^.*\//, "").replaceAll("_", "-");
  return KNOWN_MODELS.find(([pattern]) => pattern.test(short))?.[1];
}
