/**
 * Takes a request's address apart as it was sent. The usual parsers repair what is broken and
 * resolve `..`; a guard must see what the client really wrote.
 */

const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)([^?#]*)(?:\?([^#]*))?/i;

/** Returns host and port as they stand in the address. */
export function authorityOf(url: string): string {
  return ADDRESS.exec(url)?.[1] ?? "";
}

/** Returns the path with its escapes and dots. */
export function rawPathOf(url: string): string {
  return ADDRESS.exec(url)?.[2] ?? "";
}

/** Returns the text after the question mark, `""` if there is none. */
export function rawQueryOf(url: string): string {
  return ADDRESS.exec(url)?.[3] ?? "";
}

/** Decodes percent escapes; `undefined` if one is broken or the bytes are no UTF-8. */
export function decodePart(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    // The only reason why it throws is a text that is not valid.
    return undefined;
  }
}
