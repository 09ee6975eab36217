/** Single acts on the disk as plain data, so that another process can do them too. */
import { dirname, join } from "node:path";

/** Paths are relative to a base folder that holds the vault and what lies outside of it. */
export type DiskOp =
  | { readonly op: "write" | "append" | "rewrite"; readonly path: string; readonly text: string }
  | { readonly op: "rename"; readonly from: string; readonly to: string }
  | { readonly op: "remove" | "mkdir"; readonly path: string }
  | { readonly op: "touch"; readonly path: string; readonly ageMs: number }
  | { readonly op: "link"; readonly path: string; readonly target: string }
  | { readonly op: "chmod"; readonly path: string; readonly mode: number }
  | {
    readonly op: "run";
    readonly command: string;
    readonly args: readonly string[];
    /** Where it runs. */
    readonly folder: string;
  };

/**
 * Does one act.
 *
 * @throws {Error} If the disk refuses, or a program ends with an error.
 */
export function applyOp(base: string, op: DiskOp): void {
  switch (op.op) {
    case "write":
      return writeText(join(base, op.path), op.text);
    case "append":
      return Deno.writeTextFileSync(join(base, op.path), op.text, { append: true });
    case "rewrite":
      return rewrite(join(base, op.path), op.text);
    case "rename":
      return rename(join(base, op.from), join(base, op.to));
    case "remove":
      return Deno.removeSync(join(base, op.path), { recursive: true });
    case "mkdir":
      return Deno.mkdirSync(join(base, op.path), { recursive: true });
    case "touch":
      return touch(join(base, op.path), op.ageMs);
    case "link":
      return link(join(base, op.target), join(base, op.path));
    case "chmod":
      return Deno.chmodSync(join(base, op.path), op.mode);
    case "run":
      return run(op.command, op.args, join(base, op.folder));
  }
}

function writeText(path: string, text: string): void {
  Deno.mkdirSync(dirname(path), { recursive: true });
  Deno.writeTextFileSync(path, text);
}

/** Leaves the times as they were, as far as a program can. */
function rewrite(path: string, text: string): void {
  const { atime, mtime } = Deno.statSync(path);
  Deno.writeTextFileSync(path, text);
  if (atime && mtime) Deno.utimeSync(path, atime, mtime);
}

function touch(path: string, ageMs: number): void {
  const date = new Date(Date.now() - ageMs);
  Deno.utimeSync(path, date, date);
}

function rename(from: string, to: string): void {
  Deno.mkdirSync(dirname(to), { recursive: true });
  Deno.renameSync(from, to);
}

function link(target: string, path: string): void {
  Deno.mkdirSync(dirname(path), { recursive: true });
  Deno.symlinkSync(target, path);
}

function run(command: string, args: readonly string[], folder: string): void {
  const { success, stderr } = new Deno.Command(command, {
    args: [...args],
    cwd: folder,
    env: { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null", LC_ALL: "C" },
    stdin: "null",
  }).outputSync();
  if (success) return;
  throw new Error(`${command} ${args.join(" ")}: ${new TextDecoder().decode(stderr).trim()}`);
}
