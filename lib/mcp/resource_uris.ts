/** The names under which MCP clients read the vault: `memory://`, `profile://`, `store://`. */
import { requireVisible } from "@/lib/access/require_view.ts";
import { type Caller, GLOBAL_SCOPE_ID } from "@/lib/contracts.ts";
import { PathEscapesVault } from "@/lib/errors.ts";
import { PROFILED, type Profiled } from "@/lib/journal/profiles.ts";
import { isUlid } from "@/lib/ulid.ts";
import { classifyNote, type VaultLayout } from "@/lib/vault/kinds.ts";
import { isMarkdown, parseVaultPath } from "@/lib/vault/vault_path.ts";

/** What a resource is. */
export type ResourceName =
  | { readonly kind: "memory"; readonly id: string }
  | { readonly kind: "profile"; readonly who: Profiled }
  /** @property scope `global`, `project` = where the agent works, or the ULID of a store. */
  | { readonly kind: "manifest"; readonly scope: string };

export const MEMORY_TEMPLATE = "memory://{id}";
export const MANIFEST_TEMPLATE = "store://{scope}/MEMORY.md";

/** Of the URI itself; an id may be as long as a path, and each byte of it three characters. */
export const MAX_URI_CHARS = 16_384;

/** Returns the name of a memory or, by its path, of any note. */
export function memoryUri(id: string): string {
  return `memory://${encodeURIComponent(id.toWellFormed())}`;
}

export function profileUri(who: Profiled): string {
  return `profile://${who}`;
}

/** @param scopeId 26 zeros for the global store. */
export function manifestUri(scopeId: string): string {
  return `store://${scopeId === GLOBAL_SCOPE_ID ? "global" : scopeId}/MEMORY.md`;
}

/**
 * Reads the name of a resource; an id may be written with or without escapes.
 *
 * @returns `undefined` for what this server does not have.
 *
 * @example
 * ```ts
 * import { deepEqual } from "node:assert/strict";
 *
 * deepEqual(parseResourceUri("memory://work%2Fa.md"), { kind: "memory", id: "work/a.md" });
 * ```
 */
export function parseResourceUri(uri: string): ResourceName | undefined {
  if (uri.length > MAX_URI_CHARS) return undefined;
  const [, scheme, rest = ""] = /^(memory|profile|store):\/\/(.+)$/su.exec(uri) ?? [];
  switch (scheme) {
    case "memory":
      return { kind: "memory", id: unescape(rest) };
    case "profile": {
      const who = PROFILED.find((known) => known === rest);
      return who && { kind: "profile", who };
    }
    case "store": {
      const [, scope] = /^([^/]+)\/MEMORY\.md$/u.exec(rest) ?? [];
      return scope === undefined ? undefined : toManifest(scope);
    }
    default:
      return undefined;
  }
}

/** Returns the name under which changes of a resource are told, however a client spells it. */
export function changeKey(uri: string): string | undefined {
  const name = parseResourceUri(uri);
  switch (name?.kind) {
    case "memory":
      return memoryUri(name.id);
    case "profile":
      return profileUri(name.who);
    case "manifest":
      return name.scope === "project" ? undefined : manifestUri(name.scope);
    case undefined:
      return undefined;
  }
}

/**
 * Checks that a caller may hear of a resource.
 *
 * @throws {GrantMissing} If what lies at such a place is not for it to see.
 */
export function requireVisibleUri(layout: VaultLayout, caller: Caller, uri: string): void {
  const name = parseResourceUri(uri);
  if (name?.kind !== "memory" || !isMarkdown(name.id)) return;
  try {
    const path = parseVaultPath(name.id);
    requireVisible(caller, classifyNote(layout, path, {}), path);
  } catch (error) {
    // An id that looks like anything is no place.
    if (!(error instanceof PathEscapesVault)) throw error;
  }
}

function toManifest(scope: string): ResourceName | undefined {
  if (scope === "global" || scope === GLOBAL_SCOPE_ID) return { kind: "manifest", scope: "global" };
  if (scope === "project") return { kind: "manifest", scope };
  return isUlid(scope) ? { kind: "manifest", scope: scope.toUpperCase() } : undefined;
}

function unescape(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A lone % is part of the id.
    return text;
  }
}
