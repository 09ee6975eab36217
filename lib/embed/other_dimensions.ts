import { EmbeddingUnavailable } from "./embedder.ts";

/** A model gives vectors of another length than the configuration says. */
export class OtherDimensions extends EmbeddingUnavailable {
  override name = "OtherDimensions";
  /** That it gives. */
  readonly dimensions: number;

  constructor(message: string, dimensions: number) {
    super(message);
    this.dimensions = dimensions;
  }
}
