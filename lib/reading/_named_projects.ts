/** From what a caller calls a project to its folder. */
import { InvalidRequest } from "@/lib/errors.ts";
import { didYouMean } from "@/lib/nearest_name.ts";
import { show } from "@/lib/parse_input.ts";
import type { ProjectFolder } from "@/lib/projects/project_folders.ts";
import type { Candidate, FoundRoute } from "./candidate.ts";
import { ProjectNames, projectOf } from "./_project_names.ts";

/**
 * Finds the project that is meant: by its name, an alias that no other has, or its folder.
 *
 * @param field Of the request, in which the name stands.
 * @returns One that nothing ties to the current project has no edges.
 * @throws {InvalidRequest} If no project that was looked at has that name, or several have.
 */
export function requireProject(route: FoundRoute, name: string, field: string): Candidate {
  const names = new ProjectNames(route.folders);
  const wanted = name.trim().normalize("NFC");
  const declared = names.resolve(wanted);
  const [folder, ...more] = declared.length > 0 ? declared : names.withFolder(wanted);
  if (folder === undefined) throw noSuchProject(route, name, field);
  if (more.length > 0) throw severalProjects([folder, ...more], name, field);
  return route.candidates.find((candidate) => candidate.folder.name === folder.name) ??
    { project: projectOf(folder), folder, edges: [], tagOverlap: 0 };
}

function noSuchProject(
  { folders, unchecked }: FoundRoute,
  name: string,
  field: string,
): InvalidRequest {
  const known = folders.flatMap((folder) => [projectOf(folder), folder.name]);
  const rest = unchecked === 0 ? "" : `. ${unchecked} folders were not checked; name the folder`;
  const message = `names no project${didYouMean(name, known)}${rest}`;
  return refuse(name, field, message);
}

function severalProjects(
  folders: readonly ProjectFolder[],
  name: string,
  field: string,
): InvalidRequest {
  const shown = folders.slice(0, 3).map((folder) => `"${folder.name}"`).join(", ");
  return refuse(name, field, `is claimed by several projects; name a folder: ${shown}`);
}

function refuse(name: string, field: string, message: string): InvalidRequest {
  const value = show(name);
  return new InvalidRequest(
    `Cannot use ${field} "${value}": it ${message}`,
    [{ field, value, message }],
  );
}
