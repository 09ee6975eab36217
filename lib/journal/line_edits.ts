/** Changes of single lines, so that every byte outside of them stays as it is. */
import { lineEnd, type NoteText } from "@/lib/vault/note_text.ts";

interface LineEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** `behind` is for new lines behind the last one, which may have no end yet. */
  readonly kind: "part" | "removal" | "lines" | "behind";
}

/**
 * Of changes that begin at one place, new lines come before the line that begins there, and those
 * behind the last line come after what is changed at its end.
 */
const RANK: Readonly<Record<LineEdit["kind"], number>> = {
  lines: 0,
  part: 1,
  removal: 1,
  behind: 2,
};

/** Collects changes of one text, by the line numbers that it has before any of them. */
export class LineEdits {
  readonly #note: NoteText;
  readonly #eol: string;
  readonly #edits: LineEdit[] = [];

  /** @param eol What ends new lines, where the text has none yet. */
  constructor(note: NoteText, eol: string = lineEndingOf(note)) {
    this.#note = note;
    this.#eol = eol;
  }

  get isEmpty(): boolean {
    return this.#edits.length === 0;
  }

  /** Replaces what stands on a line; how it ends stays. */
  replaceLine(line: number, text: string): void {
    const start = this.#startOf(line);
    this.#edits.push({ start, end: lineEnd(this.#note, line), text, kind: "part" });
  }

  /** Replaces a part of a line, by columns that count from 0. */
  replacePart(line: number, { from, to }: { from: number; to: number }, text: string): void {
    const start = this.#startOf(line);
    this.#edits.push({ start: start + from, end: start + to, text, kind: "part" });
  }

  /** Puts lines behind a line; 0 = before the first. */
  insertAfter(line: number, lines: readonly string[]): void {
    if (lines.length === 0) return;
    const text = lines.join(this.#eol);
    const at = line === 0 ? 0 : this.#startOf(line + 1);
    const isOpen = at > 0 && !/[\r\n]/.test(this.#note.text.charAt(at - 1));
    // A text without a line end at its end goes on without one.
    if (isOpen) this.#edits.push({ start: at, end: at, text, kind: "behind" });
    else this.#edits.push({ start: at, end: at, text: text + this.#eol, kind: "lines" });
  }

  /** Takes whole lines away. */
  removeLines(from: number, to: number): void {
    const [start, end] = [this.#startOf(from), this.#startOf(to + 1)];
    this.#edits.push({ start, end, text: "", kind: "removal" });
  }

  /** Returns the text with all changes; new lines at one place stand in the order in which they came. */
  apply(): string {
    const { text, bom } = this.#note;
    const removals = this.#edits.filter(({ kind }) => kind === "removal");
    const ordered = this.#edits
      // What is changed in lines that go as a whole goes with them.
      .filter(({ kind, start, end }) =>
        kind !== "part" || !removals.some((it) => it.start <= start && end <= it.end)
      )
      .map((edit, order) => ({ ...edit, order }))
      .sort((a, b) => a.start - b.start || RANK[a.kind] - RANK[b.kind] || a.order - b.order);
    let result = bom ? "\ufeff" : "";
    let at = 0;
    for (const { start, end, text: put, kind } of ordered) {
      result += text.slice(at, Math.max(at, start));
      if (kind === "behind" && !/[\r\n]$/.test(result)) result += this.#eol;
      result += put;
      at = Math.max(at, end);
    }
    return result + text.slice(at);
  }

  #startOf(line: number): number {
    return this.#note.lineStarts[line - 1] ?? this.#note.text.length;
  }
}

/** Returns how the lines of a text end: as its first one does. */
export function lineEndingOf({ text }: Pick<NoteText, "text">): string {
  return /\r\n|[\r\n]/.exec(text)?.[0] ?? "\n";
}
