/** The texts of one note, of which some vectors are known and others are not. */
import type { EmbeddingTexts } from "./embedding_texts.ts";
import type { NoteEmbeddings } from "./note_vectors.ts";

export class OpenTexts {
  readonly #texts: EmbeddingTexts;
  /** `null` = the model knows nothing in the text. */
  readonly #vectors = new Map<string, Int8Array | null>();
  readonly #unknown: Set<string>;

  constructor(texts: EmbeddingTexts) {
    this.#texts = texts;
    this.#unknown = new Set([texts.metadata, ...texts.chunks]);
  }

  /** The texts without a vector, each once. */
  get unknown(): ReadonlySet<string> {
    return this.#unknown;
  }

  /** Takes the vector of a text; it is unknown no more. */
  take(text: string, vector: Int8Array | null): void {
    this.#unknown.delete(text);
    this.#vectors.set(text, vector);
  }

  /** Returns the vectors of the note, once none is unknown. */
  vectors(): NoteEmbeddings {
    const { metadata, chunks, hanShare } = this.#texts;
    const vectorOf = (text: string) => this.#vectors.get(text) ?? undefined;
    return { metadata: vectorOf(metadata), chunks: chunks.map(vectorOf), hanShare };
  }
}
