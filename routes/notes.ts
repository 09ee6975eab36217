/** `GET /api/notes/{path}`: a note, by its path in the vault. */
import { Hono } from "hono";
import { NoteParams } from "@/lib/contracts.ts";
import { InvalidRequest } from "@/lib/errors.ts";
import { openNote } from "@/lib/memories/open_note.ts";
import type { Services } from "@/lib/services.ts";
import type { AppEnv } from "./app_env.ts";
import { show } from "@/lib/parse_input.ts";
import { readQuery } from "./read_query.ts";
import { decodePart, rawPathOf } from "./request_target.ts";

/** `/api/notes/` in segments. */
const SEGMENTS_BEFORE_PATH = 3;

/** In If-None-Match: whatever state the caller has. */
const ANY_ETAG = "*";

export function noteRoutes(services: Services): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  // A dot would not match line breaks; such a path is refused with a reason instead.
  routes.get("/:path{[^]+}", async (c) => {
    const path = readNotePath(c.req.url);
    const known = c.req.header("if-none-match")?.trim() ?? "";
    const input = { path, ...readQuery(c, NoteParams), knownEtags: listEtags(known) };
    const { etag, note } = await openNote(services, c.get("caller"), input);
    // Of the file, whatever lines were asked for.
    c.header("ETag", `"${etag}"`);
    c.header("Cache-Control", "no-cache");
    return note === undefined || known === ANY_ETAG ? c.body(null, 304) : c.json(note);
  });
  return routes;
}

/**
 * Decodes the path once. An encoded slash counts as a slash: no name can hold one, clients encode
 * whole paths, and what comes out is checked as a whole where it becomes a path of the vault.
 */
function readNotePath(url: string): string {
  const segments = rawPathOf(url).split("/").slice(SEGMENTS_BEFORE_PATH);
  return segments.map((segment) => {
    const name = decodePart(segment);
    if (name !== undefined) return name;
    const message = "must be valid percent-encoded UTF-8";
    throw new InvalidRequest(`Cannot use the request: path ${message}`, [
      { field: "path", value: show(segment), message },
    ]);
  }).join("/");
}

/** Reads them as If-None-Match demands: a list, in which weak ones count as well. */
function listEtags(header: string): string[] {
  return Array.from(header.matchAll(/"([^"]*)"/g), ([, etag = ""]) => etag);
}
