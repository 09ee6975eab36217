import {
  deepStrictEqual as deepEqual,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { openEmbedder } from "@/lib/embed/open_embedder.ts";
import { createLogger, systemClock as clock } from "@/lib/seams.ts";
import { startEmbeddingProvider } from "../_support/embedding_provider.ts";
import { remoteModel } from "../_support/remote_model.ts";

const logger = createLogger({ level: "error", clock, pretty: false, write: () => {} });

describe("openEmbedder()", () => {
  it("openEmbedder() opens the model that is part of the program where none is named", () => {
    const { isLocal, scale } = openEmbedder(undefined, { clock, logger });

    ok(isLocal && scale);
  });

  it("openEmbedder() asks the provider with the key from where it is", async () => {
    await using provider = startEmbeddingProvider({ dimensions: 8, key: "the-key" });
    const model = remoteModel({ baseUrl: provider.baseUrl, dimensions: 8, credential: "env:KEY" });
    const env = new Map([["KEY", "the-key"]]);

    const [vector] = await openEmbedder(model, { clock, logger, env }).embed(["a"], "query");

    equal(vector?.length, 8);
    equal(provider.requests.length, 1);
  });

  it("openEmbedder() without an environment knows the name of a model, and asks nobody", async () => {
    await using provider = startEmbeddingProvider({ dimensions: 8 });
    const model = remoteModel({ baseUrl: provider.baseUrl, dimensions: 8 });
    const asking = openEmbedder(model, { clock, logger, env: new Map() });

    const silent = openEmbedder(model, { clock, logger });

    deepEqual([silent.id, silent.dimensions], [asking.id, asking.dimensions]);
    await rejects(silent.embed(["a"], "passage"), /asks no provider/);
    equal(provider.requests.length, 0);
  });
});
