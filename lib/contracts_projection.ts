/** What goes over the wire about what agents are shown in their own files. */
import * as z from "zod";
import { whereFields } from "./contracts.ts";

/** `GET /api/projections`. */
export const ProjectionsParams = z.strictObject({ ...whereFields });
export type ProjectionsInput = z.output<typeof ProjectionsParams>;

export const PROJECTION_MODES = ["SYMLINK", "RENDER", "NONE"] as const;
export type ProjectionMode = (typeof PROJECTION_MODES)[number];

export const PROJECTION_STATES = ["new", "merge", "stale", "current", "refused"] as const;
export type ProjectionState = (typeof PROJECTION_STATES)[number];

export const PlannedChangeShape = z.object({
  change: z.enum([
    "make-folder",
    "make-store",
    "copy",
    "copy-beside",
    "keep-folder",
    "link",
    "make-file",
    "write-block",
  ]),
  path: z.string().describe(
    "What is made or changed: of a store and what is copied the path in the vault, else on this " +
      "machine",
  ),
  from: z.string().optional().describe("What is copied or renamed, on this machine"),
  to: z.string().optional().describe("Where the link leads, in the vault"),
});
export type PlannedChange = z.output<typeof PlannedChangeShape>;

export const ProjectionShape = z.object({
  agent: z.string(),
  mode: z.enum(PROJECTION_MODES).describe(
    "SYMLINK = a folder of the agent is the store; RENDER = a file of it holds a block",
  ),
  scope: z.enum(["global", "project"]).describe("Whose memories it shows"),
  target: z.string().describe("The link or file, on this machine"),
  state: z.enum(PROJECTION_STATES).describe(
    "new = not there yet; merge = there is a folder with notes of the agent's own; stale = to be " +
      "rendered anew; current = nothing would change; refused = see reason",
  ),
  reason: z.string().optional(),
  notes: z.array(z.string()),
  changes: z.array(PlannedChangeShape),
  block: z.string().optional().describe("What would stand in the file, and nothing else of it"),
});
export type Projection = z.output<typeof ProjectionShape>;

export const ProjectionsAnswerShape = z.object({ projections: z.array(ProjectionShape) });
export type ProjectionsAnswer = z.output<typeof ProjectionsAnswerShape>;
