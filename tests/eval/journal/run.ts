/**
 * `deno task eval:audit [folder] [--tuning]`: how well repeated pitfalls and contradicting entries
 * are found. What the program is fixed by is chosen on the tuning half alone; `--tuning` shows
 * nothing else.
 */
import type { ScaledEmbedder } from "@/lib/embed/embedder.ts";
import { readModelFile } from "@/lib/embed/model_file.ts";
import { StaticEmbedder } from "@/lib/embed/static_embedder.ts";
import { systemClock, writeStderr } from "@/lib/seams.ts";
import { formatTable, print, type Row } from "../table.ts";
import { judgePairs, judgePitfalls } from "./judge.ts";
import { type Labels, readLabels, takeHalf } from "./labels.ts";

const COUNTS = new Set(["reported", "pairs", "conflicts"]);

async function main(args: readonly string[]): Promise<void> {
  const folder = args.find((arg) => !arg.startsWith("--")) ?? import.meta.dirname ?? ".";
  const labels = readLabels(folder);
  const parts: [string, Labels][] = [["tuning", takeHalf(labels, "tuning")]];
  if (!args.includes("--tuning")) parts.push(["other", takeHalf(labels, "other")], ["all", labels]);
  const embedders: [string, ScaledEmbedder | undefined][] = [
    ["static", new StaticEmbedder({ clock: systemClock, read: readModelFile })],
    ["none", undefined],
  ];
  const pitfallRows: Row[] = [];
  const pairRows: Row[] = [];
  for (const [half, { pitfalls, pairs }] of parts) {
    for (const [model, embedder] of embedders) {
      pitfallRows.push({ half, model, ...await judgePitfalls(pitfalls, embedder) });
      const { byLang, unlabelled } = await judgePairs(pairs, embedder);
      pairRows.push(...byLang.map((figures) => ({ half, model, ...figures })));
      print(`${half}, ${model}: ${unlabelled} other pairs reported`);
    }
  }
  const format = (column: string, value: number) =>
    COUNTS.has(column) ? String(value) : value.toFixed(2);
  print(`\npitfalls\n${formatTable(pitfallRows, format)}`);
  print(`\npairs of entries\n${formatTable(pairRows, format)}`);
}

function fail(error: unknown): never {
  writeStderr(String(error));
  Deno.exit(1);
}

if (import.meta.main) main(Deno.args).catch(fail);
