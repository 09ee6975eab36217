/** Which notes a task may see, by what they are and where they lie. */
import type { NoteKind, View } from "@/lib/contracts.ts";
import type { TaskGrants } from "./grants.ts";

/** Project folders that turned out to be meant by a name under which a deep read was allowed. */
export type DeepFolders = ReadonlyMap<string, ReadonlySet<string>>;

/** Makes the view of a task that may read; it changes with what is granted later. */
export function makeView(grants: TaskGrants, deepFolders: DeepFolders): View {
  const isDeep = (path: string, kind: "facts" | "history"): boolean => {
    const [folder = ""] = path.split("/");
    const history = kind === "history";
    // A name alone may mean another folder than the one that is called so.
    const projects = [...deepFolders.get(folder) ?? []];
    return projects.some((project) => grants.coversDeep(project, history));
  };
  return {
    get canRead() {
      return grants.has("read");
    },
    maySee(kind: NoteKind, path: string, named: readonly NoteKind[]): boolean {
      switch (kind) {
        case "facts":
          return isDeep(path, kind);
        case "history":
          return named.includes("history") && isDeep(path, kind);
        case "shared":
          return named.includes("shared") && grants.coversShared([withoutFolder(path)]);
        case "derived":
          return false;
        default:
          return true;
      }
    },
  };
}

/** Returns a path as it is written inside of its folder under the root. */
function withoutFolder(path: string): string {
  return path.replace(/^[^/]*\//, "");
}
