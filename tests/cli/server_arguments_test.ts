import { deepStrictEqual as deepEqual } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { serverArguments } from "@/lib/cli/server_arguments.ts";

/** What an agent is told where a person has said this. */
function argumentsFor(args: string, env: Readonly<Record<string, string>> = {}): string[] {
  return serverArguments(
    { args: args.split(" "), cwd: "/here", env: new Map(Object.entries(env)) },
    { vault: "/vault", vaultWasGiven: false },
  );
}

describe("serverArguments()", () => {
  it("serverArguments() says where the key of a provider is, as it is found from anywhere", () => {
    const cases: [string, string][] = [
      ["file:keys/openai", "file:/here/keys/openai"],
      ["file:/keys/openai", "file:/keys/openai"],
      ["file:~/key", "file:~/key"],
      ["env:ACME_KEY", "env:ACME_KEY"],
      ["keychain:commonplace/openai", "keychain:commonplace/openai"],
    ];
    for (const [written, passed] of cases) {
      deepEqual(argumentsFor(`install claude --embedding-credential ${written}`), [
        `--embedding-credential=${passed}`,
      ]);
    }
  });

  it("serverArguments() leaves what a variable says of another provider", () => {
    const env = {
      COMMONPLACE_EMBEDDING: "ollama",
      COMMONPLACE_EMBEDDING_BASE_URL: "http://10.0.0.7:11434/v1",
      COMMONPLACE_EMBEDDING_TIMEOUT: "500",
    };

    deepEqual(argumentsFor("install claude --embedding openai", env), [
      "--embedding=openai",
      "--embedding-timeout=500",
    ]);
    deepEqual(argumentsFor("install claude", env), [
      "--embedding=ollama",
      "--embedding-base-url=http://10.0.0.7:11434/v1",
      "--embedding-timeout=500",
    ]);
  });
});
