/** Finds out which of some texts a model refuses, so that the others get their embeddings. */
import { isPair } from "@/lib/code_points.ts";
import type { Logger } from "@/lib/seams.ts";
import { RequestFailure } from "./_request_failure.ts";
import type { Embedding } from "./embedder.ts";

/** A text is not made shorter than this. */
const MIN_CHARS = 200;
/** Whoever refuses this refuses everything. */
const HARMLESS = "A short text about nothing in particular.";

export interface RefusalDeps {
  /** @throws {RequestFailure} If the texts are refused. */
  readonly ask: (texts: readonly string[]) => Promise<readonly Float32Array[]>;
  /** What stands before each text. */
  readonly prefix: string;
  readonly logger: Logger;
}

/** True if a request may have failed for one of its texts. */
export function isForTexts(error: unknown): error is RequestFailure {
  // An error of the server that stays: some models stumble over some texts.
  return error instanceof RequestFailure && (error.kind === "refused" || error.status === 500);
}

/**
 * Makes sure that the model takes texts at all.
 *
 * @throws {RequestFailure} If not: then what is wrong is no text.
 */
export async function requireAcceptance({ ask, prefix }: RefusalDeps): Promise<void> {
  await ask([prefix + HARMLESS]);
}

/** Returns the embeddings of texts that were refused together; one that is refused alone has none. */
export async function embedApart(
  deps: RefusalDeps,
  texts: readonly string[],
  refusal: RequestFailure,
): Promise<Embedding[]> {
  const [text = ""] = texts;
  if (texts.length < 2) return [await embedShortened(deps, text, refusal)];
  const middle = texts.length >> 1;
  return [
    ...await embedOrPart(deps, texts.slice(0, middle)),
    ...await embedOrPart(deps, texts.slice(middle)),
  ];
}

async function embedOrPart(deps: RefusalDeps, texts: readonly string[]): Promise<Embedding[]> {
  try {
    return [...await deps.ask(texts)];
  } catch (error) {
    if (!isForTexts(error)) throw error;
    return await embedApart(deps, texts, error);
  }
}

/** Most texts are refused because they are long, and their beginnings tell what they are about. */
async function embedShortened(
  deps: RefusalDeps,
  text: string,
  refusal: RequestFailure,
): Promise<Embedding> {
  const body = text.slice(deps.prefix.length);
  for (let chars = body.length >> 1; chars >= MIN_CHARS; chars >>= 1) {
    try {
      const [embedding] = await deps.ask([deps.prefix + cutAt(body, chars)]);
      deps.logger.info("embedding-text-shortened", { chars: body.length, kept: chars });
      return embedding;
    } catch (error) {
      if (!isForTexts(error)) throw error;
    }
  }
  // Once more: what has come to refuse everything must not make this look like its fault.
  await requireAcceptance(deps);
  const { code, status } = refusal;
  deps.logger.warn("embedding-text-refused", { chars: body.length, status, code });
  return undefined;
}

function cutAt(text: string, chars: number): string {
  return text.slice(0, isPair(text, chars - 1) ? chars - 1 : chars);
}
