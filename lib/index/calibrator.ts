/**
 * Finds out from the vault what the cosines of a model mean, where nobody knows it: in the
 * background, when the notes are embedded, and again when they have become others.
 */
import { crc32 } from "node:zlib";
import { type Embedding, EmbeddingUnavailable } from "@/lib/embed/embedder.ts";
import { describeFailure } from "@/lib/errors.ts";
import { type Clock, type Logger, runAtOnce, Slicer } from "@/lib/seams.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";
import { type Calibration, CosineCounts, findHintAt, findRange } from "./calibration.ts";
import {
  type Centring,
  type Language,
  languageOf,
  LANGUAGES,
  type LanguageVector,
  learnMeans,
  measureFavour,
} from "./centring.ts";
import type { EmbeddingTexts } from "./embedding_texts.ts";
import { measureHanShare } from "./han_share.ts";
import type { NoteCosines, VectorQuery } from "./note_cosines.ts";
import type { NoteVectors } from "./note_vectors.ts";
import { REFERENCE_QUESTIONS } from "./_reference_questions.ts";
import { toCentredRows, type VectorView } from "./_row_stretches.ts";
import { sampleSentence } from "./_sample_sentence.ts";
import { denseSignal, higherCosine } from "./score.ts";

/** How many notes of a language sentences are taken from. */
const QUESTIONS_A_LANGUAGE = 48;
/** With fewer than so many of both, what questions have in common cannot be told from what they ask. */
const LEAST_QUESTIONS = 20;
/** How many notes of a language its mean is learnt from. */
const MEAN_NOTES_A_LANGUAGE = 300;
/**
 * A model that favours a language by no more than this part of its range is left as it is: without
 * their means vectors of the same language are told apart a little less well.
 */
const LITTLE_FAVOUR = 0.1;
/** How many notes each sentence is compared with, to find the range. */
const PAIRED_NOTES = 300;
/** With fewer sentences of its own a vault is eked out with questions about other things. */
const FEW_QUESTIONS = 16;
/** The vault is looked at anew when it has grown, or shrunk, by more than that. */
const GROWTH = 1.5;
/** After a failure, when the model has rested as well. */
const RETRY_MS = 31_000;
/** Shorter than other slices: it takes a second or more, and searches go on. */
const SLICE_MS = 2;
/** A step of work compares so many rows. */
const ROWS_A_STEP = 500;
/** Of a longer note some chunks stand for all, so that no book decides for a whole vault. */
const CHUNKS_A_NOTE = 8;
/** With a larger part of the notes gone at the end it was another vault that was looked at. */
const MAX_GONE = 1 / 3;

/** A note with vectors. */
export interface CalibratedNote {
  readonly path: VaultPath;
  readonly etag: string;
  readonly slot: number;
}

export interface CalibratorOptions {
  readonly vectors: NoteVectors;
  /** Lists the notes of the index, in any order. */
  readonly listNotes: () => Iterable<CalibratedNote>;
  /** Reads the texts of a note; `undefined` if it is not what it was when it was indexed. */
  readonly readTexts: (path: VaultPath, etag: string) => Promise<EmbeddingTexts | undefined>;
  readonly embedQuestions: (texts: readonly string[]) => Promise<Embedding[]>;
  /** Called when something was found out. */
  readonly onCalibrated: () => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A sentence, and the slot of the note that it stands in; none for one from elsewhere. */
interface Question extends VectorQuery {
  readonly slot: number | undefined;
}

export class Calibrator {
  readonly #options: CalibratorOptions;
  #running: Promise<void> | undefined;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #stop = new AbortController();

  constructor(options: CalibratorOptions) {
    this.#options = options;
  }

  /** Begins in the background if there is something to find out; call it when vectors have come. */
  settle(): void {
    if (this.#stop.signal.aborted || this.#retryTimer !== undefined || !this.#isDue()) return;
    this.#running ??= this.calibrate().catch((error: unknown) => this.#retryLater(error))
      .finally(() => this.#running = undefined);
  }

  /**
   * Finds it out now, unless other vectors come meanwhile.
   *
   * @throws {EmbeddingUnavailable} If the model cannot be asked.
   */
  async calibrate(): Promise<void> {
    const { clock, logger, onCalibrated, vectors } = this.#options;
    const { signal } = this.#stop;
    const slicer = new Slicer(clock, SLICE_MS);
    const { generation, noteCount } = vectors;
    const notes = await slicer.run(this.#inChanceOrder(), signal);
    const questions = await this.#askQuestions(await this.#sampleQuestions(notes, slicer));
    const slots = notes.map(({ slot }) => slot);
    const asTheyAre = { questions, slots, view: { centred: undefined } };
    const plain = await slicer.run(this.#pair(asTheyAre), signal);
    const centring = await slicer.run(this.#learnCentring(asTheyAre, plain), signal);
    const view: VectorView = { centred: centring && toCentredRows(centring) };
    const measured = { questions, slots, view };
    const cosines = centring ? await slicer.run(this.#pair(measured), signal) : plain;
    const found = await slicer.run(this.#measure(measured, cosines), signal);
    // Then the next stretch of work begins it anew.
    if (vectors.generation !== generation || this.#isOfAnother(slots, found.pairCount)) return;
    const calibration = { ...found, noteCount, centring };
    vectors.calibrate(calibration, view);
    const { floor, ceiling, hintAt, pairCount } = calibration;
    logger.info("embedding-calibrated", {
      ...{ floor, ceiling, hintAt, pairCount },
      centred: centring !== undefined,
    });
    onCalibrated();
  }

  /** Stops, and returns when nothing runs any more. */
  async close(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#retryTimer);
    await this.#running;
  }

  #retryLater(error: unknown): void {
    if (this.#stop.signal.aborted) return;
    this.#retryTimer = setTimeout(() => {
      this.#retryTimer = undefined;
      this.settle();
    }, RETRY_MS);
    Deno.unrefTimer(this.#retryTimer);
    // That one was told of already.
    if (error instanceof EmbeddingUnavailable) return;
    this.#options.logger.error("embedding-not-calibrated", {
      cause: describeFailure(error).cause,
    });
  }

  #isDue(): boolean {
    const { calibration, noteCount } = this.#options.vectors;
    if (noteCount === 0) return false;
    if (!calibration) return true;
    const growth = noteCount / Math.max(1, calibration.noteCount);
    return growth > GROWTH || growth < 1 / GROWTH;
  }

  /** True if it says little of the notes that there are now. */
  #isOfAnother(slots: readonly number[], pairCount: number): boolean {
    const { vectors } = this.#options;
    const gone = slots.filter((slot) => !vectors.has(slot)).length;
    return gone > MAX_GONE * slots.length || pairCount === 0 && vectors.chunkCount > slots.length;
  }

  /** By their paths' sums: always the same notes of a vault, and any of it. */
  *#inChanceOrder(): Generator<void, CalibratedNote[]> {
    const { listNotes, vectors } = this.#options;
    const keyed: { readonly note: CalibratedNote; readonly key: number }[] = [];
    for (const note of listNotes()) {
      if (vectors.has(note.slot)) keyed.push({ note, key: crc32(note.path) });
      yield;
    }
    return keyed.sort((a, b) => a.key - b.key).map(({ note }) => note);
  }

  /** Takes a sentence each of some notes of each language. */
  async #sampleQuestions(
    notes: readonly CalibratedNote[],
    slicer: Slicer,
  ): Promise<{ readonly text: string; readonly slot: number | undefined }[]> {
    const { readTexts, vectors } = this.#options;
    const counts: Record<Language, number> = { latin: 0, han: 0 };
    const sampled: { text: string; slot: number | undefined }[] = [];
    for (const { path, etag, slot } of notes) {
      const language = languageOf(vectors.hanShareAt(slot));
      if (counts[language] >= QUESTIONS_A_LANGUAGE) continue;
      const text = sentenceOf(await readTexts(path, etag), crc32(path));
      if (text !== "") {
        sampled.push({ text, slot });
        counts[language]++;
      }
      if (LANGUAGES.every((each) => counts[each] >= QUESTIONS_A_LANGUAGE)) break;
      await slicer.pause();
    }
    if (sampled.length >= FEW_QUESTIONS) return sampled;
    return [...sampled, ...REFERENCE_QUESTIONS.map((text) => ({ text, slot: undefined }))];
  }

  async #askQuestions(
    sampled: readonly { readonly text: string; readonly slot: number | undefined }[],
  ): Promise<Question[]> {
    const embeddings = await this.#options.embedQuestions(sampled.map(({ text }) => text));
    return sampled.flatMap(({ text, slot }, index) => {
      const vector = embeddings[index];
      return vector ? [{ vector, slot, hanShare: runAtOnce(measureHanShare([text])) }] : [];
    });
  }

  /** Returns `undefined` if there is one language, or none is favoured. */
  *#learnCentring(
    { questions, slots }: Measured,
    cosines: CosineCounts,
  ): Generator<void, Centring | undefined> {
    const { dimensions } = this.#options.vectors;
    const query = yield* learnMeans(questions, dimensions, LEAST_QUESTIONS);
    if (!query) return undefined;
    const passage = yield* learnMeans(this.#somePassages(slots), dimensions, LEAST_QUESTIONS);
    if (!passage) return undefined;
    const centring = { query, passage };
    const { floor, ceiling } = findRange(cosines);
    return measureFavour(centring) > LITTLE_FAVOUR * (ceiling - floor) ? centring : undefined;
  }

  *#somePassages(slots: readonly number[]): Generator<LanguageVector> {
    const { vectors } = this.#options;
    const counts: Record<Language, number> = { latin: 0, han: 0 };
    for (const slot of slots) {
      const language = languageOf(vectors.hanShareAt(slot));
      if (counts[language]++ < MEAN_NOTES_A_LANGUAGE) {
        yield* vectors.vectorsAt(slot).take(CHUNKS_A_NOTE + 1);
      }
    }
  }

  /** @param cosines Of the questions with chunks, compared in the same way. */
  *#measure(
    { questions, slots, view }: Measured,
    cosines: CosineCounts,
  ): Generator<void, Omit<Calibration, "noteCount" | "centring">> {
    const best: number[] = [];
    for (const question of questions) {
      let nearest = -Infinity;
      yield* this.#forEachOther({ question, slots, view }, (found) => {
        // NaN is larger than nothing.
        const cosine = higherCosine(found);
        if (cosine > nearest) nearest = cosine;
      });
      if (nearest > -Infinity) best.push(nearest);
    }
    const range = findRange(cosines);
    const hintAt = findHintAt(best.map((cosine) => denseSignal(cosine, range)));
    return { ...range, hintAt, pairCount: cosines.total };
  }

  /** Returns the cosines of all questions with the chunks of some notes, not of their own. */
  *#pair({ questions, slots, view }: Measured): Generator<void, CosineCounts> {
    const cosines = new CosineCounts();
    const some = slots.slice(0, PAIRED_NOTES);
    for (const question of questions) {
      yield* this.#forEachOther({ question, slots: some, view }, ({ chunks }) => {
        for (const chunk of spread(chunks, CHUNKS_A_NOTE)) cosines.add(chunk);
      });
    }
    return cosines;
  }

  /** Compares a question with each note but its own. */
  *#forEachOther(
    { question, slots, view }: Compared,
    take: (found: NoteCosines) => void,
  ): Generator<void> {
    const { vectors } = this.#options;
    let compare = vectors.compare(question, view);
    let rows = 0;
    for (const slot of slots) {
      if (slot === question.slot || !vectors.has(slot)) continue;
      const found = compare(slot);
      take(found);
      rows += 1 + found.chunks.length;
      if (rows < ROWS_A_STEP) continue;
      rows = 0;
      yield;
      // Anew, as others may have asked in between.
      compare = vectors.compare(question, view);
    }
    yield;
  }
}

interface Measured {
  readonly questions: readonly Question[];
  readonly slots: readonly number[];
  readonly view: VectorView;
}

interface Compared extends Omit<Measured, "questions"> {
  readonly question: Question;
}

/** Yields at most so many numbers of a list, from all parts of it. */
function* spread(numbers: Float32Array, most: number): Generator<number> {
  const step = Math.max(1, numbers.length / most);
  for (let at = 0; at < numbers.length; at += step) yield numbers[Math.floor(at)] ?? NaN;
}

/** @param chance Any whole number: decides which chunk it is of. */
function sentenceOf(texts: EmbeddingTexts | undefined, chance: number): string {
  if (!texts) return "";
  const { chunks, metadata } = texts;
  return sampleSentence(chunks[chance % Math.max(1, chunks.length)] ?? metadata);
}
