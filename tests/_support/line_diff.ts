/** Which lines of a text went and came, for people. */

/**
 * Returns one line for each that went (`-`, with its number before) or came (`+`, with its number
 * after); how a line ends is part of it.
 */
export function lineDiff(before: string, after: string): string[] {
  const [old, now] = [splitLines(before), splitLines(after)];
  const common = commonLengths(old, now);
  const shown: string[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    const [was, is] = [old[i], now[j]];
    if (was !== undefined && was === is) {
      i++;
      j++;
    } else if (
      was !== undefined && (is === undefined || at(common, i + 1, j) >= at(common, i, j + 1))
    ) {
      shown.push(`-${String(++i).padStart(3)} ${show(was)}`);
    } else if (is !== undefined) {
      shown.push(`+${String(++j).padStart(3)} ${show(is)}`);
    }
  }
  return shown;
}

/** Returns the lines of a text, each with its line end. */
function splitLines(text: string): string[] {
  return text.match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g) ?? [];
}

/** The length of the longest common row of lines from each place on. */
function commonLengths(old: readonly string[], now: readonly string[]): number[][] {
  const lengths = Array.from({ length: old.length + 1 }, () => new Array(now.length + 1).fill(0));
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      const row = lengths[i];
      if (row === undefined) continue;
      row[j] = old[i] === now[j]
        ? at(lengths, i + 1, j + 1) + 1
        : Math.max(at(lengths, i + 1, j), at(lengths, i, j + 1));
    }
  }
  return lengths;
}

function at(lengths: readonly (readonly number[])[], i: number, j: number): number {
  return lengths[i]?.[j] ?? 0;
}

/** Shows what cannot be seen. */
function show(line: string): string {
  return line.replace("\ufeff", "␣BOM␣").replace("\r", "␍").replace(/\n$/, "")
    .replace(/[ \t]+$/, (blanks) => "·".repeat(blanks.length)) + (line.endsWith("\n") ? "" : "␄");
}
