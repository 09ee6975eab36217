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
  const write = (path: string, content: string | Uint8Array) => {
    Deno.mkdirSync(dirname(pathOf(path)), { recursive: true });
    if (typeof content === "string") Deno.writeTextFileSync(pathOf(path), content);
    else Deno.writeFileSync(pathOf(path), content);
  };
  const remove = (path: string) => Deno.removeSync(pathOf(path), { recursive: true });
  for (const [path, content] of Object.entries(files)) write(path, content);
  return {
    root,
    pathOf,
    write,
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

/** Lists all that lies below a folder, hidden ones too and folders with a slash, sorted. */
export function listAll(root: string, below = ""): string[] {
  return [...Deno.readDirSync(`${root}/${below}`)].flatMap((entry) => {
    const path = below + entry.name;
    return entry.isDirectory ? [`${path}/`, ...listAll(root, `${path}/`)] : [path];
  }).sort();
}
