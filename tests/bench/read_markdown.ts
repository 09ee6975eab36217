/** Real prose for what must not be measured on made-up words. */
import { join } from "node:path";

/** Returns the texts of all Markdown files below a folder, in the order of their names. */
export function readMarkdown(folder: string): string[] {
  const entries = [...Deno.readDirSync(folder)].sort((a, b) => a.name < b.name ? -1 : 1);
  return entries.flatMap(({ name, isDirectory }) => {
    const path = join(folder, name);
    if (isDirectory) return readMarkdown(path);
    return name.endsWith(".md") ? [Deno.readTextFileSync(path)] : [];
  });
}
