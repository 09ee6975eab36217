/**
 * The rules of the static model once more, written as they are said and not to be fast: strings, a
 * map of pieces, expressions. The reader has to agree with it.
 */
import { readModelFile } from "@/lib/embed/model_file.ts";

export interface PlainReader {
  tokens(text: string): number[];
  /** Returns the vector before it is made one long. */
  sum(text: string): number[];
}

export async function plainReader(): Promise<PlainReader> {
  const bytes = await readModelFile();
  const headerEnd = 12 + new DataView(bytes.buffer).getUint32(8, LITTLE_ENDIAN);
  const { dim, sections } = JSON.parse(new TextDecoder().decode(bytes.subarray(12, headerEnd)));
  const section = (name: string) => {
    const [offset, length] = sections[name];
    return bytes.subarray(offset, offset + length);
  };
  const text = (name: string) => new TextDecoder().decode(section(name));
  const numbers = (name: string) => new Float32Array(section(name).slice().buffer);
  const simplified = Array.from(text("simplified"));
  const rules: Rules = {
    ids: new Map(text("pieces").split("\n").map((piece, id) => [piece, id])),
    scores: numbers("scores"),
    fold: new Map(Array.from(text("traditional"), (char, i) => [char, simplified[i] ?? ""])),
  };
  const table = { dim, rows: section("rows"), scales: numbers("scales") };
  const tokens = (text: string) => readText(text, rules);
  return { tokens, sum: (text) => sumRows(tokens(text), table) };
}

const LITTLE_ENDIAN = true;
const HAN = "\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff";
const RUNS = new RegExp(`[${HAN}]+|(?:(?![${HAN}])[\\p{L}\\p{N}])+`, "gu");
const HAN_CHAR = new RegExp(`^[${HAN}]`, "u");
const BORDER = /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/;
const LONGEST_PIECE = 24;

interface Rules {
  readonly ids: ReadonlyMap<string, number>;
  readonly scores: Float32Array;
  readonly fold: ReadonlyMap<string, string>;
}

function readText(text: string, rules: Rules): number[] {
  const folded = Array.from(text.normalize("NFKC"), (char) => rules.fold.get(char) ?? char).join(
    "",
  );
  return (folded.match(RUNS) ?? []).flatMap((run) => {
    if (HAN_CHAR.test(run)) return segment(run, rules);
    const whole = asWord(run);
    const words = rules.ids.has(whole) ? [whole] : run.split(BORDER).map(asWord);
    return words.flatMap((word) => segment(word, rules));
  });
}

function asWord(run: string): string {
  return `▁${run.toLowerCase()}`;
}

/** Keeps for each place the best way to get there. */
function segment(run: string, { ids, scores }: Rules): number[] {
  const ways: { score: number; last: number | undefined; from: number }[] = [
    { score: 0, last: undefined, from: 0 },
  ];
  for (let end = 1; end <= run.length; end++) {
    let best = {
      score: (ways[end - 1]?.score ?? 0) - 40,
      from: end - 1,
      last: undefined as number | undefined,
    };
    for (let from = Math.max(0, end - LONGEST_PIECE); from < end; from++) {
      const last = ids.get(run.slice(from, end));
      const score = (ways[from]?.score ?? 0) + (last === undefined ? NaN : scores[last] ?? NaN);
      if (score > best.score) best = { score, last, from };
    }
    ways.push(best);
  }
  const found: number[] = [];
  for (let end = run.length; end > 0; end = ways[end]?.from ?? 0) {
    const last = ways[end]?.last;
    if (last !== undefined) found.unshift(last);
  }
  return found;
}

interface PlainTable {
  readonly dim: number;
  readonly rows: Uint8Array;
  readonly scales: Float32Array;
}

function sumRows(ids: readonly number[], { dim, rows, scales }: PlainTable): number[] {
  const counts = new Map<number, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  const sum = new Array<number>(dim).fill(0);
  for (const [id, count] of counts) {
    for (let i = 0; i < dim; i++) {
      const byte = rows[(id * dim + i) >> 1] ?? 0;
      const stored = i % 2 === 0 ? byte & 15 : byte >> 4;
      sum[i] = (sum[i] ?? 0) + (1 + Math.log(count)) * (scales[id] ?? 0) * (stored - 8);
    }
  }
  return sum;
}
