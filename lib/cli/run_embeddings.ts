/** The command `embeddings`: which model is behind vector search, and what it is worth. */
import type { Config } from "@/lib/config.ts";
import type { CommandLine } from "@/lib/config_command.ts";
import { EMBEDDINGS } from "@/lib/config_fields.ts";
import type { CommandFlag } from "@/lib/config_sources.ts";
import { ConfigError } from "@/lib/errors.ts";
import { unknownName } from "@/lib/nearest_name.ts";
import { wordsOf } from "./report.ts";
import { showJson, toPlain } from "./show_text.ts";
import type { Surroundings } from "./surroundings.ts";
import { type EmbeddingSeams, ownEmbeddingSeams } from "./embedding_seams.ts";
import { testEmbeddings } from "./test_embeddings.ts";
import { useEmbeddings } from "./use_embeddings.ts";

const EXIT_WELL = 0;
const EXIT_FAILED = 1;

const ACTIONS = ["use", "test"] as const;
/** What only one of them takes. */
const FLAGS_OF: Readonly<Record<(typeof ACTIONS)[number], readonly CommandFlag[]>> = {
  use: ["dry-run", "untested"],
  test: ["json"],
};

/**
 * Takes another model, or tries one; returns the exit code.
 *
 * @throws {ConfigError} If it is not said what to do, or the settings cannot be used.
 */
export async function runEmbeddings(
  surroundings: Surroundings,
  line: CommandLine,
  seams: EmbeddingSeams = ownEmbeddingSeams(surroundings),
): Promise<number> {
  const action = requireAction(line);
  const context = { surroundings, line, seams, provider: findProvider(line) };
  try {
    await (action === "use" ? useEmbeddings(context) : testEmbeddings(context));
    return EXIT_WELL;
  } catch (error) {
    const words = wordsOf(error);
    if (words === undefined || error instanceof ConfigError) throw error;
    if (line.json) showJson(surroundings.terminal, { works: false, reason: words });
    else surroundings.terminal.writeError(toPlain(words));
    return EXIT_FAILED;
  }
}

function requireAction({ words: [word], dryRun, json, untested }: CommandLine): "use" | "test" {
  if (word === undefined) {
    throw new ConfigError("embeddings needs to know what to do: use PROVIDER, or test");
  }
  const action = ACTIONS.find((each) => each === word);
  if (action === undefined) throw new ConfigError(unknownName("action", word, ACTIONS));
  const given = { "dry-run": dryRun, untested, json };
  for (const [flag, isGiven] of Object.entries(given)) {
    if (!isGiven || FLAGS_OF[action].some((each) => each === flag)) continue;
    throw new ConfigError(`--${flag} does not belong to \`embeddings ${action}\``);
  }
  return action;
}

function findProvider({ words: [, word] }: CommandLine): Config["embedding"] | undefined {
  const provider = EMBEDDINGS.find((each) => each === word);
  if (word === undefined || provider !== undefined) return provider;
  throw new ConfigError(unknownName("provider", word, EMBEDDINGS));
}
