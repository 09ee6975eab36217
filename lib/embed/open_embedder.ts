/** From what the configuration says of a model to the model. */
import type { RemoteModel } from "@/lib/remote_model.ts";
import type { Clock, Logger } from "@/lib/seams.ts";
import { readCredential } from "./credential.ts";
import { type Embedder, EmbeddingUnavailable, type ScaledEmbedder } from "./embedder.ts";
import { readModelFile } from "./model_file.ts";
import { RemoteEmbedder } from "./remote_embedder.ts";
import { runProgram } from "./run_program.ts";
import { StaticEmbedder } from "./static_embedder.ts";

export interface EmbedderSeams {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where keys are looked for; `undefined` = no provider is ever asked. */
  readonly env?: ReadonlyMap<string, string> | undefined;
}

/** Returns the embedder of a model; `undefined` names the one that is part of the program. */
export function openEmbedder(model: RemoteModel | undefined, seams: EmbedderSeams): Embedder {
  const { clock, env } = seams;
  if (!model) return openLocalEmbedder(clock);
  return env ? openRemoteEmbedder(model, { ...seams, env }) : unaskedEmbedder(model, seams);
}

/** Returns the model that is part of the program; its file is read when it is first needed. */
export function openLocalEmbedder(clock: Clock): ScaledEmbedder {
  return new StaticEmbedder({ clock, read: readModelFile });
}

/** Returns an embedder that asks a provider; the key is read when it is first needed. */
export function openRemoteEmbedder(
  model: RemoteModel,
  { clock, env, logger }: EmbedderSeams & { readonly env: ReadonlyMap<string, string> },
): RemoteEmbedder {
  const { credential } = model;
  const seams = { env, platform: Deno.build.os, run: runProgram };
  const readKey = credential === undefined ? undefined : () => readCredential(credential, seams);
  return new RemoteEmbedder({ model, clock, logger, readCredential: readKey });
}

/** Of the model it has no more than the name, under which vectors of earlier runs are found. */
function unaskedEmbedder(model: RemoteModel, seams: EmbedderSeams): Embedder {
  const { id, dimensions, isLocal, scale } = openRemoteEmbedder(model, {
    ...seams,
    env: new Map(),
  });
  const message = "This command asks no provider for embeddings";
  const embed = () => Promise.reject(new EmbeddingUnavailable(message));
  return { id, dimensions, isLocal, scale, embed };
}
