/** Reads the file of the static embedding model, which lies in the folder `static/` beside this. */
export function readModelFile(): Promise<Uint8Array<ArrayBuffer>> {
  return Deno.readFile(new URL("./static/static-zh-en-512q4.bin", import.meta.url));
}
