/** What the cosines of a model mean, found out from a few texts, without an index. */
import type { Embedder } from "@/lib/embed/embedder.ts";
import { type Clock, type Logger, runAtOnce, Slicer } from "@/lib/seams.ts";
import { parseVaultPath } from "@/lib/vault/vault_path.ts";
import type { Calibration } from "./calibration.ts";
import { Calibrator } from "./calibrator.ts";
import { measureHanShare } from "./han_share.ts";
import { NoteVectors } from "./note_vectors.ts";
import { quantize } from "./vector_matrix.ts";

/**
 * Returns what an index would find out if the texts were its notes.
 *
 * @throws What the embedder throws.
 */
export async function calibrateTexts(
  embedder: Embedder,
  texts: readonly string[],
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): Promise<Calibration | undefined> {
  const vectors = new NoteVectors(embedder.dimensions);
  const slicer = new Slicer(clock);
  const embedded = await embedder.embed(texts, "passage");
  const shareOf = (text: string) => runAtOnce(measureHanShare([text]));
  for (const [slot, text] of texts.entries()) {
    const embedding = embedded[slot];
    const chunks = [embedding && quantize(embedding)];
    const note = { metadata: undefined, chunks, hanShare: shareOf(text) };
    await slicer.run(vectors.stage(slot, note));
  }
  const paths = texts.map((text, slot) => ({
    path: parseVaultPath(`${slot}.md`),
    etag: text,
    slot,
  }));
  const calibrator = new Calibrator({
    vectors,
    listNotes: () => paths,
    readTexts: (_path, text) =>
      Promise.resolve({ metadata: "", chunks: [text], hanShare: shareOf(text) }),
    embedQuestions: async (questions) => [
      ...await (embedder.embedPatiently?.(questions, "query") ??
        embedder.embed(questions, "query")),
    ],
    onCalibrated: () => undefined,
    clock,
    logger,
  });
  await calibrator.calibrate();
  return vectors.calibration;
}
