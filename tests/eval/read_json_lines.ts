/** Reads a file with one JSON value a line; lines without anything are left out. */
export function readJsonLines(path: string): unknown[] {
  const lines = Deno.readTextFileSync(path).split("\n").filter((line) => line.trim() !== "");
  return lines.map((line) => JSON.parse(line));
}
