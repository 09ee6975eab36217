import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import {
  applyInsteadOf,
  localRepoId,
  projectNameOf,
  repoIdOf,
} from "@/lib/projects/repo_identity.ts";

const SITE = "github.com/acme/site";

/** Spellings by what they all mean. */
const REMOTES: Readonly<Record<string, readonly string[]>> = {
  [SITE]: [
    "https://github.com/acme/site",
    "https://github.com/acme/site.git",
    "https://github.com/acme/site.git/",
    "https://github.com/acme/site.git///",
    "https://github.com/acme/site/",
    "https://github.com//acme//site",
    "https://github.com/./acme/./site/.",
    "https://github.com/acme/site/.git",
    "https://github.com/acme/site.git/.git/",
    "https://github.com/acme/site%2Egit",
    "https://github.com/acme/site .git/ ?a",
    "https://github.com/%61cme/site",
    "https://github.com/acme/site?token=secret",
    "https://github.com/acme/site.git?a=1&b=/c#d",
    "https://github.com/acme/site#readme",
    "https://GitHub.COM/acme/site",
    "HTTPS://github.com/acme/site",
    "https://github.com./acme/site",
    "https://git%68ub.com/acme/site",
    "https://github.com:443/acme/site",
    "https://github.com:0443/acme/site",
    "https://github.com:/acme/site",
    "http://github.com/acme/site",
    "http://github.com:80/acme/site",
    "git+https://github.com/acme/site.git",
    "git+http://github.com/acme/site.git",
    "https://ada@github.com/acme/site",
    "https://ada:secret@github.com/acme/site",
    "https://x-access-token:ghp_0123@github.com/acme/site",
    "https://:secret@github.com/acme/site",
    "https://@github.com/acme/site",
    "https://ada:se@cr:et@github.com/acme/site",
    "https://ada%40example.org:%2Fsecret@github.com/acme/site",
    "ssh://git@github.com/acme/site.git",
    "ssh://git@github.com:22/acme/site.git",
    "ssh://git:secret@github.com/acme/site.git",
    "ssh://github.com/acme/site",
    "git+ssh://git@github.com/acme/site.git",
    "ssh+git://git@github.com/acme/site.git",
    "git://github.com/acme/site.git",
    "git://github.com:9418/acme/site.git",
    "ftp://github.com:21/acme/site.git",
    "ftps://github.com:990/acme/site.git",
    "git@github.com:acme/site.git",
    "git@github.com:acme/site.git/",
    "git@github.com:/acme/site",
    "git@GITHUB.com:acme/site",
    "github.com:acme/site",
    "ada:secret@github.com:acme/site",
    "ada:se@cret@github.com:acme/site.git",
    "git@github.com:acme/site?token=secret",
    "[github.com]:acme/site",
    "[github.com:22]:acme/site",
    "[git@github.com:22]:acme/site.git",
    "[ada:secret@github.com:22]:acme/site.git",
    "  https://github.com/acme/site\n",
  ],
  "git.example.org:8443/site": [
    "https://git.example.org:8443/site.git",
    "https://ada:secret@git.example.org:8443/site",
    "http://git.example.org:08443/site",
  ],
  "git.example.org:2222/team/site": [
    "ssh://git@git.example.org:2222/team/site.git",
    "[git@git.example.org:2222]:team/site.git",
    "[git.example.org:2222]:/team/site",
  ],
  "git.example.org:80/site": ["https://git.example.org:80/site"],
  "git.example.org:443/site": ["http://git.example.org:443/site", "ssh://git.example.org:443/site"],
  "[::1]/site": [
    "https://[::1]/site",
    "https://[0:0::0001]:443/site",
    "ssh://git@[::1]/site",
    "[::1]:site",
    "git@[::1]:site.git",
    "[git@::1]:site.git",
  ],
  "[2001:db8::a]:8080/site": ["http://ada@[2001:DB8::A]:8080/site.git"],
  "127.0.0.1:3000/acme/site": ["http://127.0.0.1:3000/acme/site.git"],
  "localhost/site": ["ssh://localhost/site"],
  "xn--bcher-kva.example/site": [
    "https://bücher.example/site",
    "https://BÜCHER.example/site.git",
    "https://b%C3%BCcher.example/site",
    "git@bücher.example:site",
    "https://xn--bcher-kva.example/site",
  ],
  "gitlab.com/group/sub/deep/site": [
    "https://oauth2:token@gitlab.com/group/sub/deep/site.git",
    "git@gitlab.com:group/sub/deep/site.git",
  ],
  "github.com/Acme/Site": ["https://github.com/Acme/Site.git", "git@github.com:Acme/Site"],
  "git.example.org/~ada/site": [
    "ssh://git.example.org/~ada/site.git",
    "git.example.org:~ada/site",
    "https://git.example.org/%7Eada/site",
  ],
  "dev.azure.com/org/project/_git/site": [
    "https://ada@dev.azure.com/org/project/_git/site",
    "https://dev.azure.com/org/project/_git/site",
  ],
  "dev.azure.com/org/my project/_git/my site": [
    "https://ada@dev.azure.com/org/my%20project/_git/my%20site",
    "https://dev.azure.com/org/my project/_git/my site",
  ],
  "ssh.dev.azure.com/v3/org/project/site": ["git@ssh.dev.azure.com:v3/org/project/site"],
  "git.example.org/团队/笔记": [
    "https://git.example.org/%E5%9B%A2%E9%98%9F/%e7%ac%94%e8%ae%b0.git",
    "git@git.example.org:团队/笔记.git",
  ],
  "git.example.org/a%2Fb%3Fc%23d%25e%0Af%5Cg": [
    "https://git.example.org/a%2fb%3Fc%23d%25e%0af%5cg",
  ],
  "git.example.org/a%E2%80%A8b": ["https://git.example.org/a%e2%80%a8b?c"],
  "git.example.org/caf%e9/%41": ["https://git.example.org/caf%e9/%41"],
  "git.example.org/100%": ["https://git.example.org/100%"],
  "git.example.org/%2%41": ["https://git.example.org/%2%41"],
  "git.example.org/site.git2": ["https://git.example.org/site.git2"],
  "intranet/site": ["ada@intranet:site", "intranet:site", "https://intranet/site"],
  "c/site": ["ada@c:site"],
};

/** Of no use as an identity. */
const NO_REMOTES: readonly string[] = [
  "",
  " ",
  "/srv/git/site.git",
  "./site",
  "../site.git",
  "..",
  "~/site",
  "site",
  "./odd:name",
  "/srv/odd:name",
  "file:///srv/git/site.git",
  "file:/srv/git/site.git",
  "FILE://localhost/srv/site",
  "C:\\work\\site",
  "C:/home/site",
  "c:site",
  "\\\\server\\share\\site",
  "git@github.com:acme\\site",
  "ext::sh -c 'echo %S'",
  "fd::17",
  "hg::https://example.org/site",
  "https::https://example.org/site",
  "rsync://example.org/site",
  "s3://bucket/site",
  "https:/github.com/acme/site",
  "https:github.com/acme/site",
  "ht tps://ada:secret@example.org/site",
  "https://",
  "https:///acme/site",
  "https://github.com",
  "https://github.com/",
  "https://github.com/.git",
  "https://github.com//.git/.git/",
  "https://github.com?acme/site",
  "https://ada:secret@/acme/site",
  "git@github.com:",
  "git@github.com:/",
  "git@:acme/site",
  ":acme/site",
  "[]:acme/site",
  "[::1:acme/site",
  "[::1]acme/site",
  "https://[::1/site",
  "https://[fe80::1%25eth0]/site",
  "https://./site",
  "https://a..b/site",
  "https://a../site",
  "https://host name/site",
  "https://example.org:port/site",
  "https://example.org:0/site",
  "https://example.org:65536/site",
  "https://github.com/acme/../other/site",
  "https://github.com/acme/%2e%2E/site",
  "git@github.com:../site",
  "https://github.com/acme/...git",
  "https://github.com/acme/..git",
  "https://github.com/acme/.. .git",
  "https://github.com/ ?a",
  "https://github.com/acme/si\0te",
  "https://github.com/acme/si\nte",
  "https://github.com/acme/si\u0085te",
  "https://github.com/acme/si\u2028te",
  "https://github.com/acme/site?a\u2029token",
  "https://github.com/acme/\ud800",
  // what may be the rest of a userinfo
  "https://ada:sec/ret@github.com/acme/site",
  "https://ada:sec?ret@github.com/acme/site",
  "https://ada:sec#ret@github.com/acme/site",
  "https://1:2/3@github.com/acme/site",
  "https://ada%3Asecret%40github.com/acme/site",
  "https://proxy.example/https://ada:secret@github.com/acme/site",
  "https://proxy.example/https%3A%2F%2Fada%3Asecret%40github.com/acme/site",
  "https://proxy.example/ada%2540github.com/site",
  "proxy:https://ada:secret@github.com/acme/site",
  "git@github.com:acme@other/site",
  "[ada/secret@github.com:22]:acme/site",
  "[ada?secret:22]:acme/site",
];

describe("repoIdOf()", () => {
  for (const [repoId, spellings] of Object.entries(REMOTES)) {
    it(`repoIdOf() gives ${repoId} for each of its spellings`, () => {
      const found = spellings.map((remote) => [remote, repoIdOf(remote)]);

      deepEqual(found, spellings.map((remote) => [remote, repoId]));
    });
  }

  it("repoIdOf() gives none for what is no remote on a network", () => {
    const found = NO_REMOTES.map((remote) => [remote, repoIdOf(remote)]);

    deepEqual(found, NO_REMOTES.map((remote) => [remote, undefined]));
  });

  it("repoIdOf() takes 2 000 characters and no more", () => {
    const start = "https://github.com/";

    equal(repoIdOf(start + "a".repeat(2_000 - start.length))?.length, 2_000 - "https://".length);
    equal(repoIdOf(start + "a".repeat(2_001 - start.length)), undefined);
  });

  it("repoIdOf() gives nothing else for whatever userinfo, so none can be in it", () => {
    const forms: readonly ((userinfo: string) => string)[] = [
      ...["https", "http", "ssh", "git", "ftp", "ftps", "git+ssh", "ssh+git", "git+https"].map(
        (scheme) => (userinfo: string) => `${scheme}://${userinfo}git.example.org:77/acme/site.git`,
      ),
      (userinfo) => `https://${userinfo}[::1]/acme/site`,
      (userinfo) => `https://${userinfo}git.example.org/acme/site?a#b`,
      (userinfo) => `${userinfo}git.example.org:acme/site`,
      (userinfo) => `${userinfo}[::1]:acme/site`,
      (userinfo) => `[${userinfo}git.example.org:2222]:acme/site`,
    ];
    const odd = fc.constantFrom(..."@:/?#[]\\%. \n~-", "://", "::", "%40", "%2F", "@:", "[", "]:");
    const userinfos = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(fc.oneof(odd, fc.string({ unit: "grapheme", maxLength: 3 }))).map((parts) =>
        parts.join("")
      ),
      fc.webAuthority({ withUserInfo: true, withPort: true, withIPv6: true }),
    );

    fc.assert(
      fc.property(userinfos, fc.constantFrom(...forms), (userinfo, form) => {
        const without = repoIdOf(form(""));
        const found = repoIdOf(form(`${userinfo}@`));

        ok(without !== undefined);
        ok(found === undefined || found === without, `${form(`${userinfo}@`)} gave ${found}`);
      }),
      { numRuns: 10_000 },
    );
  });

  it("repoIdOf() gives of any text a host, a slash and a clean path, or nothing", () => {
    const piece = fc.constantFrom(
      "https://",
      "ssh://",
      "a",
      "B.c",
      ":",
      "/",
      "@",
      "[::1]",
      "%41",
      "\u2028",
    );
    const texts = fc.oneof(
      fc.string({ unit: "binary", maxLength: 60 }),
      fc.array(fc.oneof(piece, fc.string({ maxLength: 2 })), { maxLength: 12 })
        .map((parts) => parts.join("")),
    );

    fc.assert(
      fc.property(texts, (text) => {
        const repoId = repoIdOf(text);
        if (repoId === undefined) return;

        match(repoId, /^(\[[0-9a-f:]+\]|[^\p{Lu}/@?#[\]:]+)(:[1-9]\d*)?(\/[^/@?#\p{Cc}]+)+$/u);
        ok(!repoId.endsWith(".git"));
        ok(!/\/\.\.?(\/|$)/.test(repoId));
        equal(repoIdOf(`https://${repoId}`), repoId);
      }),
      { numRuns: 10_000 },
    );
  });
});

describe("applyInsteadOf()", () => {
  const rules = [
    { base: "https://github.com/", insteadOf: "gh:" },
    { base: "https://github.com/acme/", insteadOf: "gh:a/" },
    { base: "gh:", insteadOf: "hub:" },
    { base: "https://other.example/", insteadOf: "gh:a/" },
  ];
  const cases: readonly (readonly [url: string, rewritten: string])[] = [
    ["gh:ada/site", "https://github.com/ada/site"],
    ["gh:a/site", "https://github.com/acme/site"],
    ["hub:a/site", "gh:a/site"],
    ["GH:a/site", "GH:a/site"],
    ["https://gh:a/site", "https://gh:a/site"],
    ["gh:", "https://github.com/"],
  ];

  for (const [url, rewritten] of cases) {
    it(`applyInsteadOf() makes ${rewritten} of ${url}`, () => {
      equal(applyInsteadOf(url, rules), rewritten);
    });
  }

  it("applyInsteadOf() leaves a URL as it is without a rule, and an empty rule fits all", () => {
    equal(applyInsteadOf("gh:a", []), "gh:a");
    equal(applyInsteadOf("gh:a", [{ base: "x/", insteadOf: "" }]), "x/gh:a");
  });
});

describe("localRepoId()", () => {
  const cases: readonly (readonly [path: string, name: string])[] = [
    ["/home/ada/site", "site"],
    ["/home/ada/site.git", "site"],
    ["/home/ada/My Site (old)", "My-Site--old-"],
    ["/home/ada/a:b@c", "a-b-c"],
    ["/home/ada/v1.0_final-2", "v1.0_final-2"],
    ["/home/ada/笔记 库", "笔记-库"],
    ["/home/ada/हिन्दी", "हिन्दी"],
    ["/home/ada/cafe\u0301", "caf\u00e9"],
    ["/home/ada/a\nb", "a-b"],
    ["/home/ada/🚀", "repo"],
    ["/home/ada/...", "repo"],
    ["/home/ada/.git", "repo"],
    ["/", "repo"],
    [`/home/ada/${"x".repeat(70)}`, "x".repeat(60)],
    [`/home/ada/${"𠮷".repeat(70)}`, "𠮷".repeat(60)],
  ];

  for (const [path, name] of cases) {
    it(`localRepoId() names ${JSON.stringify(path)} ${name}`, () => {
      const repoId = localRepoId(path);

      match(repoId, /^local:[^:/]+:[0-9a-f]{12}$/);
      equal(repoId.split(":")[1], name);
      equal(projectNameOf(repoId), name);
    });
  }

  it("localRepoId() hashes the path as it is", () => {
    // printf %s /home/ada/site | sha256sum
    equal(localRepoId("/home/ada/site"), "local:site:154cd3bbf804");
    ok(localRepoId("/home/ada/cafe\u0301") !== localRepoId("/home/ada/caf\u00e9"));
  });
});

describe("projectNameOf()", () => {
  it("projectNameOf() takes the last part of a path, even if the host is named local", () => {
    equal(projectNameOf(SITE), "site");
    equal(projectNameOf("gitlab.com/group/sub/my site"), "my site");
    equal(projectNameOf("local:8080/acme/site"), "site");
  });
});
