/** The command `status`: which agents are connected, and to what. */
import { type AgentConnection, SERVER_NAME } from "@/lib/connect/connection.ts";
import { CONNECTIONS } from "@/lib/connect/connections.ts";
import { decodeText, lookAtEdit } from "@/lib/connect/edit_text.ts";
import { type InstallRecord, readInstallRecord } from "@/lib/connect/install_record.ts";
import type { ProjectionMode } from "@/lib/contracts_projection.ts";
import { AppError } from "@/lib/errors.ts";
import { readOutsideFile } from "@/lib/outside_files.ts";
import { listProjections, type ProjectionRecord } from "@/lib/projection/projection_record.ts";
import { findRunningServer } from "./find_server.ts";
import type { InstallContext } from "./run_install.ts";
import { showJson, showText } from "./show_text.ts";

/** How one agent stands. */
interface AgentStatus {
  readonly agent: string;
  readonly title: string;
  /** Whether there are settings of it on this machine. */
  readonly isThere: boolean;
  readonly isConnected: boolean;
  readonly vault?: string;
  readonly since?: string;
  /** What is wrong, and how to mend it. */
  readonly problems: readonly string[];
}

/** The server that runs for the vault. */
interface ServerStatus {
  readonly url: string;
  readonly pid: number;
  readonly version: string;
}

/** A place in which an agent, or whoever reads a file, is shown memories. */
interface ShownStatus {
  readonly agent: string;
  readonly mode: ProjectionMode;
  readonly scope: "global" | "project";
  readonly target: string;
  readonly project?: string;
}

/** Shows how all agents stand; returns whether nothing is wrong. */
export async function showStatus(context: InstallContext): Promise<boolean> {
  const { config: { vault }, line, machine, surroundings: { terminal } } = context;
  const server = await findServer(context);
  const agents = await Promise.all(CONNECTIONS.map((each) => statusOf(context, each)));
  const shown = (await listProjections(machine.home)).map(toShown);
  if (line.json) showJson(terminal, { vault, server: server ?? null, agents, shown });
  else showText(terminal, formatStatus({ vault, server, agents, shown }));
  return agents.every(({ problems }) => problems.length === 0);
}

async function findServer({ config }: InstallContext): Promise<ServerStatus | undefined> {
  const server = await findRunningServer(config);
  if (server === undefined) return undefined;
  const { url, pid, version } = server;
  server[Symbol.dispose]();
  return { url, pid, version };
}

function toShown({ agent, mode, scope, target, project }: ProjectionRecord): ShownStatus {
  return { agent, mode, scope, target, ...(project === undefined ? {} : { project }) };
}

async function statusOf(
  { machine }: InstallContext,
  connection: AgentConnection,
): Promise<AgentStatus> {
  const { id, title } = connection;
  const status = { agent: id, title, isThere: await isThere(connection.folder(machine)) };
  try {
    const record = await readInstallRecord(machine, id);
    if (record === undefined) return { ...status, isConnected: false, problems: [] };
    const { vault, installedAt: since } = record;
    return { ...status, isConnected: true, vault, since, problems: await listProblems(record, id) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { ...status, isConnected: false, problems: [error.message] };
  }
}

async function listProblems(record: InstallRecord, agent: string): Promise<string[]> {
  const problems = await Promise.all(
    record.files.map(({ path, done }) => findProblem(path, done.map(({ edit }) => edit))),
  );
  const { command, args } = record.server;
  const files = [command, ...args.filter((arg) => /\/main\.ts$|\.js$/.test(arg))];
  const gone = (await Promise.all(files.map(async (file) => await isThere(file) ? [] : [file])))
    .flat();
  const again = `: run install ${agent} again`;
  return [
    ...problems.filter((problem) => problem !== undefined).map((problem) => problem + again),
    ...gone.map((file) => `${SERVER_NAME} is started with ${file}, which is not there${again}`),
  ];
}

async function findProblem(
  path: string,
  edits: readonly Parameters<typeof lookAtEdit>[1][],
): Promise<string | undefined> {
  try {
    const file = await readOutsideFile(path);
    const { text } = decodeText(file?.bytes ?? new Uint8Array());
    const isWhole = edits.every((edit) => lookAtEdit(text, edit) === "there");
    return isWhole ? undefined : `${path} does not hold all that install put there`;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return `${path}: ${error.message}`;
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch {
    return false;
  }
}

interface Status {
  readonly vault: string;
  readonly server: ServerStatus | undefined;
  readonly agents: readonly AgentStatus[];
  readonly shown: readonly ShownStatus[];
}

function formatStatus({ vault, server, agents, shown }: Status): string {
  const state = server === undefined
    ? "no server runs now; agents start one when they need it"
    : `served at ${server.url} (version ${server.version}, process ${server.pid})`;
  return [
    `${vault}: ${state}`,
    ...agents.map(formatAgent),
    ...shown.map(({ agent, mode, scope, target }) => {
      const how = mode === "SYMLINK" ? "linked to" : "listed in";
      return `${scope} memories are ${how} ${target} (${agent})`;
    }),
  ].join("\n");
}

function formatAgent({ title, isThere, isConnected, vault, since, problems }: AgentStatus): string {
  const state = isConnected
    ? `connected to ${vault} since ${since?.slice(0, 10)}`
    : isThere
    ? "not connected"
    : "not on this machine";
  return [`${title}: ${state}`, ...problems.map((problem) => `   ⚠️ ${problem}`)].join("\n");
}
