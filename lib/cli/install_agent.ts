/** Connecting one agent: the server of MCP, hooks, and lists of memories where it shows such. */
import { isDeepStrictEqual } from "node:util";
import { DEFAULT_HOST, DEFAULT_PORT } from "@/lib/config_fields.ts";
import { applyInstall } from "@/lib/connect/apply_install.ts";
import type { AgentConnection, Wanted } from "@/lib/connect/connection.ts";
import { type InstallRecord, readInstallRecord } from "@/lib/connect/install_record.ts";
import { type FilePlan, planInstall } from "@/lib/connect/plan_install.ts";
import { withProjectionLock } from "@/lib/projection/projection_lock.ts";
import { findProgram } from "@/lib/find_program.ts";
import { describeEdit } from "./describe_edit.ts";
import { toRun } from "./program.ts";
import { showReport } from "./report.ts";
import type { InstallContext } from "./run_install.ts";
import { serverArguments } from "./server_arguments.ts";
import { showText, toPlain } from "./show_text.ts";
import { planShown, showMemories } from "./shown_memories.ts";
import { undoInstall } from "./uninstall_agent.ts";

/**
 * Connects an agent to the vault, and does nothing if it is connected so already.
 *
 * @returns Whether it is connected now, or would be.
 */
export async function installAgent(
  context: InstallContext,
  connection: AgentConnection,
): Promise<boolean> {
  const { machine, surroundings: { terminal } } = context;
  // Before anything is changed.
  const toShow = await planShown(context, connection);
  if (toShow.refusals.length > 0) return refuse(context, toShow.refusals);
  // One at a time, as two would undo each other.
  const isConnected = await withProjectionLock(
    machine.home,
    () => ensureConnected(context, connection),
  );
  if (!isConnected) return false;
  if (!context.line.dryRun) return showReport(terminal, await showMemories(context, connection));
  showText(terminal, [...toShow.lines, "Nothing was changed."].join("\n"));
  return true;
}

async function ensureConnected(
  context: InstallContext,
  connection: AgentConnection,
): Promise<boolean> {
  const { machine, surroundings: { terminal } } = context;
  const wanted = wantedOf(context, connection);
  const known = await readInstallRecord(machine, connection.id);
  if (known === undefined) return await connect(context, connection, wanted);
  if (!await isConnectedSo(context, connection, { known, wanted })) {
    return await connectAnew(context, connection, { known, wanted });
  }
  showText(terminal, `${connection.title} is connected already to ${known.vault}`);
  return true;
}

function refuse(
  { surroundings: { terminal } }: InstallContext,
  refusals: readonly string[],
): false {
  for (const refusal of refusals) terminal.writeError(toPlain(refusal));
  terminal.writeError("Nothing was changed.");
  return false;
}

function wantedOf({ config, surroundings }: InstallContext, { id }: AgentConnection): Wanted {
  const { program } = surroundings;
  const args = serverArguments(surroundings, config);
  const { host, port } = config;
  const isDefault = port === DEFAULT_PORT && host === DEFAULT_HOST;
  return {
    server: toRun(program, ["stdio", ...args]),
    refresh: toRun(program, ["project", id, "--refresh", ...args]),
    url: isDefault || port === 0 ? undefined : `http://${host}:${port}`,
  };
}

interface Known {
  readonly known: InstallRecord;
  readonly wanted: Wanted;
}

async function isConnectedSo(
  { machine }: InstallContext,
  connection: AgentConnection,
  { known, wanted }: Known,
): Promise<boolean> {
  if (!isDeepStrictEqual(known.server, wanted.server)) return false;
  const { files, refusals } = await planInstall(machine, connection, wanted);
  return files.length === 0 && refusals.length === 0;
}

async function connect(
  context: InstallContext,
  connection: AgentConnection,
  wanted: Wanted,
): Promise<boolean> {
  const { config, line, machine, surroundings } = context;
  const { clock, terminal } = surroundings;
  const { files, refusals } = await planInstall(machine, connection, wanted);
  if (refusals.length > 0) return refuse(context, refusals);
  const program = await findProgram(connection.id, machine.env.get("PATH"));
  if (line.dryRun) {
    showText(terminal, formatPlan(connection, files, program));
    return true;
  }
  const { server } = wanted;
  const record = await applyInstall({
    machine,
    connection,
    server,
    vault: config.vault,
    nowMs: clock.nowMs(),
    program,
    run: (path, args) => runProgram(path, args, context),
  }, files);
  showText(terminal, formatDone(connection, record));
  return true;
}

/** What was changed for another vault or by another version is undone first. */
async function connectAnew(
  context: InstallContext,
  connection: AgentConnection,
  { known, wanted }: Known,
): Promise<boolean> {
  const { line, surroundings: { terminal } } = context;
  const since = known.installedAt.slice(0, 10);
  const state = `${connection.title} is connected since ${since} to ${known.vault}`;
  const { refusals } = await planInstall(context.machine, connection, { ...wanted, known });
  if (refusals.length > 0) return refuse(context, refusals);
  if (line.dryRun) {
    showText(terminal, `${state}; that would be undone, and done anew for ${context.config.vault}`);
    return true;
  }
  showText(terminal, `${state}; that is undone first`);
  if (!await undoInstall(context, connection, known)) return false;
  return await connect(context, connection, wanted);
}

async function runProgram(
  path: string,
  args: readonly string[],
  { machine }: InstallContext,
): Promise<void> {
  try {
    const command = new Deno.Command(path, {
      args: [...args],
      cwd: machine.home,
      env: Object.fromEntries(machine.env),
      clearEnv: true,
      stdin: "null",
      stdout: "null",
      stderr: "null",
      signal: AbortSignal.timeout(PROGRAM_LIMIT_MS),
    });
    await command.output();
  } catch {
    // Not one that can be run: then its settings are edited.
  }
}

const PROGRAM_LIMIT_MS = 30_000;

function formatPlan(
  connection: AgentConnection,
  files: readonly FilePlan[],
  program: string | undefined,
): string {
  if (files.length === 0) return `${connection.title} has all of it already: nothing would change`;
  const parts = files.flatMap(({ path, before, what, done, registration }) => [
    `${before === undefined ? "make" : "change"} ${path}: ${what.join("; ")}`,
    ...done.flatMap(({ edit }) => {
      const by = edit === registration && program !== undefined ? ` (by ${program})` : "";
      return describeEdit(edit).map((text, at) => `    ${text}${at === 0 ? by : ""}`);
    }),
  ]);
  return [`To connect ${connection.title}, this would`, ...parts].join("\n");
}

function formatDone(connection: AgentConnection, { vault, files }: InstallRecord): string {
  return [
    `✅ ${connection.title} is connected to ${vault}`,
    ...files.map(({ path, what }) => `   ${path}: ${what.join("; ")}`),
    ...connection.afterwards,
    `To undo it: uninstall ${connection.id}`,
  ].join("\n");
}
