/** Which notes a task may see, by what they are and where they lie. */
import type { NoteKind, View } from "@/lib/contracts.ts";
import { type TaskGrants, toTopic } from "./grants.ts";

/** Project folders that turned out to be meant by a name under which a deep read was allowed. */
export type DeepFolders = ReadonlyMap<string, string>;

/** Makes the view of a task that may read; it changes with what is granted later. */
export function makeView(grants: TaskGrants, deepFolders: DeepFolders): View {
  const isDeep = (path: string, kind: "facts" | "history"): boolean => {
    const [folder = ""] = path.split("/");
    const history = kind === "history";
    // A name alone may mean another folder than the one that is called so.
    const project = deepFolders.get(folder);
    return project !== undefined && grants.coversDeep(project, history);
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
          return named.includes("shared") && coversShared(grants, path);
        case "derived":
          return false;
        default:
          return true;
      }
    },
  };
}

/** A topic is a file below `_shared/`, or a folder with all that lies in it. */
function coversShared(grants: TaskGrants, path: string): boolean {
  const topic = toTopic(path.replace(/^[^/]*\//, ""));
  const parts = topic.split("/");
  return parts.some((_part, at) => grants.coversShared([parts.slice(0, at + 1).join("/")]));
}
