/** `GET /api/notes/{path}`: a note, by its path in the vault. */
import { Hono } from "hono";
import { NoteParams } from "@/lib/contracts.ts";
import { openNote } from "@/lib/memories/open_note.ts";
import type { Services } from "@/lib/services.ts";
import { answerUnlessKnown, readKnownStates } from "./_known_states.ts";
import { readPathParameter } from "./_path_parameter.ts";
import type { AppEnv } from "./app_env.ts";
import { readQuery } from "./read_query.ts";

export function noteRoutes(services: Services): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  // A dot would not match line breaks; such a path is refused with a reason instead.
  routes.get("/:path{[^]+}", async (c) => {
    const path = readPathParameter(c.req.url, "path");
    const known = readKnownStates(c);
    const input = { path, ...readQuery(c, NoteParams), knownEtags: known.etags };
    // Of the file, whatever lines were asked for.
    const { etag, note } = await openNote(services, c.get("caller"), input);
    return answerUnlessKnown(c, known, { etag, content: note });
  });
  return routes;
}
