/** What lies in a vault while nobody is to be asked. */
import { join } from "node:path";

/** Lists all files below a folder, hidden ones too, by their path in it. */
export async function listFiles(root: string, below = ""): Promise<string[]> {
  const files: string[] = [];
  for await (const { name, isDirectory } of readFolder(join(root, below))) {
    const path = below + name;
    if (isDirectory) files.push(...await listFiles(root, `${path}/`));
    else files.push(path);
  }
  return files.sort();
}

/** A folder may go while it is looked at. */
async function* readFolder(disk: string): AsyncGenerator<Deno.DirEntry> {
  try {
    yield* Deno.readDir(disk);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
