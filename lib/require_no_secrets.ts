/** Keeps keys and passwords out of the vault: what is written is read by every agent, and synced. */
import { AppError, type FieldProblem } from "./errors.ts";
import { findSecretsInSteps } from "./secrets.ts";

const MAX_TOLD = 20;

/**
 * Refuses texts that look like they hold a secret.
 *
 * @param wayRound What the caller can do if it is none, for the end of the message.
 * @throws {AppError} `secret-found` with what was found and where; never with the secret.
 */
export function* requireNoSecrets(
  texts: Readonly<Record<string, string | undefined>>,
  wayRound = "; if it is no secret, pass allow_secret",
): Generator<void, void> {
  const problems: FieldProblem[] = [];
  for (const [field, text = ""] of Object.entries(texts)) {
    for (const { kind, line, column, shown } of yield* findSecretsInSteps(text)) {
      const message = `line ${line}, column ${column} looks like a ${kind} (${shown})`;
      if (problems.length < MAX_TOLD) problems.push({ field, message });
    }
  }
  if (problems.length === 0) return;
  const words = problems.slice(0, 3).map(({ field, message }) => `${field} ${message}`).join("; ");
  throw new AppError(
    "secret-found",
    `Nothing was saved: ${words}. Leave it out and write where it is kept instead${wayRound}`,
    { problems },
  );
}
