/** Plans in words, as a person can check them before anything is done. */
import { join } from "node:path";
import type { PlannedChange } from "@/lib/contracts_projection.ts";
import type { OpenPlan } from "./projection_session.ts";

/**
 * Returns the lines that say what a plan would do.
 *
 * @param vault Where the vault lies.
 */
export function describePlan({ adapter, plan }: OpenPlan, vault: string): string[] {
  const whose = plan.scope === "global" ? "global memories" : "memories of the project";
  const head = `${adapter.folder ? `${adapter.title}, ${whose}` : "Memories"}: ${plan.target}`;
  if (plan.kind === "refused") return [`${head}: cannot be done`];
  if (plan.state === "current") return [`${head}: nothing would change`, ...indent(plan.notes)];
  const changes = plan.changes.map((change) => describeChange(change, vault));
  const block = plan.kind === "block"
    ? plan.block.split(/\r?\n/).map((line) => `    ${line}`.trimEnd())
    : [];
  return [head, ...indent([...changes, ...block, ...plan.notes])];
}

function indent(lines: readonly string[]): string[] {
  return lines.map((line) => `   ${line}`.trimEnd());
}

function describeChange({ change, path, from, to }: PlannedChange, vault: string): string {
  switch (change) {
    case "make-store":
      return `make the project's store ${join(vault, path)}`;
    case "copy":
      return `copy ${from} into the store`;
    case "copy-beside":
      return `copy ${from} into the store as ${join(vault, path)}, beside another of its name`;
    case "make-folder":
      return `make the folder ${path}`;
    case "keep-folder":
      return `put ${from} aside as ${path}`;
    case "link":
      return `make ${path} a link to ${join(vault, to ?? "")}`;
    case "make-file":
      return "make the file, with";
    case "write-block":
      return "put into the file, where its block is or at its end";
  }
}
