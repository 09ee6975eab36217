/** Why a project is a candidate, in words that a program can take apart. */
import { toHintLine } from "@/lib/hint_line.ts";
import type { Candidate, Edge } from "./candidate.ts";

/**
 * Returns why a project may matter: `current:<matched by>`, `direct:<relation>`,
 * `reverse:<relation>`, `tags:<how many are shared>`; nothing if nothing ties it to the task.
 */
export function reasonsOf({ matchedBy, edges, tagOverlap }: Candidate): string[] {
  return [
    ...(matchedBy === undefined ? [] : [`current:${matchedBy}`]),
    ...edges.map(({ direction, relation }) => `${direction}:${relation}`),
    ...(tagOverlap > 0 ? [`tags:${tagOverlap}`] : []),
  ];
}

/** Returns who declares ties to the current project that it does not declare itself. */
export function edgeSourcesOf({ edges }: Candidate): string[] {
  return [...new Set(edges.flatMap(foreignSourcesOf).map(toHintLine))];
}

function foreignSourcesOf({ direction, source, alsoSource }: Edge): string[] {
  return direction === "reverse" ? [source] : alsoSource === undefined ? [] : [alsoSource];
}
