/**
 * Chooses the candidates of a memory route and puts them in order. Where two folders claim the same
 * name, nobody can tell which one is meant, and to guess would hand out another project's memory:
 * so neither is taken, and the claim is reported.
 */
import type { ProjectFolder, SummaryMeta } from "@/lib/projects/project_folders.ts";
import type { RepoIdentity } from "@/lib/projects/projects.ts";
import { normalizeTag } from "@/lib/vault/tags.ts";
import { formatClaim, ProjectNames, projectOf } from "./_project_names.ts";
import type { Candidate, Edge, FoundRoute, MatchedBy, Relation } from "./candidate.ts";

/** What candidates are chosen from. */
export interface RouteQuestion {
  /** In any order. */
  readonly folders: readonly ProjectFolder[];
  /** Of the repository in which the agent works; absent outside of any. */
  readonly identity?: RepoIdentity | undefined;
  /** As asked for. */
  readonly tags: readonly string[];
}

export type ChosenCandidates = Pick<
  FoundRoute,
  "current" | "candidates" | "conflicts" | "unresolved"
>;

/** The project that the agent works in, if exactly one folder can be it. */
interface FoundCurrent {
  readonly folder: ProjectFolder;
  readonly matchedBy: MatchedBy;
}

/** Folders by what ties them to the current project. */
type Ties = Readonly<Record<Relation, ReadonlySet<ProjectFolder>>>;

/** What the current project declares, and who declares it. */
interface Neighbourhood {
  readonly current?: FoundCurrent | undefined;
  readonly direct: Ties;
  readonly reverse: Ties;
  /** Normalised: those of the current project and those asked for. */
  readonly tags: ReadonlySet<string>;
}

/** Names that somebody declares. */
interface UnclearNames {
  /** Several folders may be meant. */
  readonly ambiguous: Set<string>;
  /** None may be meant; declared by the current project. */
  readonly unresolved: Set<string>;
}

const RELATIONS: readonly Relation[] = ["related", "depends_on"];

/**
 * Chooses and orders candidates: the current project, those it declares (direct), those that
 * declare it (reverse), those that share tags, and the names of those without metadata.
 *
 * @returns The same for any order of `folders`.
 */
export function chooseCandidates({ folders, identity, tags }: RouteQuestion): ChosenCandidates {
  const names = new ProjectNames(folders);
  const conflicts = new Set(names.claims);
  const unclear: UnclearNames = { ambiguous: new Set(), unresolved: new Set() };
  const found = identity && findCurrent(names, identity, conflicts);
  const current = found === "conflict" ? undefined : found;
  const around: Neighbourhood = {
    current,
    direct: findDirect(names, current, unclear),
    reverse: findReverse(names, current, unclear),
    tags: normalizeTags([...(current?.folder.meta?.tags ?? []), ...tags]),
  };
  for (const name of unclear.ambiguous) conflicts.add(names.describeClaim(name));
  return {
    current: found === "conflict" ? "conflict" : found ? "found" : "none",
    candidates: folders.map((folder) => toCandidate(folder, around)).filter(isCandidate)
      .sort(compareCandidates),
    conflicts: [...conflicts].sort(),
    unresolved: [...unclear.unresolved],
  };
}

/**
 * Tells whether the body of a candidate's summary may be loaded. Without metadata that can be relied
 * on it has to be the current project's, or of one that the current project names.
 */
export function mayLoadSummary({ folder, matchedBy, edges }: Candidate): boolean {
  if (!folder.hasSummary) return false;
  return folder.state === "canonical" || matchedBy !== undefined || edges.some(isDirect);
}

/** Each step counts only if none before it fits, and two that fit end it. */
function findCurrent(
  names: ProjectNames,
  { repoId, name }: RepoIdentity,
  conflicts: Set<string>,
): FoundCurrent | "conflict" | undefined {
  const wanted = name.normalize("NFC");
  const steps: readonly (readonly [MatchedBy, readonly ProjectFolder[]])[] = [
    ["repo_id", names.withRepoId(repoId.normalize("NFC"))],
    ["project", names.withProject(wanted)],
    ["alias", names.withAlias(wanted)],
    ["folder", names.withFolder(wanted)],
  ];
  const [matchedBy, matches] = steps.find(([, fitting]) => fitting.length > 0) ?? [];
  const [folder, ...more] = matches ?? [];
  if (matchedBy === undefined || folder === undefined) return undefined;
  if (more.length === 0) return { folder, matchedBy };
  const by = matchedBy === "alias" || matchedBy === "folder" ? `${matchedBy} ${wanted}` : matchedBy;
  conflicts.add(formatClaim(by, [folder, ...more]));
  return "conflict";
}

/** Finds the projects that the current one declares. */
function findDirect(
  names: ProjectNames,
  current: FoundCurrent | undefined,
  { ambiguous, unresolved }: UnclearNames,
): Ties {
  return toTies((relation) => {
    const declared = current?.folder.meta ? namesOf(current.folder.meta, relation) : [];
    return declared.flatMap((name) => {
      const matches = names.resolve(name);
      if (matches.length === 0) unresolved.add(name);
      if (matches.length > 1) ambiguous.add(name);
      return matches.length === 1 ? matches.filter((folder) => folder !== current?.folder) : [];
    });
  });
}

/** Finds the projects that declare the current one. */
function findReverse(
  names: ProjectNames,
  current: FoundCurrent | undefined,
  { ambiguous }: UnclearNames,
): Ties {
  const { folder: target } = current ?? {};
  const points = (name: string) => {
    const matches = names.resolve(name);
    if (target === undefined || !matches.includes(target)) return false;
    if (matches.length > 1) ambiguous.add(name);
    return matches.length === 1;
  };
  return toTies((relation) =>
    names.canonical.filter((folder) =>
      folder !== target && folder.meta !== undefined && namesOf(folder.meta, relation).some(points)
    )
  );
}

function toTies(find: (relation: Relation) => readonly ProjectFolder[]): Ties {
  return { related: new Set(find("related")), depends_on: new Set(find("depends_on")) };
}

function namesOf({ related, dependsOn }: SummaryMeta, relation: Relation): readonly string[] {
  return relation === "related" ? related : dependsOn;
}

function toCandidate(folder: ProjectFolder, around: Neighbourhood): Candidate {
  const isCurrent = folder === around.current?.folder;
  const own = normalizeTags(folder.meta?.tags ?? []);
  return {
    project: projectOf(folder),
    folder,
    ...(isCurrent ? { matchedBy: around.current.matchedBy } : {}),
    edges: RELATIONS.flatMap((relation) => edgesOf(folder, relation, around)),
    tagOverlap: isCurrent ? 0 : own.intersection(around.tags).size,
  };
}

function edgesOf(folder: ProjectFolder, relation: Relation, around: Neighbourhood): Edge[] {
  const { current, direct, reverse } = around;
  if (current === undefined) return [];
  const source = projectOf(folder);
  const isReverse = reverse[relation].has(folder);
  const derived: Edge[] = isReverse ? [{ relation, direction: "reverse", source }] : [];
  if (!direct[relation].has(folder)) return derived;
  const declared: Edge = { relation, direction: "direct", source: projectOf(current.folder) };
  if (relation === "depends_on") return [declared, ...derived];
  // One tie, which both declare.
  return [isReverse ? { ...declared, alsoSource: source } : declared];
}

/** What is incompatible says nothing of itself that counts; others have to name it. */
function isCandidate({ folder, matchedBy, edges, tagOverlap }: Candidate): boolean {
  if (folder.state === "unmigrated") return true;
  return matchedBy !== undefined || edges.length > 0 || tagOverlap > 0;
}

/** The order of candidates; no two are equal, as no two folders have one name. */
function compareCandidates(a: Candidate, b: Candidate): number {
  return levelOf(a) - levelOf(b) || b.tagOverlap - a.tagOverlap ||
    compareTexts(b.folder.meta?.updated ?? "", a.folder.meta?.updated ?? "") ||
    compareTexts(a.project, b.project) || compareTexts(a.folder.name, b.folder.name);
}

const LEVELS = { current: 0, direct: 1, reverse: 2, tags: 3, untied: 4 } as const;

function levelOf({ matchedBy, edges, tagOverlap }: Candidate): number {
  if (matchedBy !== undefined) return LEVELS.current;
  if (edges.some(isDirect)) return LEVELS.direct;
  if (edges.length > 0) return LEVELS.reverse;
  return tagOverlap > 0 ? LEVELS.tags : LEVELS.untied;
}

function isDirect({ direction }: Edge): boolean {
  return direction === "direct";
}

/** By code units, which no locale changes. */
function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function normalizeTags(tags: readonly string[]): Set<string> {
  return new Set(tags.flatMap((tag) => normalizeTag(tag) ?? []));
}
