/** The header in which a client says where its agent works. */

export const CWD_HEADER = "x-commonplace-cwd";

const ESCAPE = /%[0-9a-f]{2}/i;

/**
 * Reads a path from the header. HTTP carries no other letters than those of Latin-1, so clients
 * send others percent-encoded, or as the bytes of UTF-8; a percent sign that begins no escape is
 * one.
 *
 * @returns `undefined` without a header, or if it is blank.
 */
export function readCwdHeader(value: string | undefined): string | undefined {
  const text = value?.trim();
  if (!text) return undefined;
  try {
    return ESCAPE.test(text) ? decodeURIComponent(text) : fromUtf8Bytes(text);
  } catch {
    // Neither: then it is what it says.
    return text;
  }
}

function fromUtf8Bytes(text: string): string {
  const codes = Array.from(text, (char) => char.codePointAt(0) ?? 0);
  if (codes.every((code) => code < 0x80) || codes.some((code) => code > 0xff)) return text;
  return new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array(codes));
}
