/** Keeps keys and passwords out of the vault: what is written is read by every agent, and synced. */
import { AppError } from "./errors.ts";
import { findSecrets } from "./secrets.ts";

/**
 * Refuses texts that look like they hold a secret.
 *
 * @throws {AppError} `secret-found` with what was found and where; never with the secret.
 */
export function requireNoSecrets(texts: Readonly<Record<string, string | undefined>>): void {
  const problems = Object.entries(texts).flatMap(([field, text]) =>
    findSecrets(text ?? "").map(({ kind, line, column, shown }) => ({
      field,
      message: `line ${line}, column ${column} looks like a ${kind} (${shown})`,
    }))
  );
  if (problems.length === 0) return;
  const words = problems.slice(0, 3).map(({ field, message }) => `${field} ${message}`).join("; ");
  throw new AppError(
    "secret-found",
    `Nothing was saved: ${words}. Leave it out and write where it is kept instead; if it is no ` +
      "secret, pass allow_secret",
    { problems },
  );
}
