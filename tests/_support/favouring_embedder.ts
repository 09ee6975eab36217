import type { Embedder, Embedding, EmbedKind } from "@/lib/embed/embedder.ts";

/** Words of one meaning, in English and in Chinese. */
export const MEANINGS: readonly (readonly [english: string, chinese: string])[] = [
  ["cat", "猫咪"],
  ["bread", "面包"],
  ["river", "河流"],
  ["engine", "引擎"],
  ["violin", "提琴"],
  ["winter", "冬季"],
  ["doctor", "医生"],
  ["garden", "花园"],
  ["bridge", "桥梁"],
  ["copper", "黄铜"],
  ["lantern", "灯笼"],
  ["harbour", "港口"],
  ["pepper", "胡椒"],
  ["saddle", "马鞍"],
  ["mirror", "镜子"],
  ["thunder", "雷声"],
  ["carpet", "地毯"],
  ["orchard", "果园"],
  ["needle", "缝针"],
  ["castle", "城堡"],
  ["feather", "羽毛"],
  ["glacier", "冰川"],
  ["hammer", "锤子"],
  ["island", "海岛"],
];
const DIMENSIONS = MEANINGS.length + 4;
const HAN = /\p{Script=Han}/u;

export interface FavouringOptions {
  readonly id?: string;
  /** How much of a vector says the language; 0 is a model that favours none. */
  readonly favour: number;
}

export interface FavouringEmbedder extends Embedder {
  /** It answers nobody. */
  isAway: boolean;
  /** What it was asked for, in order. */
  readonly asked: { readonly kind: EmbedKind; readonly text: string }[];
}

/**
 * Returns an embedder behind an address that declares no scale. It knows words by their meaning, while
 * most of its vectors say what all texts have in common and, if it favours, which language they are in.
 */
export function favouringEmbedder(
  { id = "favour-1", favour }: FavouringOptions,
): FavouringEmbedder {
  const asked: FavouringEmbedder["asked"] = [];
  return {
    id,
    dimensions: DIMENSIONS,
    scale: undefined,
    isLocal: false,
    limitsMs: { query: 5_000, passage: 5_000 },
    batch: { texts: 20, bytes: 10_000, atOnce: 2 },
    isAway: false,
    asked,
    embed(texts, kind) {
      asked.push(...texts.map((text) => ({ kind, text })));
      if (this.isAway) return Promise.reject(new TypeError("away"));
      return Promise.resolve(texts.map((text) => embedWords(text, kind, favour)));
    },
  };
}

function embedWords(text: string, kind: EmbedKind, favour: number): Embedding {
  const vector = new Float32Array(DIMENSIONS);
  for (const [index, words] of MEANINGS.entries()) {
    vector[index] = words.reduce((sum, word) => sum + text.split(word).length - 1, 0);
  }
  vector[MEANINGS.length + (HAN.test(text) ? 0 : 1)] = favour;
  vector[MEANINGS.length + 2] = kind === "query" ? 0.5 : 0;
  vector[MEANINGS.length + 3] = 1;
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

/** Returns a note about each meaning, the first half in English and the rest in Chinese. */
export function bilingualNotes(): Record<string, string> {
  return Object.fromEntries([
    ...MEANINGS.map(([word], at) => [`en-${at}.md`, `The ${word} was seen by us, number ${at}.`]),
    ...MEANINGS.map(([, word], at) => [`zh-${at}.md`, `我们又见到了${word}，这是编号。`]),
  ]);
}
