/** Keeps what agents are shown up to date, for as long as a command is let run. */
import { AppError } from "@/lib/errors.ts";
import { settleWithin } from "@/lib/seams.ts";
import { applyAll } from "./project_agents.ts";
import { isAllowed } from "./projection_consent.ts";
import type { OpenPlan, ProjectionRequest, ProjectionSession } from "./projection_session.ts";
import { showText, toPlain } from "./show_text.ts";

export const WATCH_INTERVAL_MS = 2_000;

export interface WatchOptions {
  /** Settles when it is to end. */
  readonly stopped: Promise<void>;
  /** What the person has been told already of what cannot be done. */
  readonly told?: readonly string[];
  readonly intervalMs?: number;
}

/** Looks for changes again and again; writes where the bytes change, and says what it did. */
export async function watchProjections(
  session: ProjectionSession,
  request: ProjectionRequest,
  { stopped, told: known = [], intervalMs = WATCH_INTERVAL_MS }: WatchOptions,
): Promise<void> {
  const { terminal } = session.surroundings;
  let told = known.join("\n");
  let isStopped = false;
  const end = stopped.then(() => {
    isStopped = true;
  });
  for (;;) {
    await settleWithin(end, intervalMs);
    if (isStopped) return;
    const { lines, refusals } = await lookOnce(session, request);
    if (lines.length > 0) showText(terminal, lines.join("\n"));
    const words = refusals.join("\n");
    // Once, and not every time.
    if (words !== "" && words !== told) terminal.writeError(toPlain(words));
    told = words;
  }
}

async function lookOnce(
  session: ProjectionSession,
  request: ProjectionRequest,
): ReturnType<typeof applyAll> {
  try {
    return await applyAll(session, request, (open) => isDue(session, open));
  } catch (error) {
    // The vault may be away for a moment.
    if (!(error instanceof AppError)) throw error;
    return { lines: [], refusals: [error.message] };
  }
}

/** Lists alone, as links need no care; and nothing that the person has still to decide on. */
export function isDue(
  session: Pick<ProjectionSession, "consentFor">,
  { adapter, plan }: OpenPlan,
): boolean {
  if (plan.kind === "refused") return true;
  return plan.kind === "block" && plan.state !== "current" &&
    isAllowed(session.consentFor(adapter), plan);
}
