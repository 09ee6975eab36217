/** What was measured of the real server's start, as rows of tables. */
import type { Row } from "../eval/table.ts";
import type { Target } from "./report.ts";
import type { BenchResults } from "./results.ts";

const MIB = 1_024 * 1_024;

export function startRows({ start }: BenchResults): Row[] {
  return (start?.starts ?? []).flatMap(({ notes, embedding, cold, warm }) =>
    Object.entries({ "empty": cold, "full": warm }).flatMap(([cache, times]) =>
      times
        ? [{
          notes,
          "embedding": embedding,
          "cache": embedding === "none" ? "" : cache,
          "listens": times.listensMs,
          "first answer": times.firstAnswerMs,
          "all indexed": times.indexedMs,
          "answer from all": times.wholeAnswerMs,
        }]
        : []
    )
  );
}

export function idleRows({ start }: BenchResults): Row[] {
  if (!start) return [];
  const { rssBytes, idleShare } = start.idle;
  return [
    ...(rssBytes === undefined ? [] : [{ what: "RSS, MiB", value: rssBytes / MIB }]),
    ...(idleShare === undefined ? [] : [{ what: "processor in use, %", value: idleShare * 100 }]),
  ];
}

export function startTargets({ start }: BenchResults): Target[] {
  return (start?.starts ?? []).map(({ notes, embedding, cold }) => ({
    name: `first answer, ${notes} notes, embedding ${embedding}: ms`,
    reached: cold.firstAnswerMs,
    goal: 1_000,
    sense: "at most",
  }));
}
