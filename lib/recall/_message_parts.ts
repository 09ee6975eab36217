/**
 * Cuts a message into what is looked for. One sentence that a memory answers drowns among others:
 * with 300 characters of other things around it no memory is found any more, sentence by sentence
 * nearly as many as before (docs/hints.md has the numbers).
 */
import type { Trigger } from "@/lib/contracts_recall.ts";

/** Up to here a message is looked for as it is too. */
const MAX_WHOLE_CHARS = 400;
/** Of a part: what is longer is no sentence. */
const MAX_PART_CHARS = 400;
/** Each costs a search, the first one by meaning too over all notes. */
export const MAX_PARTS = 12;
/** So many are looked at for how much they say. */
const MAX_SENTENCES = 400;
/** Of a long message, its beginning and its end. */
const MAX_HEAD_CHARS = 4_000;
const MAX_TAIL_CHARS = 12_000;

/** What is looked for by itself. */
export interface MessagePart {
  readonly text: string;
  /** True if it is one of several, of which one may come near something by chance. */
  readonly isPart: boolean;
}

export interface PartsOptions {
  readonly trigger: Trigger;
  /** Counts the words that say something. */
  readonly countTerms: (text: string) => number;
}

/** Fewer words mean something else in every sentence. */
const MIN_PART_TERMS = 4;

const LINE_END = /[\n\r\v\f\x85\u2028\u2029]+/;
/** Behind a full stop and what closes with it, where a blank follows or none is needed. */
const SENTENCE_END =
  /(?<=[.!?;…]["'”’)\]]{0,3})\s+|(?<=[。！？；]["'”’』」）】]{0,3})(?!["'”’』」）】])/u;
/** What terminals take for colours and the like. */
// deno-lint-ignore no-control-regex
const COLOURS = /\u001b\[[0-?]*[ -/]*[@-~]/g;
/** Encoded data and the like. */
const UNBROKEN = /^[!-~]{120,}$/;
/** What messages of trouble say. */
const TROUBLE =
  /\b(?:error|errno|fail(?:s|ed|ure)?|fatal|exception|panic|warn(?:ing)?|denied|refused|cannot|can't|unexpected|invalid|missing|not found|timed? ?out|undefined|unable)\b|错误|失败|异常|警告|拒绝|无法|超时|报错|找不到/iu;

/**
 * Returns what of a message is to be looked for: itself if it is short, and its sentences if there
 * are several. Of too many those that tell of trouble come first, then the first ones of a person's
 * message and the last ones of an output, where errors stand.
 *
 * @returns At most `MAX_PARTS`, the most telling first; none of a blank message.
 */
export function splitMessage(text: string, { trigger, countTerms }: PartsOptions): MessagePart[] {
  const message = text.trim();
  if (message === "") return [];
  const plain = shorten(message).replace(COLOURS, "");
  const isShort = plain.length <= MAX_WHOLE_CHARS;
  const whole = isShort ? [{ text: plain, isPart: false }] : [];
  const sentences = [...new Set(toSentences(plain))];
  if (isShort && sentences.length < 2) return whole;
  const ordered = trigger === "user" ? sentences : sentences.toReversed();
  const parts = sayingEnough(troubleFirst(ordered).slice(0, MAX_SENTENCES), countTerms)
    .map((sentence) => ({ text: sentence, isPart: true }));
  return [...whole, ...parts].slice(0, MAX_PARTS);
}

function troubleFirst(sentences: readonly string[]): string[] {
  const [trouble, others]: [string[], string[]] = [[], []];
  for (const sentence of sentences) (TROUBLE.test(sentence) ? trouble : others).push(sentence);
  return [...trouble, ...others];
}

/**
 * Returns the sentences that say enough by themselves, each once. Where there are none, neighbours
 * go together until they do: a list of names, clauses of a few characters.
 */
function sayingEnough(
  sentences: readonly string[],
  countTerms: PartsOptions["countTerms"],
): string[] {
  const isEnough = (text: string) => countTerms(text) >= MIN_PART_TERMS;
  const enough = new Set(sentences.filter(isEnough));
  if (enough.size > 0) return [...enough];
  let pending = "";
  for (const sentence of sentences) {
    pending = pending === "" ? sentence : `${pending}\n${sentence}`;
    if (!isEnough(pending) && pending.length < MAX_PART_CHARS) continue;
    enough.add(pending.slice(0, MAX_PART_CHARS));
    pending = "";
  }
  if (pending !== "") enough.add(pending);
  return [...enough];
}

function shorten(message: string): string {
  if (message.length <= MAX_HEAD_CHARS + MAX_TAIL_CHARS) return message;
  return `${message.slice(0, MAX_HEAD_CHARS)}\n${message.slice(-MAX_TAIL_CHARS)}`;
}

function toSentences(message: string): string[] {
  return message.split(LINE_END)
    .flatMap((line) => line.split(SENTENCE_END))
    .flatMap(cutEvenly)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "" && !UNBROKEN.test(sentence));
}

/** Cuts what has no stops, at blanks where there are any. */
function cutEvenly(sentence: string): string[] {
  const pieces: string[] = [];
  let rest = sentence;
  while (rest.length > MAX_PART_CHARS) {
    const blank = rest.lastIndexOf(" ", MAX_PART_CHARS);
    const end = blank > MAX_PART_CHARS / 2 ? blank : MAX_PART_CHARS;
    pieces.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return [...pieces, rest];
}
