/**
 * The command `doctor`: all that is wrong with the vault, and how to mend it. It reads, and writes
 * nothing at all, so that a server may run on the same vault and state meanwhile: its index is one of
 * its own, in memory, without the cache and the snapshot that are kept in the state directory.
 */
import type { CommandLine } from "@/lib/config_command.ts";
import type { NoteKind } from "@/lib/contracts.ts";
import { type Embedder, EmbeddingUnavailable } from "@/lib/embed/embedder.ts";
import { describeFailure } from "@/lib/errors.ts";
import { readDiagnostics } from "@/lib/index/operations.ts";
import { VaultIndex } from "@/lib/index/vault_index.ts";
import type { Services } from "@/lib/services.ts";
import { checkJournal } from "./check_journal.ts";
import { type Findings, formatFindings, isHealthy } from "./doctor_text.ts";
import { MENDS } from "./mends.ts";
import { PERSON } from "./person.ts";
import { showJson, showText } from "./show_text.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Examines the vault of services that were not started, and shows what is wrong.
 *
 * @returns Whether all is well.
 * @throws {IndexNotReady} If the vault cannot be read.
 */
export async function runDoctor(
  services: Services,
  terminal: Terminal,
  { json }: Pick<CommandLine, "json">,
): Promise<boolean> {
  const findings = await examine(services);
  const isWell = isHealthy(findings);
  if (json) showJson(terminal, { healthy: isWell, ...findings });
  else showText(terminal, formatFindings(findings));
  return isWell;
}

async function examine(services: Services): Promise<Findings> {
  const { config, vault, clock, logger, projects, model: embedder } = services;
  const onlyKinds = config.index === "memories" ? { onlyKinds: new Set<NoteKind>(["memory"]) } : {};
  const index = new VaultIndex({ vault, clock, logger, ...onlyKinds });
  try {
    await index.load();
    const deps = { config, clock, index, projects };
    const { total, byReason, warnings, diagnostics } = await readDiagnostics(deps, PERSON, {
      limit: Infinity,
    });
    const { notes, memories } = index.counts;
    return {
      notes,
      memories,
      total,
      byReason,
      diagnostics: diagnostics.map((each) => ({ ...each, mend: MENDS[each.reason] })),
      warnings: [...warnings, ...await checkEmbedder(embedder)],
      journal: await checkJournal({ vault, clock }),
    };
  } finally {
    await index.close();
  }
}

/** Tries the model, as the index has none of its own. */
async function checkEmbedder(embedder: Embedder | undefined): Promise<string[]> {
  if (embedder === undefined) return [];
  try {
    await embedder.embed(["memory"], "passage");
    return [];
  } catch (error) {
    const why = error instanceof EmbeddingUnavailable
      ? error.message
      : `The model ${embedder.id} cannot be used (${describeFailure(error).cause})`;
    return [`${why}. Until it works again notes are found by their words only`];
  }
}
