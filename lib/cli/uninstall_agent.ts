/** Taking back what was changed to connect an agent, and nothing else. */
import type { AgentConnection } from "@/lib/connect/connection.ts";
import {
  type InstallRecord,
  readInstallRecord,
  removeInstallRecord,
  writeInstallRecord,
} from "@/lib/connect/install_record.ts";
import { undoFile, type Undone } from "@/lib/connect/undo_install.ts";
import { withProjectionLock } from "@/lib/projection/projection_lock.ts";
import { listWanted, removeProjections } from "./project_agents.ts";
import { showReport, wordsOf } from "./report.ts";
import type { InstallContext } from "./run_install.ts";
import { showText, toPlain } from "./show_text.ts";

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
  // What is shown has the lock while it is taken back.
  const isHidden = showReport(terminal, await removeProjections(surroundings, which));
  if (toUndo === undefined) return isHidden;
  const isUndone = await withProjectionLock(
    machine.home,
    async () => {
      const now = await readInstallRecord(machine, connection.id);
      return now === undefined || await undoInstall(context, connection, now);
    },
  );
  return isUndone && isHidden;
}

function sayNothing({ title }: AgentConnection, project: string | undefined): string {
  return project === undefined
    ? `${title} was not connected by install`
    : `${title} is not shown the memories of ${project}`;
}

/** Undoes a record, the last file first; what cannot be undone stays on record. */
export async function undoInstall(
  { machine, surroundings: { clock, terminal } }: InstallContext,
  connection: AgentConnection,
  record: InstallRecord,
): Promise<boolean> {
  const left = [];
  let isWhole = true;
  for (const file of record.files.toReversed()) {
    try {
      const { undone, isWhole: isSame, copies } = await undoFile(
        { machine, nowMs: clock.nowMs() },
        file,
      );
      const kept = copies.length === 0 ? "" : `; copies: ${copies.join(", ")}`;
      showText(terminal, `   ${file.path} ${WORDS[undone]}${kept}`);
      isWhole &&= isSame || undone !== "edited";
    } catch (error) {
      const words = wordsOf(error);
      if (words === undefined) throw error;
      terminal.writeError(toPlain(words));
      left.unshift(file);
    }
  }
  if (left.length === 0) {
    await removeInstallRecord(machine, connection.id);
    const state = isWhole ? "is as it was before install" : "is not connected any more";
    showText(terminal, `✅ ${connection.title} ${state}`);
    return true;
  }
  await writeInstallRecord(machine, { ...record, files: left });
  terminal.writeError(`Not all could be undone: mend that, then uninstall ${connection.id} again`);
  return false;
}
