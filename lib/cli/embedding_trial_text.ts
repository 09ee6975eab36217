/** What a trial of a model has found, for people. */
import { clipLine } from "@/lib/clip_line.ts";

/** What cosines mean, and how that is known. */
export interface TrialScale {
  /** `declared` by the model, or `learnt` from the texts of the vault. */
  readonly from: "declared" | "learnt";
  readonly floor: number;
  readonly ceiling: number;
  readonly hintAt: number;
  /** Those whose texts are centred. */
  readonly languages?: readonly string[];
  /** That it was learnt from. */
  readonly pairs?: number;
}

/** How near a passage is to a question. */
export interface Match {
  readonly name: string;
  readonly cosine: number;
  /** 0..1; absent where nobody knows what the cosine means. */
  readonly score?: number;
}

export interface Trial {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string | undefined;
  /** Where the key is, never the key. */
  readonly credential: string | undefined;
  readonly dimensions: number;
  readonly firstQueryMs: number;
  /** In the middle of several. */
  readonly queryMs: number;
  /** So long a search waits. */
  readonly timeoutMs: number | undefined;
  readonly passages: number;
  /** For each of those that were sent together. */
  readonly passageMs: number;
  readonly requests: number | undefined;
  /** As the provider counts them. */
  readonly tokens: number | undefined;
  readonly scale: TrialScale | undefined;
  /** Passages with the nearest first. */
  readonly examples: readonly { readonly question: string; readonly passages: readonly Match[] }[];
}

const LABEL_CHARS = 12;
const MAX_LINE_CHARS = 60;

/** Returns the lines that show a trial. */
export function formatTrial(trial: Trial): string {
  const { baseUrl, credential, dimensions, model, provider, queryMs, timeoutMs } = trial;
  const isRemote = baseUrl !== undefined;
  const isSlow = timeoutMs !== undefined && queryMs > timeoutMs;
  return [
    row("provider", provider),
    row("model", model),
    ...(isRemote ? [row("address", baseUrl), row("key", credential ?? "none")] : []),
    row("dimensions", `${dimensions}`),
    row("question", `${showMs(queryMs)} (the first one ${showMs(trial.firstQueryMs)})`),
    row("passage", `${showMs(trial.passageMs)}, of ${trial.passages} sent together`),
    ...(isRemote ? [row("tokens", formatUsage(trial))] : []),
    row("scale", formatScale(trial.scale)),
    ...trial.examples.flatMap(({ passages, question }) => [
      "",
      clip(question),
      ...passages.map(formatMatch),
    ]),
    ...(isSlow
      ? [
        "",
        `⚠️ Searches wait ${timeoutMs} ms for it, and no longer: --embedding-timeout sets that`,
      ]
      : []),
  ].join("\n");
}

function row(label: string, value: string): string {
  return label.padEnd(LABEL_CHARS) + value;
}

function showMs(ms: number): string {
  return `${ms < 10 ? ms.toFixed(2) : Math.round(ms)} ms`;
}

function formatUsage({ requests = 0, tokens }: Trial): string {
  const told = tokens === undefined ? "not told by the provider" : `${tokens}`;
  return `${told}, in ${requests} requests`;
}

function formatScale(scale: TrialScale | undefined): string {
  if (scale === undefined) return "learnt from your notes when the server has embedded them";
  const { ceiling, floor, from, hintAt, languages = [], pairs } = scale;
  const centred = languages.length === 0 ? "" : `, centred by language: ${languages.join(", ")}`;
  const source = from === "learnt" ? `learnt from ${pairs ?? 0} pairs${centred}` : "declared";
  return `${floor.toFixed(2)} says nothing, ${ceiling.toFixed(2)} all; hints from a score of ` +
    `${hintAt.toFixed(2)} (${source})`;
}

function formatMatch({ cosine, name, score }: Match): string {
  const shown = score === undefined ? "" : `  score ${score.toFixed(2)}`;
  return `   cosine ${cosine.toFixed(2)}${shown}  ${clip(name)}`;
}

function clip(text: string): string {
  return clipLine(text, MAX_LINE_CHARS);
}
