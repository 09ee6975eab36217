import type { RemoteModel } from "@/lib/remote_model.ts";

/** Returns a model behind an address, as one that needs nothing special. */
export function remoteModel(model: Partial<RemoteModel> = {}): RemoteModel {
  return {
    provider: "openai-compatible",
    baseUrl: "http://127.0.0.1:1/v1",
    model: "test-model",
    credential: undefined,
    dimensions: 16,
    asksForDimensions: false,
    prefixes: { query: "", passage: "" },
    timeoutMs: 2_000,
    ...model,
  };
}
