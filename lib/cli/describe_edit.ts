/** An edit of settings, as a person can check it before it is made. */
import type { Edit } from "@/lib/connect/edit.ts";

/** Of a script: so many lines are shown. */
const MAX_LINES = 40;

/** Returns the lines that say what an edit puts into its file. */
export function describeEdit(edit: Edit): string[] {
  switch (edit.kind) {
    case "json-entry":
      return [`+ ${edit.at.join(".")}: ${JSON.stringify(edit.value)}`];
    case "json-items":
      return edit.items.map((item) => `+ ${edit.at.join(".")}: ${JSON.stringify(item)}`);
    case "toml-table":
      return [
        `+ [${edit.at.join(".")}]`,
        ...Object.entries(edit.values).map(([key, value]) => `+ ${key} = ${JSON.stringify(value)}`),
      ];
    case "toml-switch":
      return [`+ [${edit.at[0]}] ${edit.at[1]} = ${edit.value}`];
    case "file":
      return describeFile(edit.text);
  }
}

function describeFile(text: string): string[] {
  const lines = text.trimEnd().split("\n");
  const shown = lines.slice(0, MAX_LINES).map((line) => `+ ${line}`);
  const left = lines.length - shown.length;
  return left === 0 ? shown : [...shown, `  … and ${left} more lines`];
}
