import type { Embedding, ScaledEmbedder } from "@/lib/embed/embedder.ts";

/** How an embedder under test behaves. */
export type Mood = "well" | "failing" | "hanging" | "confused";

/** Texts with words of one list are about one thing. */
const CONCEPTS: readonly (readonly string[])[] = [
  ["cat", "kitten", "猫"],
  ["bread", "loaf", "面包"],
  ["cache", "buffer", "缓存"],
  ["river", "stream", "河流"],
  ["how", "方法"],
];

export interface ConceptEmbedder extends ScaledEmbedder {
  mood: Mood;
  /** It fails over a text that holds this. */
  poison: string;
  /** Every text that it was asked for, in order. */
  readonly asked: string[];
  readonly calls: () => number;
  /** Passages wait for it. */
  gate: Promise<void>;
}

/** Returns an embedder that knows a few things by their words, in two languages. */
export function conceptEmbedder(
  { id = "concepts-1", isLocal = true }: { id?: string; isLocal?: boolean } = {},
): ConceptEmbedder {
  const asked: string[] = [];
  let calls = 0;
  return {
    id,
    dimensions: CONCEPTS.length,
    scale: { floor: 0.1, ceiling: 0.8, weight: 0.4, hintAt: 0.4 },
    isLocal,
    limitsMs: { query: 100, passage: 100 },
    mood: "well",
    poison: "\0",
    asked,
    calls: () => calls,
    gate: Promise.resolve(),
    async embed(texts, kind): Promise<readonly Embedding[]> {
      calls++;
      asked.push(...texts);
      if (kind === "passage") await this.gate;
      if (this.mood === "failing") throw new TypeError("secret words of a note");
      // Whatever its signal says.
      if (this.mood === "hanging") return await new Promise(() => {});
      if (this.mood === "confused") return [new Float32Array(1)];
      if (texts.some((text) => text.includes(this.poison))) throw new RangeError("too odd");
      return texts.map(embedConcepts);
    },
  };
}

function embedConcepts(text: string): Embedding {
  const sums = CONCEPTS.map((words) =>
    words.reduce((sum, word) => sum + text.toLowerCase().split(word).length - 1, 0)
  );
  const length = Math.hypot(...sums);
  return length === 0 ? undefined : Float32Array.from(sums, (sum) => sum / length);
}
