import { join } from "node:path";
import { type DiskModel, VAULT } from "./disk_model.ts";

/**
 * Sees to it that the model is right about the vault, before anybody is judged by it.
 *
 * @throws {Error} If it is not: then the harness is at fault.
 */
export function checkDisk(base: string, model: DiskModel): void {
  const seen = listDisk(base, VAULT);
  const known = model.below(VAULT).map((path) => describeNode(model, path));
  const [onDisk, inModel] = [new Set(seen), new Set(known)];
  const wrong = [
    ...seen.filter((node) => !inModel.has(node)).map((node) => `only on the disk: ${node}`),
    ...known.filter((node) => !onDisk.has(node)).map((node) => `only in the model: ${node}`),
  ];
  if (wrong.length === 0) return;
  throw new Error(`The harness does not know the vault:\n${wrong.slice(0, 20).join("\n")}`);
}

function describeNode(model: DiskModel, path: string): string {
  const node = model.at(path);
  return node?.kind === "file" ? `${path}: ${node.text}` : `${path} is a ${node?.kind}`;
}

function listDisk(base: string, folder: string): string[] {
  return [...Deno.readDirSync(join(base, folder))].flatMap(({ name, isDirectory, isSymlink }) => {
    const path = `${folder}/${name}`;
    if (name === ".git") return [];
    if (isSymlink) return [`${path} is a link`];
    if (isDirectory) return [`${path} is a folder`, ...listDisk(base, path)];
    return [`${path}: ${Deno.readTextFileSync(join(base, path))}`];
  });
}
