import { doesNotMatch, match, ok, strictEqual as equal } from "node:assert/strict";
import { after, before, describe, it } from "@std/testing/bdd";
import { type AskWorld, json, OWNER_TOKEN, serveAsking } from "@/tests/_support/ask_world.ts";

describe("the page of a request", () => {
  let world: AskWorld;
  let agents = 0;
  before(async () => {
    world = await serveAsking({ "a.md": "zebra" });
  });
  after(() => world[Symbol.asyncDispose]());

  /** Asks as an agent of its own, whom nobody has refused anything. */
  const ask = async (body: object = {}) => {
    const init = json("POST", body, { "user-agent": `agent${++agents}` });
    const answer = await (await world.request("/api/access/requests", init)).json();
    return { task: answer.task, path: new URL(answer.pending.url).pathname };
  };
  const submit = (path: string, fields: Record<string, string>, headers = {}) =>
    world.request(path, { method: "POST", body: new URLSearchParams(fields), headers });
  const search = async (task: string) =>
    (await world.request(`/api/search?q=zebra&task=${task}`)).status;

  it("shows the question, and works without a script, a cookie or anything from elsewhere", async () => {
    const { path } = await ask({ why: "<script>alert(1)</script>\n</pre>" });

    const response = await world.request(path);
    const page = await response.text();

    equal(response.status, 200);
    match(response.headers.get("content-type") ?? "", /^text\/html/);
    match(page, /asks to read your memory vault[^]*12 hours[^]*Budget[^]*Scope/);
    doesNotMatch(page, /<script|<\/pre>\s*\n<\/pre>|zebra/);
    match(page, /<html lang="en">[^]*<form method="post"/);
    // What the Enter key does in a field.
    match(page, /<button name="decision" value="refuse">/);
    match(page, /<input type="password" name="token" required/);
    equal(response.headers.get("set-cookie"), null);
    const policy = response.headers.get("content-security-policy") ?? "";
    match(policy, /default-src 'none'/);
    match(policy, /frame-ancestors 'none'/);
    match(policy, /form-action 'self'/);
    // Else a browser would send the form with "Origin: null", which is refused.
    equal(response.headers.get("referrer-policy"), "same-origin");
    equal(response.headers.get("cache-control"), "no-store");
  });

  it("takes the person's decision with their token, and shows what became of it", async () => {
    const { path, task } = await ask();

    equal(await search(task), 403);
    const allowed = await submit(path, { token: OWNER_TOKEN, decision: "allow" });
    match(await allowed.text(), /已允许 \/ Allowed/);
    equal(await search(task), 200);
    const taken = await submit(path, { token: ` ${OWNER_TOKEN} `, decision: "refuse" });
    match(await taken.text(), /已拒绝 \/ Refused[^]*value="reopen"/);
    equal(await search(task), 403);
    const reopened = await submit(path, { token: OWNER_TOKEN, decision: "reopen" });
    match(await reopened.text(), /May be asked again/);
  });

  it("changes nothing without the token, or with another", async () => {
    const { path, task } = await ask();

    for (const token of ["", "wrong", `${OWNER_TOKEN}x`, OWNER_TOKEN.slice(1)]) {
      const response = await submit(path, { token, decision: "allow" });
      equal(response.status, 403);
      match(await response.text(), /nothing was changed/);
    }
    const none = await submit(path, { decision: "allow" });
    equal(none.status, 403, await none.text());
    const odd = await submit(path, { token: OWNER_TOKEN, decision: "destroy" });
    equal(odd.status, 400, await odd.text());
    equal(await search(task), 403);
  });

  it("takes no form of another site, and nothing but a form", async () => {
    const { path, task } = await ask();
    const fields = { token: OWNER_TOKEN, decision: "allow" };

    const foreign = await submit(path, fields, { origin: "https://evil.example" });
    equal(foreign.status, 403, await foreign.text());
    const hidden = await submit(path, fields, { "sec-fetch-site": "cross-site" });
    equal(hidden.status, 403, await hidden.text());
    const asJson = await world.request(path, json("POST", fields));
    equal(asJson.status, 415, await asJson.text());
    equal(await search(task), 403);
    const own = await submit(path, fields, { origin: world.server.url });
    equal(own.status, 200, await own.text());
    equal(await search(task), 200);
  });

  it("is there without the token of agents, which cannot decide", async () => {
    const token = "the-token-of-all-agents";
    await using guarded = await serveAsking({}, { config: { token } });
    const headers = { authorization: `Bearer ${token}` };
    const asked = await guarded.request("/api/access/requests", json("POST", {}, headers));
    const { pending } = await asked.json();

    const page = await guarded.request(new URL(pending.url).pathname);
    equal(page.status, 200, await page.text());
    const path = `/api/access/requests/${pending.requestId}/decision`;
    for (const authorization of [undefined, `Bearer ${token}`, "Bearer nonsense-of-somebody"]) {
      const init = json("POST", { decision: "allow" }, authorization ? { authorization } : {});
      const response = await guarded.request(path, init);
      ok([401, 403].includes(response.status), await response.text());
    }
    const post = await guarded.request(new URL(pending.url).pathname, {
      method: "POST",
      body: new URLSearchParams({ token, decision: "allow" }),
    });
    equal(post.status, 403, await post.text());
  });

  it("says so if its request is gone", async () => {
    const { path, task } = await ask();
    await (await world.request(`/api/access/tasks/${task}`, { method: "DELETE" })).text();

    const response = await world.request(path);
    equal(response.status, 404);
    match(await response.text(), /There is no such question any more/);
    equal((await submit(path, { token: OWNER_TOKEN, decision: "allow" })).status, 404);
  });
});
