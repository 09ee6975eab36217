/** What the person who runs the server wants to know of it, and the one thing to set going. */
import type {
  Caller,
  DiagnosticsAnswer,
  DiagnosticsInput,
  HealthAnswer,
  ReindexAnswer,
} from "@/lib/contracts.ts";
import type { Config } from "@/lib/config.ts";
import type { Clock } from "@/lib/seams.ts";
import { VERSION } from "@/lib/version.ts";
import type { VaultIndex } from "./vault_index.ts";

export interface OperationsDeps {
  readonly config: Pick<Config, "access" | "embedding">;
  readonly clock: Clock;
  readonly index: VaultIndex;
}

/** Returns the state of the server at once: it waits for nothing and reads no file. */
export function readHealth({ config, index }: OperationsDeps, _caller: Caller): HealthAnswer {
  return {
    status: index.warnings.length > 0 ? "degraded" : "ok",
    ...index.counts,
    indexing: index.indexing ?? null,
    freshness: index.freshness,
    embedding: config.embedding,
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
  { index }: OperationsDeps,
  _caller: Caller,
  input: DiagnosticsInput,
): Promise<DiagnosticsAnswer> {
  await index.refresh();
  const all = index.diagnostics().filter(({ reason }) =>
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
