import { dirname, join } from "node:path";

/** Contents by path in the vault. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

export interface TempVault extends AsyncDisposable {
  /** Real path. */
  readonly root: string;
  pathOf(path: string): string;
  /** Makes the folders too. */
  write(path: string, content: string | Uint8Array): void;
  remove(path: string): void;
  removeIfThere(path: string): void;
}

/** Makes a real folder with these files; it is removed at the end of the test. */
export async function tempVault(files: Files): Promise<TempVault> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "vault-" }));
  const pathOf = (path: string) => join(root, path);
  const remove = (path: string) => Deno.removeSync(pathOf(path), { recursive: true });
  writeFiles(root, files);
  return {
    root,
    pathOf,
    write: (path, content) => writeFiles(root, { [path]: content }),
    remove,
    removeIfThere(path) {
      try {
        remove(path);
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
      }
    },
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}

/** Writes files below a folder, and makes the folders too. */
export function writeFiles(root: string, files: Files): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(root, name);
    Deno.mkdirSync(dirname(path), { recursive: true });
    if (typeof content === "string") Deno.writeTextFileSync(path, content);
    else Deno.writeFileSync(path, content);
  }
}

/** Returns the texts of all files below a folder, by path. */
export function textsBelow(root: string): Record<string, string> {
  const texts = listFiles(root).map((path) => [path, Deno.readTextFileSync(join(root, path))]);
  return Object.fromEntries(texts);
}

/** Lists all files below a folder, hidden ones too, sorted. */
export function listFiles(root: string): string[] {
  return listAll(root).filter((path) => !path.endsWith("/"));
}

/** Lists all that lies below a folder, hidden ones too and folders with a slash, sorted. */
export function listAll(root: string, below = ""): string[] {
  return [...Deno.readDirSync(`${root}/${below}`)].flatMap((entry) => {
    const path = below + entry.name;
    return entry.isDirectory ? [`${path}/`, ...listAll(root, `${path}/`)] : [path];
  }).sort();
}
