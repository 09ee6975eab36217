/**
 * `/access/{id}`: the page on which a person decides what an agent may do. A plain form that works
 * without a script. The owner's token is typed into it (or filled in by the browser's own store of
 * passwords) each time: a cookie would go to every server on this machine, whatever its port, also to
 * one that an agent has started; and a page of another site does not know the token, so that it can
 * send no such form.
 */
import { type Context, Hono } from "hono";
import { html } from "hono/html";
import type { AccessRequest } from "@/lib/access/access.ts";
import { type Decision, DECISIONS } from "@/lib/contracts_access.ts";
import { AppError } from "@/lib/errors.ts";
import type { Services } from "@/lib/services.ts";
import { decideAccess } from "@/lib/tasks/request_access.ts";
import { readBody } from "./_read_body.ts";
import type { AppEnv } from "./app_env.ts";
import { isSameSecret } from "./guards.ts";

const FORM = "application/x-www-form-urlencoded";
const STYLE =
  "body{font:1rem/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}" +
  "pre{white-space:pre-wrap;font:inherit;border-left:.25rem solid #888;padding-left:1rem}" +
  "button{font:inherit;margin:0 .5rem .5rem 0;padding:.4rem 1rem}input{font:inherit;width:100%}";

export function accessPage(services: Services): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.get("/:id", (c) => {
    return showPage(c, services.access.request(c.req.param("id")));
  });
  routes.post("/:id", async (c) => {
    const { access, config, logger } = services;
    const request = access.request(c.req.param("id"));
    const form = await readForm(c);
    const decision = DECISIONS.find((known) => known === form.get("decision"));
    if (!isSameSecret(form.get("token")?.trim() ?? "", config.ownerToken)) {
      logger.warn("owner-token-refused");
      return showPage(c, request, { status: 403, notice: "wrong-token" });
    }
    if (decision === undefined) return showPage(c, request, { status: 400, notice: "no-decision" });
    const owner = { ...c.get("caller"), kind: "owner" } as const;
    decideAccess(services, owner, { id: request.id, decision });
    return showPage(c, access.request(request.id), { status: 200, notice: "done" });
  });
  return routes;
}

async function readForm(c: Context<AppEnv>): Promise<URLSearchParams> {
  const type = c.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== FORM) {
    throw new AppError("unsupported-media-type", `The form has to be sent as ${FORM}`);
  }
  return new URLSearchParams(new TextDecoder().decode(await readBody(c.req.raw)));
}

type Notice = "wrong-token" | "no-decision" | "done";

const NOTICES: Readonly<Record<Notice, string>> = {
  "wrong-token": "令牌不对，什么都没有改变。 / That is not the owner's token: nothing was changed.",
  "no-decision": "请选择一个按钮。 / Choose one of the buttons.",
  done: "已记下。 / Done.",
};

const STATES: Readonly<Record<AccessRequest["state"], string>> = {
  pending: "等待你的决定 / Waits for you",
  granted: "已允许 / Allowed",
  refused: "已拒绝 / Refused",
  reopened: "可以再次询问 / May be asked again",
};

const BUTTONS: Readonly<Record<Decision, string>> = {
  allow: "允许 / Allow",
  refuse: "拒绝 / Refuse",
  reopen: "允许再次询问 / Let it ask again",
};

/** What can still be decided. */
const CHOICES: Readonly<Record<AccessRequest["state"], readonly Decision[]>> = {
  pending: ["allow", "refuse"],
  granted: ["refuse"],
  refused: ["allow", "reopen"],
  reopened: ["allow", "refuse"],
};

interface PageOptions {
  readonly status?: 200 | 400 | 403;
  readonly notice?: Notice;
}

function showPage(
  c: Context<AppEnv>,
  { text, state }: AccessRequest,
  { status = 200, notice }: PageOptions = {},
): Response | Promise<Response> {
  // The browser has to name this page as the origin of its form.
  c.header("Referrer-Policy", "same-origin");
  c.header(
    "Content-Security-Policy",
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; " +
      "base-uri 'none'",
  );
  const buttons = CHOICES[state].map((decision) =>
    html`<button name="decision" value="${decision}">${BUTTONS[decision]}</button>`
  );
  return c.html(
    html`
      <!doctype html>
      <html lang="zh">
        <head>
          <meta charset="utf-8">
          <meta name="viewport" content="width=device-width">
          <title>Commonplace</title>
          <style>${STYLE}</style>
        </head>
        <body>
      <h1>Commonplace</h1>
      <p><strong>${STATES[state]}</strong></p>
      <pre>${text}</pre>
      ${notice === undefined ? "" : html`<p role="status">${NOTICES[notice]}</p>`}
      <form method="post" autocomplete="on">
      <input type="hidden" name="user" autocomplete="username" value="owner">
      <p><label>你的令牌（不要给任何智能体）/ Your own token (never give it to an agent)<br>
      <input type="password" name="token" required autocomplete="current-password"></label></p>
      <p>${buttons}</p>
      </form>
        </body>
      </html>
    `,
    status,
  );
}
