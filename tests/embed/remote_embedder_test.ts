import {
  deepStrictEqual as deepEqual,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import type { Embedding } from "@/lib/embed/embedder.ts";
import { OtherDimensions } from "@/lib/embed/other_dimensions.ts";
import { RemoteEmbedder } from "@/lib/embed/remote_embedder.ts";
import { systemClock } from "@/lib/seams.ts";
import type { ProviderMood } from "../_support/embedding_provider.ts";
import { remoteModel } from "../_support/remote_model.ts";
import { silentLogger } from "../_support/silent_logger.ts";
import { untilSo } from "../_support/until.ts";
import { openRemoteWorld, unavailable } from "./_remote_world.ts";

const TEXTS = ["cache the confidential page", "bake bread", "缓存页面"];

function cosine(a: Embedding, b: Embedding): number {
  ok(a && b);
  return a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
}

describe("RemoteEmbedder", () => {
  it("RemoteEmbedder.id differs with all that decides the vectors, and shows no address", () => {
    const idOf = (model: Parameters<typeof remoteModel>[0]) =>
      new RemoteEmbedder({
        model: remoteModel(model),
        readCredential: undefined,
        clock: systemClock,
        logger: silentLogger(),
      }).id;
    const ids = [
      {},
      { baseUrl: "http://127.0.0.1:2/v1" },
      { model: "other-model" },
      { dimensions: 32 },
      { prefixes: { query: "q: ", passage: "" } },
      { prefixes: { query: "", passage: "q: " } },
      { provider: "jina" as const },
    ].map(idOf);

    equal(new Set(ids).size, ids.length);
    equal(idOf({}), idOf({ timeoutMs: 9, credential: "env:OTHER" }));
    ok(/^openai-compatible:test-model:16:[0-9a-f]{12}$/.test(ids[0] ?? ""));
  });

  it("RemoteEmbedder.embed() gives texts of like words like vectors of unit length", async () => {
    await using world = openRemoteWorld({
      provider: { dimensions: 256 },
      model: { dimensions: 256 },
    });

    const [a, b, c] = await world.embedder.embed(
      ["the cache of pages", "the cache of a page", "bread and butter"],
      "passage",
    );

    ok(Math.abs(cosine(a, a) - 1) < 1e-6);
    ok(cosine(a, b) > cosine(a, c) + 0.3);
  });

  it("RemoteEmbedder.embed() sends model, texts with their prefix, and what the provider wants", async () => {
    const rows = [
      [{ provider: "openai" }, "query", { encoding_format: "base64" }],
      [{ provider: "openai", asksForDimensions: true }, "passage", {
        encoding_format: "base64",
        dimensions: 16,
      }],
      [{ provider: "voyage", asksForDimensions: true }, "query", {
        encoding_format: "base64",
        input_type: "query",
        output_dimension: 16,
      }],
      [{ provider: "jina" }, "passage", { truncate: true, task: "retrieval.passage" }],
      [{ provider: "ollama" }, "passage", {}],
    ] as const;
    for (const [model, kind, fields] of rows) {
      const prefixes = { query: "q: ", passage: "p: " };
      await using world = openRemoteWorld({ model: { ...model, prefixes } });

      await world.embedder.embed(["one"], kind);

      const [request] = world.provider.requests;
      const input = [kind === "query" ? "q: one" : "p: one"];
      deepEqual(request?.body, { model: "test-model", input, ...fields });
    }
  });

  it("RemoteEmbedder.embed() puts the key into the header of the provider, and none without one", async () => {
    const rows = [
      ["openai", "sk-1", "authorization", "Bearer sk-1"],
      ["azure", "sk-2", "api-key", "sk-2"],
      ["ollama", undefined, "authorization", null],
    ] as const;
    for (const [provider, key, header, value] of rows) {
      const readCredential = key && (() => Promise.resolve(key));
      await using world = openRemoteWorld({ model: { provider }, embedder: { readCredential } });

      await world.embedder.embed(["one"], "query");

      equal(world.provider.requests[0]?.headers.get(header), value);
    }
  });

  it("RemoteEmbedder.embed() keeps the query of an address behind its path", async () => {
    const urls: string[] = [];
    const fetchNothing = (url: URL | RequestInfo) => {
      urls.push(String(url));
      return Promise.resolve(Response.json({ data: [{ embedding: [3, 4] }] }));
    };
    await using world = openRemoteWorld({
      model: { baseUrl: "https://example.org/openai?api-version=1", dimensions: 2 },
      embedder: { fetch: fetchNothing },
    });

    const [embedding] = await world.embedder.embed(["one"], "query");

    deepEqual(urls, ["https://example.org/openai/embeddings?api-version=1"]);
    deepEqual([...embedding ?? []], [...Float32Array.of(0.6, 0.8)]);
  });

  it("RemoteEmbedder.embed() sends no blank texts, and mends half characters", async () => {
    await using world = openRemoteWorld();

    const embeddings = await world.embedder.embed(["", "one", " \n\t", "a\ud83d", "　"], "passage");
    const nothing = await world.embedder.embed(["", " "], "query");

    deepEqual(embeddings.map((embedding) => embedding !== undefined), [
      false,
      true,
      false,
      true,
      false,
    ]);
    deepEqual(nothing, [undefined, undefined]);
    deepEqual(world.provider.requests.map((request) => request.texts), [["one", "a\ufffd"]]);
  });

  it("RemoteEmbedder.embed() keeps the order over batches of what the provider takes", async () => {
    await using world = openRemoteWorld({ model: { provider: "dashscope" } });
    const texts = Array.from({ length: 47 }, (_, at) => `text ${at} ${at * at}`);

    const together = await world.embedder.embed(texts, "passage");
    const alone = await Promise.all(texts.map((text) => world.embedder.embed([text], "query")));

    deepEqual(together, alone.flat());
    deepEqual(
      world.provider.requests.slice(0, 5).map(({ texts }) => texts.length).toSorted(),
      [10, 10, 10, 10, 7],
    );
    ok(world.provider.requests.every((request) => request.texts.length <= 10));
  });

  for (const provider of ["openai", "ollama"] as const) {
    const form = provider === "openai" ? "bytes" : "numbers";
    for (const mood of ["well", "reordered", "no index", "no index of zero"] as const) {
      it(`RemoteEmbedder.embed() reads ${form} when the provider answers ${mood}`, async () => {
        await using world = openRemoteWorld({ model: { provider } });
        const right = await world.embedder.embed(TEXTS, "passage");
        world.provider.mood = mood;

        const embeddings = await world.embedder.embed(TEXTS, "passage");

        deepEqual(embeddings, right);
      });
    }
  }

  const broken: readonly [ProviderMood, RegExp][] = [
    ["truncated", /cut off/],
    ["html", /no JSON: check --embedding-base-url/],
    ["other fields", /without embeddings/],
    ["wrong dimensions", /vectors of 17 numbers instead of 16: set --embedding-dimensions 17/],
    ["duplicate index", /not clear to which text/],
    ["index out of range", /not clear to which text/],
    ["too few", /2 embeddings for 3 texts/],
    ["too many", /4 embeddings for 3 texts/],
    ["redirect", /on to another address \(307\), .*check --embedding-base-url/],
    [{ status: 401, code: "invalid_api_key" }, /wants a key \(401 invalid_api_key\)/],
    [{ status: 403 }, /wants a key \(403 an_error\): say where it is with --embedding-credential/],
    [{ status: 402 }, /quota at .* is used up \(402 an_error\)/],
    [{ status: 404 }, /has no model "test-model", or is not asked at the right address \(404/],
    [{ status: 400 }, /refuses to embed with "test-model" \(400 an_error\)/],
    [{ status: 418 }, /answered with 418/],
    [{ status: 429, code: "insufficient_quota" }, /quota .* used up \(429 insufficient_quota\)/],
    [{ status: 404, text: "{" }, /\(404\)/],
    [{ status: 404, code: "confidential text of a note" }, /\(404 some_type\)/],
    [{ status: 404, text: '{"error":"confidential"}' }, /\(404\)/],
    [{ status: 404, text: '[{"error":{"code":404,"status":"NOT_FOUND"}}]' }, /\(404 NOT_FOUND\)/],
    [{ status: 404, text: '{"code":"InvalidParameter"}' }, /\(404 InvalidParameter\)/],
  ];
  for (const kind of ["query", "passage"] as const) {
    for (const [mood, words] of broken) {
      it(`RemoteEmbedder.embed() says of a ${kind} what is wrong: ${words.source}`, async () => {
        await using world = openRemoteWorld();
        world.provider.mood = mood;

        const { message } = await unavailable(world.embedder.embed(TEXTS, kind));

        ok(words.test(message), message);
        ok(message.includes(new URL(world.provider.baseUrl).host));
        ok(world.provider.requests.length <= 2);
        ok(!world.logs.join().includes("confidential"));
      });
    }
  }

  it("RemoteEmbedder.embed() tells the length that vectors have as a number too", async () => {
    await using world = openRemoteWorld({ model: { dimensions: 1_024 } });

    const failure = await unavailable(world.embedder.embed(["one"], "query"));

    ok(failure instanceof OtherDimensions);
    equal(failure.dimensions, 16);
  });

  it("RemoteEmbedder.embed() asks whether a server of one's own is running when nobody answers", async () => {
    for (const provider of ["ollama", "lmstudio", "openai-compatible"] as const) {
      await using world = openRemoteWorld({ model: { provider } });
      await world.provider.stop();

      const { message } = await unavailable(world.embedder.embed(["one"], "query"));

      const isNear = provider !== "openai-compatible";
      ok(/^Nobody answers at 127\.0\.0\.1:\d+/.test(message));
      equal(message.includes(`is ${provider} running?`), isNear);
    }
  });

  it("RemoteEmbedder.embed() says how Ollama gets a model that it does not have", async () => {
    await using world = openRemoteWorld({ model: { provider: "ollama", model: "bge-m3" } });
    world.provider.mood = { status: 404, code: "not_found_error" };

    const { message } = await unavailable(world.embedder.embed(["one"], "passage"));

    ok(message.endsWith("or run `ollama pull bge-m3`"));
  });

  it("RemoteEmbedder.embed() gives up an answer that has no end", async () => {
    const megabyte = new Uint8Array(1024 * 1024).fill(0x20);
    const state = { isCancelled: false };
    const endless = new ReadableStream({
      pull: (body) => body.enqueue(megabyte),
      cancel: () => {
        state.isCancelled = true;
      },
    });
    await using world = openRemoteWorld({
      embedder: { fetch: () => Promise.resolve(new Response(endless)) },
    });

    const { message } = await unavailable(world.embedder.embed(["one"], "query"));

    ok(/far too long/.test(message));
    ok(state.isCancelled);
  });

  it("RemoteEmbedder.embed() goes no further than its address with a key", async () => {
    await using other = openRemoteWorld();
    const fetchOnwards: typeof fetch = (url, init) => {
      equal(init?.redirect, "manual");
      return fetch(url, init);
    };
    await using world = openRemoteWorld({
      embedder: { fetch: fetchOnwards, readCredential: () => Promise.resolve("sk-1") },
    });
    world.provider.mood = {
      status: 308,
      headers: { location: `${other.provider.baseUrl}/embeddings` },
    };

    await unavailable(world.embedder.embed(["one"], "passage"));

    equal(other.provider.requests.length, 0);
  });

  it("RemoteEmbedder.usage counts requests, texts and tokens", async () => {
    await using world = openRemoteWorld();
    equal(world.embedder.usage.tokens, undefined);
    world.provider.script.push({ status: 503 });

    await world.embedder.embed(TEXTS, "passage");
    await world.embedder.embed(["one"], "query");

    deepEqual(world.embedder.usage, { requests: 3, texts: 4, tokens: 12 });
  });

  it("RemoteEmbedder.embed() ends all waiting at once when its signal aborts", async () => {
    const moods: readonly ProviderMood[] = [
      "hanging",
      { status: 429, headers: { "retry-after": "50" } },
      { status: 503, headers: { "retry-after": "50" } },
    ];
    for (const mood of moods) {
      await using world = openRemoteWorld({ model: { provider: "dashscope" } });
      world.provider.mood = mood;
      const stop = new AbortController();
      const embedding = world.embedder.embed(
        Array.from({ length: 60 }, () => "text"),
        "passage",
        stop.signal,
      );
      await untilSo("it is asked", () => world.provider.requests.length > 0);

      stop.abort(new Error("enough"));

      await rejects(embedding, /enough/);
      await rejects(world.embedder.embed(["one"], "query", stop.signal), /enough/);
    }
  });

  it("RemoteEmbedder.embed() does not wait for a key when its signal aborts", async () => {
    const readCredential = () => new Promise<string>(() => {});
    await using world = openRemoteWorld({ embedder: { readCredential } });

    const embedding = world.embedder.embed(["one"], "query", AbortSignal.timeout(5));

    await rejects(embedding, { name: "TimeoutError" });
  });
});
