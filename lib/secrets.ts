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
  // The surer first: where two overlap, the first one counts.
  const spans = [
    ...findPrivateKeys(text),
    ...findTokens(text),
    ...findJwts(text),
    ...findUrlPasswords(text),
    ...findBasicHeaders(text),
    ...findBearers(text),
    ...findAssignments(text),
  ];
  const places = linePlaces(text);
  return withoutOverlaps(spans)
    .sort((a, b) => a.start - b.start)
    .slice(0, MAX_SPANS)
    .map(({ kind, shown, start }) => ({ kind, ...places(start), shown }));
}

/** So much text is looked at in one step, give or take a line. */
const STEP_CHARS = 16 * 1024;
/** A line that is longer is cut, and looked at twice where it is: no token is that long. */
const OVERLAP_CHARS = 2 * 1024;

/** Finds what `findSecrets()` does, in small steps. */
export function* findSecretsInSteps(text: string): Generator<void, SecretFinding[]> {
  const found = new Map<string, SecretFinding>();
  let line = 1;
  let lineStart = 0;
  for (let start = 0; start < text.length && found.size < MAX_SPANS;) {
    const end = stepEnd(text, start);
    for (const finding of findSecrets(text.slice(start, end))) {
      const isFirstLine = finding.line === 1;
      const column = finding.column + (isFirstLine ? start - lineStart : 0);
      const place = { ...finding, line: line + finding.line - 1, column };
      found.set(`${place.line}:${place.column}`, place);
    }
    yield;
    const next = end === text.length || text[end - 1] === "\n" ? end : end - OVERLAP_CHARS;
    for (
      let at = text.indexOf("\n", start);
      at >= 0 && at < next;
      at = text.indexOf("\n", at + 1)
    ) {
      line++;
      lineStart = at + 1;
    }
    start = next;
  }
  return [...found.values()].slice(0, MAX_SPANS);
}

/** Ends a step behind a line, where it can, so that names stand beside their values. */
function stepEnd(text: string, start: number): number {
  const limit = start + STEP_CHARS;
  if (limit >= text.length) return text.length;
  const last = text.lastIndexOf("\n", limit);
  return last > start + OVERLAP_CHARS ? last + 1 : limit;
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
