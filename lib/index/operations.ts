/** What the person who runs the server wants to know of it, and the one thing to set going. */
import type {
  Caller,
  Diagnostic,
  DiagnosticsAnswer,
  DiagnosticsInput,
  HealthAnswer,
  ReindexAnswer,
} from "@/lib/contracts.ts";
import type { Config } from "@/lib/config.ts";
import type { Clock } from "@/lib/seams.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";
import { VERSION } from "@/lib/version.ts";
import type { VaultIndex } from "./vault_index.ts";

export interface OperationsDeps {
  readonly config: Pick<Config, "access" | "embedding">;
  readonly clock: Clock;
  readonly index: VaultIndex;
  readonly projects: {
    /** Lists the stores of which nobody can tell whose they are. */
    listLost(): Promise<readonly { readonly path: VaultPath }[]>;
  };
}

/** Returns the state of the server at once: it waits for nothing and reads no file. */
export function readHealth(
  { config, index }: Omit<OperationsDeps, "projects">,
  _caller: Caller,
): HealthAnswer {
  return {
    status: index.warnings.length > 0 ? "degraded" : "ok",
    ...index.counts,
    indexing: index.indexing ?? null,
    freshness: index.freshness,
    embedding: config.embedding,
    embeddingProgress: index.embedding ?? null,
    access: config.access,
    version: VERSION,
  };
}

/**
 * Returns what is wrong with notes and files, by path, after a comparison with the disk.
 *
 * @returns At most `input.limit` entries; the counts cover all.
 */
export async function readDiagnostics(
  { index, projects }: OperationsDeps,
  _caller: Caller,
  input: DiagnosticsInput,
): Promise<DiagnosticsAnswer> {
  await index.refresh();
  const lost = (await projects.listLost()).map(describeLost);
  const all = [...index.diagnostics(), ...lost].filter(({ reason }) =>
    input.reason === undefined || reason === input.reason
  );
  const byReason: Record<string, number> = {};
  for (const { reason } of all) byReason[reason] = (byReason[reason] ?? 0) + 1;
  return {
    total: all.length,
    byReason,
    warnings: [...index.warnings],
    diagnostics: all.slice(0, input.limit),
  };
}

function describeLost({ path }: { readonly path: VaultPath }): Diagnostic {
  return {
    path,
    reason: "store-without-project",
    message: "It does not say whose memories lie beside it, so that no repository finds them: " +
      "put `repo_id: host/path of the Git remote` into its frontmatter",
  };
}

/** Reads every note again, whatever its times say; returns when it is done. Searches go on. */
export async function reindex(
  { clock, index }: OperationsDeps,
  _caller: Caller,
): Promise<ReindexAnswer> {
  const startMs = clock.monotonicMs();
  const outcome = await index.load();
  const tookMs = Math.round(clock.monotonicMs() - startMs);
  return { notes: index.counts.notes, ...outcome, tookMs };
}
