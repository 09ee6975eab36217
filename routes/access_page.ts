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
    const request = findRequest(services, c.req.param("id"));
    return request ? showPage(c, request) : showPage(c, GONE, { status: 404 });
  });
  routes.post("/:id", async (c) => {
    const { config, logger } = services;
    const request = findRequest(services, c.req.param("id"));
    if (request === undefined) return showPage(c, GONE, { status: 404 });
    const form = await readForm(c);
    const decision = DECISIONS.find((known) => known === form.get("decision"));
    if (!isSameSecret(form.get("token")?.trim() ?? "", config.ownerToken)) {
      logger.warn("owner-token-refused");
      return showPage(c, request, { status: 403, notice: "wrong-token" });
    }
    if (decision === undefined) return showPage(c, request, { status: 400, notice: "no-decision" });
    const owner = { ...c.get("caller"), kind: "owner" } as const;
    decideAccess(services, owner, { id: request.id, decision });
    // Else to load the page anew would decide anew.
    return c.redirect(encodeURIComponent(request.id), 303);
  });
  return routes;
}

function findRequest({ access }: Services, id: string): AccessRequest | undefined {
  try {
    return access.request(id);
  } catch (error) {
    if (error instanceof AppError && error.code === "not-found") return undefined;
    throw error;
  }
}

/** What a page shows whose question is gone. */
const GONE: PageContent = {
  text: "这个问题已不存在：它的任务已经结束，或者服务器重新启动过，或者被更新的问题取代。\n" +
    "There is no such question any more: its task has ended, the server was started " +
    "anew, or newer questions took its place.",
  state: "ended",
  isOver: true,
};

async function readForm(c: Context<AppEnv>): Promise<URLSearchParams> {
  const type = c.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== FORM) {
    throw new AppError("unsupported-media-type", `The form has to be sent as ${FORM}`);
  }
  return new URLSearchParams(new TextDecoder().decode(await readBody(c.req.raw)));
}

type Notice = "wrong-token" | "no-decision";

const NOTICES: Readonly<Record<Notice, string>> = {
  "wrong-token": "令牌不对，什么都没有改变。 / That is not the owner's token: nothing was changed.",
  "no-decision": "请选择一个按钮。 / Choose one of the buttons.",
};

type PageState = AccessRequest["state"] | "ended";

interface PageContent {
  readonly text: string;
  readonly state: PageState;
  /** Whether the task has ended. */
  readonly isOver: boolean;
}

const STATES: Readonly<Record<PageState, string>> = {
  pending: "等待你的决定 / Waits for you",
  granted: "已允许 / Allowed",
  refused: "已拒绝 / Refused",
  reopened: "可以再次询问 / May be asked again",
  ended: "已结束 / Over",
};

const BUTTONS: Readonly<Record<Decision, string>> = {
  allow: "允许 / Allow",
  refuse: "拒绝 / Refuse",
  reopen: "允许再次询问 / Let it ask again",
};

/** What can still be decided; the first is what the Enter key does. */
const CHOICES: Readonly<Record<PageState, readonly Decision[]>> = {
  pending: ["refuse", "allow"],
  granted: ["refuse"],
  refused: ["reopen", "allow"],
  reopened: ["refuse", "allow"],
  ended: [],
};

interface PageOptions {
  readonly status?: 200 | 400 | 403 | 404;
  readonly notice?: Notice;
}

function showPage(
  c: Context<AppEnv>,
  { text, state, isOver }: PageContent,
  { status = 200, notice }: PageOptions = {},
): Response | Promise<Response> {
  // The browser has to name this page as the origin of its form.
  c.header("Referrer-Policy", "same-origin");
  c.header(
    "Content-Security-Policy",
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; " +
      "base-uri 'none'",
  );
  return c.html(
    html`
      <!doctype html>
      <html lang="${/\p{Script=Han}/u.test(text) ? "zh" : "en"}">
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
      ${formFor(CHOICES[state].filter((choice) => !isOver || choice === "reopen"))}
        </body>
      </html>
    `,
    status,
  );
}

function formFor(choices: readonly Decision[]): ReturnType<typeof html> | string {
  if (choices.length === 0) return "";
  const buttons = choices.map((decision) =>
    html`<button name="decision" value="${decision}">${BUTTONS[decision]}</button>`
  );
  return html`
    <form method="post">
      <input type="hidden" name="user" autocomplete="username" value="owner">
      <p><label>你的令牌（不要给任何智能体）/ Your own token (never give it to an agent)<br>
    <input type="password" name="token" required autocomplete="current-password"></label></p>
      <p>${buttons}</p>
    </form>
  `;
}
