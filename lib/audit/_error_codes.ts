/** Names and numbers of errors, as programs print them. */

/** Ordered: what an earlier one takes, a later one does not see. */
const PATTERNS: readonly RegExp[] = [
  // ORA-00001, CVE-2024-1234, MSB-3021, ERR_MODULE_NOT_FOUND, SQLITE_BUSY, STATUS_0x…
  /\b[A-Z]{2,}(?:-\d{2,})+\b/g,
  /\b(?:ERR|ERROR|E|SQLITE|SSL|TLS|NS|STATUS|NET|WSA|CURLE|CUDA|HRESULT)_[A-Z0-9_]{2,}\b/g,
  // Enhanced SMTP codes, hexadecimal ones
  /\b[245]\.\d{1,3}\.\d{1,3}\b(?!\.)/g,
  /\b0x[0-9a-fA-F]{4,16}\b/g,
  // ECONNREFUSED, ENOSPC, EADDRINUSE
  /\bE[A-Z]{4,}\b/g,
  // E0308, TS2307, GH001, CS0246, SIGKILL
  /\b(?:[A-Z]{1,4}\d{3,5}|SIG[A-Z]{3,6})\b/g,
  // Classes of exceptions, states of containers
  /\b[A-Z][A-Za-z0-9]*(?:Error|Exception|Failure|BackOff|Killed|Denied|NotFound)\b/g,
  // HTTP 413, exit code 137, error 1366, 报 502, 返回 429
  /(?<=\b(?:HTTP(?:\/[\d.]+)?|exit(?:\s+(?:code|status))?|code|error|errno|status)\s*[:#]?\s*)\d{1,5}\b/gi,
  /(?<=(?:报错?|返回|退出码|状态码|错误码?|代码|提示|全是)\s*[:：]?\s*)\d{3,5}\b/g,
  // Statuses of HTTP that are errors stand alone too, but not where they count or measure something.
  /(?<![\d.,:/$€£¥#-])\b(?:4(?:0[0-9]|1[0-8]|2[2-9]|31|51)|50[0-8]|511)\b(?![\d.,:/%-]|\s*(?:[kmg]?b|ms|px|个|条|行|份|张|元|块|次|人|页|字|米|秒|分|天|篇|名|家|rows?|lines?|items?|words?|pages?|users?|people|files?|times)(?![a-z]))/gi,
];

/** `EXAMPLE` and the like are words in capitals. */
const PLAIN_CAPITALS = /^E(?:XAMPLE|XCEL|MAIL|NGLISH|RROR|RRORS|VERY|THER|ITHER|NTER|XIT)$/;

const INTRODUCTIONS =
  /\b(?:exit(?:ed)?(?: with)?(?: (?:code|status))?|(?:error|status) codes?|errno|http)\b|退出码|状态码|错误码|错误代码/giu;

/**
 * Finds the error codes of a text.
 *
 * @returns By the form in which they are compared, as they were first written; in no order.
 *
 * @example
 * ```ts
 * import { deepStrictEqual as deepEqual } from "node:assert/strict";
 *
 * deepEqual([...findErrorCodes("HTTP 413 again, then ECONNREFUSED").keys()].sort(), [
 *   "413",
 *   "econnrefused",
 * ]);
 * ```
 */
export function findErrorCodes(text: string): ReadonlyMap<string, string> {
  return takeErrorCodes(text).codes;
}

/** Returns a text without its error codes and what introduces them, for the comparison of words. */
export function withoutErrorCodes(text: string): string {
  const { codes, rest } = takeErrorCodes(text);
  return codes.size === 0 ? rest : rest.replace(INTRODUCTIONS, " ");
}

function takeErrorCodes(text: string): { codes: ReadonlyMap<string, string>; rest: string } {
  const codes = new Map<string, string>();
  let rest = text.normalize("NFKC");
  for (const pattern of PATTERNS) {
    rest = rest.replace(pattern, (code) => {
      if (PLAIN_CAPITALS.test(code)) return code;
      const key = code.toLowerCase();
      if (!codes.has(key)) codes.set(key, code);
      return " ";
    });
  }
  return { codes, rest };
}
