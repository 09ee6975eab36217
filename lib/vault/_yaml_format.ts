/** Writes values as YAML, line by line, as a person would write them in Obsidian. */
import type { FrontmatterValue } from "./frontmatter.ts";
import { formatScalar } from "./_yaml_scalars.ts";
import { isList } from "./_yaml_values.ts";

const STEP = 2;

/** A value that stands on the line of its key, or the lines below it. */
export type FormattedValue = { readonly inline: string } | { readonly lines: readonly string[] };

/**
 * @param style.indent Blanks before the lines of a value that has its own lines.
 * @param style.like The YAML of the single value that stood there before.
 */
export function formatValue(
  value: FrontmatterValue,
  { indent, like }: { indent: number; like?: string | undefined },
): FormattedValue {
  if (value === null) return { inline: "" };
  if (typeof value === "string") return { inline: formatScalar(value, { place: "block", like }) };
  if (isList(value)) {
    if (value.length === 0) return { inline: "[]" };
    return { lines: value.flatMap((item) => formatItem(item, { indent })) };
  }
  if (value.size === 0) return { inline: "{}" };
  return { lines: [...value].flatMap(([key, inner]) => formatField(key, inner, indent)) };
}

/** Returns the line of a key with its value, and the lines below it. */
export function formatField(key: string, value: FrontmatterValue, indent: number): string[] {
  const head = `${" ".repeat(indent)}${formatScalar(key, { place: "block" })}:`;
  const formatted = formatValue(value, { indent: indent + STEP });
  return "lines" in formatted ? [head, ...formatted.lines] : [joinParts(head, formatted.inline)];
}

/**
 * Returns the lines of an item of a block list.
 *
 * @param style.gap The blanks behind its dash.
 */
export function formatItem(
  value: FrontmatterValue,
  { indent, gap = " ", like }: { indent: number; gap?: string; like?: string | undefined },
): string[] {
  const dash = `${" ".repeat(indent)}-`;
  const inner = indent + 1 + gap.length;
  const formatted = formatValue(value, { indent: inner, like });
  if ("inline" in formatted) return [joinParts(dash, formatted.inline, gap)];
  const [first = "", ...rest] = formatted.lines;
  return [dash + gap + first.slice(inner), ...rest];
}

/** Returns a value on one line, lists and mappings in brackets. */
export function formatFlow(value: FrontmatterValue, like?: string): string {
  if (value === null) return "null";
  if (typeof value === "string") return formatScalar(value, { place: "flow", like });
  if (isList(value)) return `[${value.map((item) => formatFlow(item)).join(", ")}]`;
  const pairs = [...value].map(([key, inner]) =>
    `${formatScalar(key, { place: "flow" })}: ${formatFlow(inner)}`
  );
  return `{${pairs.join(", ")}}`;
}

function joinParts(head: string, value: string, gap = " "): string {
  return value === "" ? head : head + gap + value;
}
