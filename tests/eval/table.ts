/** Tables of plain text. */

/** A row; all rows of a table have the same columns. */
export type Row = Readonly<Record<string, string | number>>;

/** Returns a table: texts stand at the left of their column, numbers at the right. */
export function formatTable(
  rows: readonly Row[],
  format: (column: string, value: number) => string,
): string {
  const columns = Object.keys(rows[0] ?? {});
  const cells = rows.map((row) =>
    columns.map((column) => {
      const value = row[column] ?? "";
      return typeof value === "number" ? format(column, value) : value;
    })
  );
  const widths = columns.map((column, i) =>
    Math.max(column.length, ...cells.map((line) => line[i]?.length ?? 0))
  );
  const isText = columns.map((column) => rows.some((row) => typeof row[column] === "string"));
  return [columns, ...cells].map((line) =>
    line.map((cell, i) => isText[i] ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))
      .join("  ").trimEnd()
  ).join("\n");
}

/** Writes to stdout. */
export function print(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
}
