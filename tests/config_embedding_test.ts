import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import type { RemoteModel } from "@/lib/remote_model.ts";
import { EMBEDDING_PROVIDERS } from "@/lib/embedding_providers.ts";
import { loadOn, problemsOn, type World } from "./_support/config_machine.ts";

/** What a world's model is, as far as `expected` says something of it. */
function matchModel(world: World, expected: Partial<RemoteModel>): void {
  const { remoteModel } = loadOn(world);
  const name = JSON.stringify(world);

  ok(remoteModel !== undefined, name);
  ok(Object.isFrozen(remoteModel));
  deepEqual({ ...remoteModel, ...expected }, remoteModel, name);
}

const flags = (text: string): World => ({ args: text.split(" ") });
const OTHER = "--embedding openai-compatible --embedding-base-url";

describe("loadConfig() with a model of a provider", () => {
  it("loadConfig() completes what is known of a provider and its usual model", () => {
    const { remoteModel } = loadOn(flags("--embedding ollama"));

    deepEqual(remoteModel, {
      provider: "ollama",
      baseUrl: "http://127.0.0.1:11434/v1",
      model: "bge-m3",
      credential: undefined,
      dimensions: 1024,
      asksForDimensions: false,
      prefixes: { query: "", passage: "" },
      timeoutMs: 1500,
    });
    for (const [provider, { baseUrl, model }] of Object.entries(EMBEDDING_PROVIDERS)) {
      if (baseUrl === undefined || model === undefined) continue;
      matchModel(flags(`--embedding ${provider}`), { baseUrl, model });
    }
  });

  it("loadConfig() has no such model for what needs no provider, whatever else is set", () => {
    const more = ["--embedding-model", "x", "--embedding-base-url", "http://far.example/v1"];

    for (const embedding of ["static", "none"]) {
      equal(loadOn({ args: ["--embedding", embedding, ...more] }).remoteModel, undefined);
    }
    equal(loadOn({ args: more }).embedding, "static");
  });

  it("loadConfig() cuts an address to where the interface begins", () => {
    const cases: [string, string][] = [
      ["https://llm.example/v1", "https://llm.example/v1"],
      ["https://llm.example/v1//", "https://llm.example/v1"],
      ["https://llm.example/v1/embeddings", "https://llm.example/v1"],
      ["https://llm.example/v1/embeddings/", "https://llm.example/v1"],
      ["HTTPS://LLM.example:443/V1", "https://llm.example/V1"],
      ["http://[::1]:8080", "http://[::1]:8080"],
      ["http://10.0.0.7:1234/v1", "http://10.0.0.7:1234/v1"],
    ];
    for (const [written, baseUrl] of cases) {
      matchModel(flags(`${OTHER} ${written} --embedding-model bge-m3`), { baseUrl });
    }
  });

  it("loadConfig() refuses what is no plain address, and shows nothing of it", () => {
    const wrong = ["SECRET", "ftp://SECRET/v1", "https://SECRET@llm.example/v1"].concat(
      "https://a:SECRET@llm.example/v1",
      "https://llm.example/v1?key=SECRET",
      "https://llm.example/v1#SECRET",
    );
    for (const address of wrong) {
      const problems = problemsOn(flags(`${OTHER} ${address} --embedding-model bge-m3`));

      equal(problems.length, 1, address);
      match(problems[0] ?? "", /^--embedding-base-url must be an address that begins with http/);
      ok(!problems[0]?.includes("SECRET"), problems[0]);
    }
  });

  it("loadConfig() says what a provider needs that has no address or model of its own", () => {
    const cases: [string, RegExp][] = [
      ["--embedding azure", /--embedding-base-url, such as https:\/\/RESOURCE\.openai\.azure\.com/],
      [`${OTHER} http://127.0.0.1/v1`, /no usual model: pass --embedding-model/],
      [
        "--embedding openai-compatible --embedding-model bge-m3",
        /--embedding-base-url, such as http:\/\/127\.0\.0\.1/,
      ],
    ];
    for (const [args, words] of cases) {
      const problems = problemsOn(flags(args));

      equal(problems.length, 1, problems.join("\n"));
      match(problems[0] ?? "", words);
    }
  });

  it("loadConfig() sends no key unencrypted beyond this machine", () => {
    const http = "--embedding openai --embedding-base-url http://";
    for (const host of ["10.0.0.7:1234", "192.168.1.2", "llm.example", "127.0.0.1.example"]) {
      const [problem = ""] = problemsOn(flags(`${http}${host}/v1`));

      match(problem, /^--embedding-base-url: the key from env:OPENAI_API_KEY would travel unencr/);
    }
    for (const host of ["127.0.0.1:1234", "localhost", "[::1]:80"]) {
      matchModel(flags(`${http}${host}/v1`), { credential: "env:OPENAI_API_KEY" });
    }
    matchModel(flags("--embedding ollama --embedding-base-url http://10.0.0.7:11434/v1"), {
      credential: undefined,
    });
  });
});

describe("loadConfig() with a key for a provider", () => {
  const at = (credential: string): World => ({
    args: ["--embedding", "openai", "--embedding-credential", credential],
  });

  it("loadConfig() takes where the key is, and looks at none", () => {
    const cases: [string, string][] = [
      ["env:MY_KEY", "env:MY_KEY"],
      [" env:COMMONPLACE_KEY ", "env:COMMONPLACE_KEY"],
      ["file:/gone/key", "file:/gone/key"],
      ["file:key", "file:/here/key"],
      ["file:~/my key", "file:/home/ada/my key"],
      ["keychain:commonplace/openai key", "keychain:commonplace/openai key"],
    ];
    for (const [written, credential] of cases) matchModel(at(written), { credential });
    matchModel({ args: ["--embedding", "voyage"] }, { credential: "env:VOYAGE_API_KEY" });
  });

  it("loadConfig() means a path in the configuration file from there", () => {
    const text = '{"embedding": "openai", "embedding-credential": "file:keys/openai"}';

    matchModel({ args: ["--config", "/etc/cp/c.json"], files: { "/etc/cp/c.json": text } }, {
      credential: "file:/etc/cp/keys/openai",
    });
  });

  it("loadConfig() knows a COMMONPLACE_ variable that holds the key", () => {
    matchModel({ ...at("env:COMMONPLACE_KEY"), env: { COMMONPLACE_KEY: "k" } }, {
      credential: "env:COMMONPLACE_KEY",
    });
    const text = '{"embedding": "openai", "embedding-credential": "env:COMMONPLACE_KEY"}';
    const files = { "/home/ada/.commonplace/config.json": text };
    equal(
      loadOn({ files, env: { COMMONPLACE_KEY: "k", COMMONPLACE_EMBEDDING: "none" } }).embedding,
      "none",
    );
  });

  it("loadConfig() refuses the key itself, shows nothing of it, and says where it belongs", () => {
    const wrong = ["sk-SECRET", "SECRET:x", "env:SECRET-KEY", "env:", "file:", "keychain:SECRET"];
    for (const credential of wrong) {
      for (const embedding of ["openai", "static"]) {
        const problems = problemsOn({
          args: ["--embedding", embedding, `--embedding-credential=${credential}`],
        });

        equal(problems.length, 1, credential);
        match(problems[0] ?? "", /^--embedding-credential: a key never belongs in flags or config/);
        ok(!problems[0]?.includes("SECRET"), problems[0]);
      }
    }
  });
});

describe("loadConfig() with the length of vectors", () => {
  const model = (provider: string, name: string, dimensions?: number): World => ({
    args: [
      ...["--embedding", provider, "--embedding-model", name],
      ...(dimensions === undefined ? [] : ["--embedding-dimensions", `${dimensions}`]),
    ],
  });

  it("loadConfig() asks for a length only where the model gives another by itself", () => {
    const cases: [World, number, boolean][] = [
      [model("openai", "text-embedding-3-small"), 1536, false],
      [model("openai", "text-embedding-3-small", 1536), 1536, false],
      [model("openai", "text-embedding-3-small", 512), 512, true],
      [model("openai", "text-embedding-3-large"), 1024, true],
      [model("openai", "text-embedding-3-large", 3072), 3072, false],
      [model("gemini", "gemini-embedding-001"), 768, true],
      [model("openrouter", "BAAI/bge-m3", 1024), 1024, false],
      // Of what it can do nobody knows more than how long its vectors were.
      [model("openrouter", "acme/unheard-of", 640), 640, false],
    ];
    for (const [world, dimensions, asksForDimensions] of cases) {
      matchModel(world, { dimensions, asksForDimensions });
    }
  });

  it("loadConfig() refuses a length that the model cannot give", () => {
    const cases: [World, RegExp][] = [
      [model("ollama", "bge-m3", 512), /^--embedding-dimensions 512: bge-m3 gives 1024 and no o/],
      [model("openai", "text-embedding-3-small", 2000), /2000: .* gives at most 1536$/],
      [model("openrouter", "acme/unheard-of"), /"acme\/unheard-of" are is not known: run `deno t/],
      [model("ollama", "bge-m3", 0), /must be a whole number from 1 to 65536, not "0"$/],
      [model("ollama", "bge-m3", 65_537), /must be a whole number from 1 to 65536, not "65537"$/],
    ];
    for (const [world, words] of cases) {
      const problems = problemsOn(world);

      equal(problems.length, 1, problems.join("\n"));
      match(problems[0] ?? "", words);
    }
  });

  it("loadConfig() takes an assumed length where nobody knows, for who is about to ask", () => {
    const assumed = { assumedDimensions: 1 };

    matchModel({ ...model("openrouter", "acme/unheard-of"), ...assumed }, { dimensions: 1 });
    matchModel({ ...model("openrouter", "acme/unheard-of", 7), ...assumed }, { dimensions: 7 });
    matchModel({ ...model("ollama", "bge-m3"), ...assumed }, { dimensions: 1024 });
  });

  it("loadConfig() knows what a model wants to read before its texts", () => {
    matchModel(model("ollama", "nomic-embed-text"), {
      prefixes: { query: "search_query: ", passage: "search_document: " },
    });
  });
});

describe("loadConfig() with several sources of a model", () => {
  const file = (text: Record<string, unknown>) => ({
    "/home/ada/.commonplace/config.json": JSON.stringify(text),
  });
  const OLLAMA = {
    "embedding": "ollama",
    "embedding-model": "nomic-embed-text",
    "embedding-base-url": "http://10.0.0.7:11434/v1",
    "dense-weight": 0.6,
  };

  it("loadConfig() leaves what a source says of another provider than the one in use", () => {
    const files = file({
      ...OLLAMA,
      "embedding-credential": "file:/key",
      "embedding-timeout": 500,
    });

    matchModel({ files: file(OLLAMA) }, { model: "nomic-embed-text", timeoutMs: 1500 });
    matchModel({ files, args: ["--embedding", "openai"] }, {
      baseUrl: "https://api.openai.com/v1",
      model: "text-embedding-3-small",
      credential: "env:OPENAI_API_KEY",
      timeoutMs: 500,
    });
    equal(loadOn({ files, env: { COMMONPLACE_EMBEDDING: "static" } }).denseWeight, undefined);
    equal(loadOn({ files: file(OLLAMA) }).denseWeight, 0.6);
  });

  it("loadConfig() takes together what sources say of one provider, or of none by name", () => {
    matchModel({ files: file(OLLAMA), args: ["--embedding-model", "bge-m3"] }, {
      model: "bge-m3",
      baseUrl: "http://10.0.0.7:11434/v1",
    });
    matchModel({ files: file(OLLAMA), args: ["--embedding", "ollama"] }, {
      model: "nomic-embed-text",
    });
    matchModel({
      files: file({ "embedding-credential": "env:MINE" }),
      env: { COMMONPLACE_EMBEDDING: "openai" },
    }, { credential: "env:MINE" });
  });
});
