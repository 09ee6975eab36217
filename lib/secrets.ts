/**
 * Finds what looks like a secret in a text that is to be kept. Guards notes, which are synced,
 * indexed and read to models, against keys that somebody pasted. No finding holds a character of
 * the secret, so it may be told and logged; the time taken grows with the length of the text, not
 * faster, whatever the text.
 */
import {
  findAssignments,
  findBasicHeaders,
  findBearers,
  findJwts,
  findPrivateKeys,
  findUrlPasswords,
} from "./_secret_phrases.ts";
import { findTokens, MAX_SPANS, type SecretSpan } from "./_secret_tokens.ts";

/** One place in a text where something secret seems to stand. */
export interface SecretFinding {
  /** In words: `GitHub token`, `private key`, `password in a URL`. */
  readonly kind: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;
  /** The prefix that everybody knows, and an ellipsis. */
  readonly shown: string;
}

/**
 * Finds tokens by their shape, private keys, passwords in addresses, and random values behind
 * names such as `password` or `密钥`. Placeholders, references (`$TOKEN`, `env:NAME`), hashes and
 * ids are none.
 *
 * @returns At most 20, in the order of the text, no two of which overlap.
 *
 * @example
 * ```ts
 * import { deepEqual } from "node:assert/strict";
 *
 * const token = "npm_" + "a1B2c3D4e5F6".repeat(3);
 * deepEqual(findSecrets(`Log in:\n  ${token}`), [
 *   { kind: "npm token", line: 2, column: 3, shown: "npm_…" },
 * ]);
 * deepEqual(findSecrets("Set NPM_TOKEN=$TOKEN, the token is in the keychain."), []);
 * ```
 */
export function findSecrets(text: string): SecretFinding[] {
  return toFindings(text, findSpans(text));
}

/** So much text is looked at in one step. */
const STEP_CHARS = 40 * 1024;
/** Looked at once more at the begin of the next step: no key and no token is longer. */
const OVERLAP_CHARS = 16 * 1024;

/** Finds what `findSecrets()` does, in small steps. */
export function* findSecretsInSteps(text: string): Generator<void, SecretFinding[]> {
  let found: SecretSpan[] = [];
  for (let start = 0; start < text.length && found.length < MAX_SPANS;) {
    const end = Math.min(start + STEP_CHARS, text.length);
    const isLast = end === text.length;
    const next = isLast ? end : end - OVERLAP_CHARS;
    const spans = findSpans(text.slice(start, end)).map((span) => ({
      ...span,
      start: span.start + start,
      end: span.end + start,
    }));
    // What begins in the overlap is seen whole by the next step.
    found = withoutOverlaps([...found, ...spans.filter((span) => isLast || span.start < next)]);
    yield;
    start = next;
  }
  return toFindings(text, found);
}

function findSpans(text: string): SecretSpan[] {
  // The surer first: where two overlap, the first one counts.
  return withoutOverlaps([
    ...findPrivateKeys(text),
    ...findTokens(text),
    ...findJwts(text),
    ...findUrlPasswords(text),
    ...findBasicHeaders(text),
    ...findBearers(text),
    ...findAssignments(text),
  ]);
}

function toFindings(text: string, spans: readonly SecretSpan[]): SecretFinding[] {
  const places = linePlaces(text);
  return spans.toSorted((a, b) => a.start - b.start).slice(0, MAX_SPANS)
    .map(({ kind, shown, start }) => ({ kind, ...places(start), shown }));
}

function withoutOverlaps(spans: readonly SecretSpan[]): SecretSpan[] {
  const kept: SecretSpan[] = [];
  for (const span of spans) {
    if (kept.every(({ start, end }) => span.end <= start || end <= span.start)) kept.push(span);
  }
  return kept;
}

/** Returns a function from offsets to places; the offsets it is asked for must grow. */
function linePlaces(text: string): (offset: number) => { line: number; column: number } {
  const ends = text.matchAll(/\r\n|\r|\n/g);
  let next = ends.next();
  let line = 1;
  let lineStart = 0;
  return (offset) => {
    for (; !next.done && next.value.index < offset; next = ends.next()) {
      line++;
      lineStart = next.value.index + next.value[0].length;
    }
    return { line, column: offset - lineStart + 1 };
  };
}
