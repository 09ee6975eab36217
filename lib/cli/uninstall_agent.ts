/** Taking back what was changed to connect an agent, and nothing else. */
import type { AgentConnection } from "@/lib/connect/connection.ts";
import {
  type InstallRecord,
  readInstallRecord,
  removeInstallRecord,
  writeInstallRecord,
} from "@/lib/connect/install_record.ts";
import { undoFile, type Undone } from "@/lib/connect/undo_install.ts";
import { AppError } from "@/lib/errors.ts";
import { listWanted, removeProjections } from "./project_agents.ts";
import { showReport } from "./report.ts";
import type { InstallContext } from "./run_install.ts";
import { showText } from "./show_text.ts";

const WORDS: Readonly<Record<Undone, string>> = {
  restored: "is as it was before",
  removed: "was made by us, and is gone",
  edited: "was changed by somebody meanwhile: ours was taken out, the rest is as it is",
  unchanged: "holds nothing of ours any more",
};

/** Returns whether nothing of ours is left. */
export async function uninstallAgent(
  context: InstallContext,
  connection: AgentConnection,
): Promise<boolean> {
  const { line, machine, surroundings } = context;
  const { terminal } = surroundings;
  const record = await readInstallRecord(machine, connection.id);
  // The connection is not of one project.
  const toUndo = line.project === undefined ? record : undefined;
  const which = { agent: connection.id, project: line.project };
  const shown = await listWanted(surroundings, which);
  if (toUndo === undefined && shown.length === 0) {
    showText(terminal, `${sayNothing(connection, line.project)}: nothing was changed`);
    return true;
  }
  if (line.dryRun) {
    const files = toUndo?.files.map(({ path, what }) => `   ${path}: ${what.join("; ")}`) ?? [];
    const lists = shown.map(({ target }) => `   ${target}: memories`);
    const parts = ["This would be taken back:", ...lists, ...files, "Nothing was changed."];
    showText(terminal, parts.join("\n"));
    return true;
  }
  const isHidden = showReport(terminal, await removeProjections(surroundings, which));
  if (toUndo === undefined) return isHidden;
  return await undoInstall(context, connection, toUndo) && isHidden;
}

function sayNothing({ title }: AgentConnection, project: string | undefined): string {
  return project === undefined
    ? `${title} was not connected by install`
    : `${title} is not shown the memories of ${project}`;
}

/** Undoes a record, the last file first; what cannot be undone stays on record. */
export async function undoInstall(
  { machine, surroundings: { terminal } }: InstallContext,
  connection: AgentConnection,
  record: InstallRecord,
): Promise<boolean> {
  const left = [];
  for (const file of record.files.toReversed()) {
    try {
      showText(terminal, `   ${file.path} ${WORDS[await undoFile(file)]}`);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      terminal.writeError(error.message);
      left.unshift(file);
    }
  }
  if (left.length === 0) {
    await removeInstallRecord(machine, connection.id);
    showText(terminal, `✅ ${connection.title} is as it was before install`);
    return true;
  }
  await writeInstallRecord(machine, { ...record, files: left });
  terminal.writeError(`Not all could be undone: mend that, then uninstall ${connection.id} again`);
  return false;
}
