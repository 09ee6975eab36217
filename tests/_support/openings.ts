/** Notes which files are opened until it is disposed. */
export function watchOpenings(): Disposable & { readonly paths: readonly string[] } {
  const { openSync } = Deno;
  const paths: string[] = [];
  Deno.openSync = (path, options) => {
    paths.push(String(path));
    return openSync(path, options);
  };
  return {
    paths,
    [Symbol.dispose]: () => {
      Deno.openSync = openSync;
    },
  };
}
