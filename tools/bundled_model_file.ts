/**
 * What a bundle has in place of `lib/embed/model_file.ts`: the file of the model comes with the
 * code, as base64 inside a comment.
 *
 * A comment, as Deno and V8 keep what a string says beside the source that says it: 37 MB more in
 * memory, and a stop of 100 ms instead of 40 at the first question. A comment is passed over, and
 * `toString()` cuts it out of the source without a copy.
 */

/** Added by `bundle.ts` behind the bundled code; its body is one comment. */
declare function commonplaceModel(): void;

/** Reads the file of the static embedding model out of this program's own source. */
export function readModelFile(): Promise<Uint8Array<ArrayBuffer>> {
  const source = commonplaceModel.toString();
  const base64 = source.slice(source.indexOf("/*") + 2, source.lastIndexOf("*/"));
  return Promise.resolve(Uint8Array.fromBase64(base64));
}
