/** Judges a value by itself: one that a machine drew, or one that only stands for it. */
import { isUlid } from "./ulid.ts";

/** Below, even a random text is too short to tell from a word with a number. */
const MIN_VALUE_CHARS = 8;
/** Eight characters of which two occur twice still have this; `aaaa1111` and the like do not. */
const MIN_ENTROPY_BITS = 2.5;
/**
 * How often the kind of character changes inside a run of letters and digits, per character.
 * Random hex and base64 come to .4 and more; identifiers, versions and dates stay under .18.
 */
const MIN_CHANGES_SHARE = 0.24;
const MIN_CHANGES = 3;
/** No word has 16 letters from a to f, but a random number may have long runs of digits. */
const LONG_HEX = /^[0-9a-f]{16,}$/i;
/** So many different characters has anything random, the shortest token included. */
const MIN_DIFFERENT_CHARS = 6;
/** A placeholder says so at its beginning; further on, random letters spell words too. */
const MAX_LOOKED_AT_CHARS = 40;

const SAME_CHARACTER_RUN = /([a-z0-9])\1{5}/i;
const SAYS_PLACEHOLDER =
  /example|placeholder|redacted|changeme|dummy|sample|your|fake|todo|xxxx|abcdef|123456|\*\*\*|\.\.\./i;
/** What people write in place of a secret; the longer of two comes first. */
const FILLER_WORD = new RegExp(
  "[^a-z0-9]+|[0-9]{1,4}(?![0-9])|x+(?![a-z])|" + [
    "administrator|admin|apikey|api|access|account|auth|an|a|bearer|client|changeme|change|",
    "credentials|credential|database|db|default|enter|example|foobar|foo|bar|baz|goes|guest|",
    "here|hidden|insert|is|jwt|key|localhost|login|me|mysql|my|name|none|null|of|passphrase|",
    "password|passwd|pass|postgres|private|public|pwd|pw|put|random|redis|removed|replace|root|",
    "secret|some|string|test|the|this|token|undefined|username|user|value|with",
  ].join(""),
  "iy",
);

const HARMLESS: readonly RegExp[] = [
  // where to find it: env:NAME, a name in the environment, $NAME, ${NAME}, $(command), %NAME%, {{ name }}
  /^(?:env|file|keychain|vault|data|op|ref|secrets?|process|os|deno|import)[:.]/i,
  /^\$(?:[{(]|[a-z_]\w*$)|^%(?:\w+%$|\()|^\{|^![a-z]+$/i,
  // what bcrypt and its like make of a password
  /^\$\d\w?\$/,
  // an address, an e-mail address, encoded text
  /:\/\//,
  /^[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{1,190}$/,
  /(?:%[0-9a-f]{2}){3}/i,
  // a call or an element in source text
  /\w[([]/,
  // ids, hashes and durations, as they stand in notes
  /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i,
  /^mem_[0-9a-z]{26}/i,
  /^[0-9a-f]{7,12}$/i,
  /sha[0-9]{1,3}[-:]/i,
  /^(?:[0-9]{1,4}[a-z]{1,2}){1,4}$/i,
];

/** Tells a value that stands for a secret: `YOUR_KEY`, `xxxxxxxx`, `AKIAIOSFODNN7EXAMPLE`. */
export function isPlaceholder(value: string): boolean {
  return new Set(value).size < Math.min(MIN_DIFFERENT_CHARS, value.length) ||
    SAME_CHARACTER_RUN.test(value) ||
    SAYS_PLACEHOLDER.test(value.slice(0, MAX_LOOKED_AT_CHARS)) ||
    isFiller(value);
}

/** Tells a value that names where the secret is, or is of a kind that is none. */
export function isHarmless(value: string): boolean {
  return HARMLESS.some((pattern) => pattern.test(value)) || isUlid(value);
}

/**
 * Tells a value that a machine, or a person with care, drew at random: letters mixed with digits
 * or signs, as neither words nor identifiers, versions and dates have them.
 */
export function looksRandom(value: string): boolean {
  if (value.length < MIN_VALUE_CHARS || !/[a-z]/i.test(value) || !/[0-9#$%^*!@~+=?]/.test(value)) {
    return false;
  }
  const minChanges = Math.max(MIN_CHANGES, value.length * MIN_CHANGES_SHARE);
  return (LONG_HEX.test(value) || countChanges(value) >= minChanges) &&
    entropyBits(value) >= MIN_ENTROPY_BITS;
}

function isFiller(value: string): boolean {
  let at = 0;
  while (at < value.length) {
    FILLER_WORD.lastIndex = at;
    const word = FILLER_WORD.exec(value)?.[0];
    if (word === undefined) return false;
    at += word.length;
  }
  return true;
}

/** Counts where kinds of character meet; a capital before small letters is only a capital. */
function countChanges(value: string): number {
  let changes = 0;
  let before = "";
  for (const char of value) {
    const kind = kindOf(char);
    const isCapital = before === "upper" && kind === "lower";
    if (before !== "" && kind !== "" && kind !== before && !isCapital) changes++;
    before = kind;
  }
  return changes;
}

/** Signs that part words count as nothing. */
function kindOf(char: string): "lower" | "upper" | "digit" | "sign" | "" {
  if (char >= "a" && char <= "z") return "lower";
  if (char >= "A" && char <= "Z") return "upper";
  if (char >= "0" && char <= "9") return "digit";
  return "#$%^*!@~+=?".includes(char) ? "sign" : "";
}

function entropyBits(value: string): number {
  const counts = new Map<string, number>();
  for (const char of value) counts.set(char, (counts.get(char) ?? 0) + 1);
  return [...counts.values()].reduce((bits, count) => {
    const share = count / value.length;
    return bits - share * Math.log2(share);
  }, 0);
}
