/**
 * What a model is tried on: notes of the vault, where that sends them to nobody who does not get them
 * anyway, else a few made up here, in both languages.
 */
import type { Config } from "@/lib/config.ts";
import { runAtOnce } from "@/lib/seams.ts";
import { identifyNote } from "@/lib/vault/kinds.ts";
import { bodyOf, parseNote } from "@/lib/vault/note.ts";
import { scanVault } from "@/lib/vault/scan.ts";
import { openVault, readFile, type Vault } from "@/lib/vault/vault.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";

export interface SamplePassage {
  /** A few words to show. */
  readonly name: string;
  readonly text: string;
}

export interface Samples {
  readonly questions: readonly string[];
  readonly passages: readonly SamplePassage[];
}

const MIN_NOTES = 2;
/** About what a chunk has. */
const MAX_PASSAGE_CHARS = 1_000;
/** A shorter one is about nothing. */
const MIN_PASSAGE_CHARS = 40;

/** Two questions; for each a passage that answers it and one that does not, in each language. */
export const BUILT_IN_SAMPLES: Samples = {
  questions: [
    "How do I keep two programs from blocking each other when both write to the database?",
    "两个程序同时写数据库时，怎样避免互相锁住？",
  ],
  passages: [
    "SQLite lets one writer in at a time. Begin with BEGIN IMMEDIATE and set a busy timeout, so " +
    "that the second one waits for its turn instead of failing halfway.",
    "Knead the dough for ten minutes, let it rest under a cloth until it has doubled, and bake it " +
    "in a pot that is already hot.",
    "SQLite 一次只允许一个写事务。用 BEGIN IMMEDIATE 开始，并设置等待超时，后来的进程就会排队，而不会中途失败。",
    "面团揉十分钟，盖上布静置到两倍大，再放进预热好的铸铁锅里烘烤。",
  ].map((text) => ({ name: text.slice(0, 40), text })),
};

type SampledConfig = Pick<Config, "exclude" | "index" | "memoriesFolder" | "vault">;

/**
 * Returns some of the notes that the server embeds, spread over the vault, and as a question how one of
 * them is described or called.
 *
 * @param limit Most notes to take.
 * @returns `undefined` if there are too few with text in them.
 * @throws {ConfigError} If the vault cannot be opened.
 */
export function sampleVault(config: SampledConfig, limit: number): Samples | undefined {
  const { exclude, memoriesFolder, vault: root } = config;
  const vault = openVault({ root, memoriesFolder, exclude });
  const paths = [...runAtOnce(scanVault(vault)).files.keys()];
  const step = Math.max(1, Math.floor(paths.length / limit));
  const spread = new Set([...paths.filter((_, at) => at % step === 0), ...paths]);
  const notes: SampleNote[] = [];
  for (const path of spread) {
    if (notes.length === limit) break;
    const note = readSample(vault, path, config);
    if (note !== undefined) notes.push(note);
  }
  const asked = notes.find(({ description }) => description !== "") ?? notes[0];
  if (asked === undefined || notes.length < MIN_NOTES) return undefined;
  return { questions: [asked.description || asked.name], passages: notes };
}

interface SampleNote extends SamplePassage {
  readonly description: string;
}

function readSample(
  vault: Vault,
  path: VaultPath,
  { index }: SampledConfig,
): SampleNote | undefined {
  try {
    const note = runAtOnce(parseNote(path, readFile(vault, path).bytes));
    if (note === undefined) return undefined;
    const { kind } = identifyNote(vault, path, note);
    if (kind === "derived" || (index === "memories" && kind !== "memory")) return undefined;
    const text = bodyOf(note).trim().slice(0, MAX_PASSAGE_CHARS).toWellFormed();
    const { description, name } = note;
    return text.length < MIN_PASSAGE_CHARS ? undefined : { name, text, description };
  } catch {
    // Gone or replaced a moment ago: another one will do.
    return undefined;
  }
}
