/** The words in which an edit of a frontmatter is refused; a key's name is all they tell of it. */
import { FrontmatterNotEditable } from "@/lib/errors.ts";
import {
  findKeyLine,
  type Frontmatter,
  type FrontmatterFields,
  type FrontmatterReason,
} from "./frontmatter.ts";
import { lineText, type NoteText } from "./note_text.ts";
import { sameValue } from "./_yaml_values.ts";

const HIDDEN_BLOCK = /^\ufeff+---/;
/** A value that an alias elsewhere may stand for. */
const ANCHOR = /(?:^|[\s[{,])&[^\s]/;

const MENDS: Readonly<Record<FrontmatterReason, string>> = {
  "unclosed": "opens a block that has no end; put a line `---` after its last key",
  "not-a-mapping": "begins no `key: value` line; part the two with a colon and a blank",
  "duplicate-key": "repeats a key; keep one of the two",
  "tab-indent": "is indented with a tab; indent it with blanks",
  "bad-yaml": "is where the YAML stops being valid; put the value in quotes",
  "alias-limit": "begins a block whose aliases (`*name`) grow too large; write the values out",
  "too-large": "begins a block that is too large to be read; move text to the body",
  "toml": "begins a block in TOML; write it as YAML between lines `---`",
  "json": "begins a block in JSON; write it as YAML between lines `---`",
};

/** @param problem What is wrong with the line, and how to mend it. */
export function notEditable(line: number, problem: string): FrontmatterNotEditable {
  return new FrontmatterNotEditable(
    `Cannot edit the frontmatter of this note: line ${line} ${problem}`,
  );
}

/** @throws {FrontmatterNotEditable} If the note has a block that is not read, or is not UTF-8. */
export function requireReadable(note: NoteText, { state }: Frontmatter): void {
  if (note.lossy) {
    throw notEditable(1, "begins a text with bytes that are not UTF-8; save the file as UTF-8");
  }
  // A block behind it is not seen: a second one would come in front of it.
  if (HIDDEN_BLOCK.test(note.text)) {
    throw notEditable(1, "begins with a second byte order mark; remove it");
  }
  if (state.reason === undefined) return;
  if (state.line === undefined && state.reason === "bad-yaml") {
    throw notEditable(1, "begins a block that is no valid YAML; put the value in quotes");
  }
  throw notEditable(state.line ?? 1, MENDS[state.reason]);
}

export interface MeantEdit {
  readonly note: NoteText;
  readonly old: Frontmatter;
  readonly meant: FrontmatterFields;
}

/** Says why an edit that is not read as it was meant may have failed. */
export function refusalOf(
  read: Frontmatter | undefined,
  { note, old, meant }: MeantEdit,
): FrontmatterNotEditable {
  const reason = read?.state.reason;
  if (reason === "too-large" || reason === "alias-limit") {
    return notEditable(1, "begins a block that would grow too large; move text to the body");
  }
  const places = changedKeys(old.fields, meant)
    .map((key) => ({ key, line: findKeyLine(note, old, key) }));
  const anchored = places.find(({ line }) => hasAnchor(note, old, line));
  if (anchored) {
    const { key, line } = anchored;
    const problem = `(\`${key}\`) has an anchor (\`&…\`) whose value is used elsewhere`;
    return notEditable(line, `${problem}; write the value out where the alias (\`*…\`) stands`);
  }
  const { key = "", line = 1 } = places[0] ?? {};
  return notEditable(
    line,
    `(\`${key}\`) cannot be changed without changing other keys; put its value on one line, ` +
      "and indent no comment below a text of several lines",
  );
}

function changedKeys(old: FrontmatterFields, meant: FrontmatterFields): string[] {
  const isSame = (key: string): boolean => {
    const [before, after] = [old.get(key), meant.get(key)];
    return before !== undefined && after !== undefined && sameValue(before, after);
  };
  return [...new Set([...old.keys(), ...meant.keys()])].filter((key) => !isSame(key));
}

/** Looks from the line of a key to that of the next one. */
function hasAnchor(note: NoteText, { endLine }: Frontmatter, keyLine: number): boolean {
  if (keyLine < 2) return false;
  let line = keyLine;
  do {
    if (ANCHOR.test(lineText(note, line))) return true;
    line++;
  } while (line < endLine && !/^[^\s#-]/.test(lineText(note, line)));
  return false;
}
