import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { join } from "node:path";
import { findSecrets, findSecretsInSteps } from "@/lib/secrets.ts";
import { runAtOnce } from "@/lib/seams.ts";

// Tokens are put together here, so that nothing that looks for secrets finds one in this file.
const letters = "q7Zw3Xr9Tb5Kd1Ns8Vh2Lg6Mc4Pf0JyEuAi";
const mixed = (length: number) => letters.repeat(12).slice(0, length);
const hex = (length: number) => "9f3b07ad5c1e8642".repeat(8).slice(0, length);
const capitals = (length: number) => mixed(length).toUpperCase();
const base64url = (value: unknown) =>
  new TextEncoder().encode(JSON.stringify(value)).toBase64({
    alphabet: "base64url",
    omitPadding: true,
  });
const jwt = (header: unknown) =>
  [base64url(header), base64url({ sub: "ann", exp: 1_780_000_000 }), mixed(43)].join(".");
const frame = (label: string, body: string) =>
  [`-----BEGIN ${label}-----`, body, `-----END ${label}-----`].join("\n");
const password = "Kx9" + "#mP2v" + "Lq7";

/** Listed as: what it is, the text before the secret, the secret, what may be shown. */
const TOKENS: readonly (readonly [kind: string, secret: string, shown: string])[] = [
  ["AWS access key id", "AK" + "IA" + capitals(16), "AKIA…"],
  ["AWS access key id", "AS" + "IA" + capitals(16), "ASIA…"],
  ["Alibaba Cloud access key id", "LT" + "AI" + mixed(20), "LTAI…"],
  ["Tencent Cloud secret id", "AK" + "ID" + mixed(32), "AKID…"],
  ...["p", "o", "u", "s", "r"].map((letter) =>
    ["GitHub token", `gh${letter}_` + mixed(36), `gh${letter}_…`] as const
  ),
  ["GitHub token", "github_" + "pat_" + mixed(22) + "_" + mixed(59), "github_pat_…"],
  ["GitLab token", "glp" + "at-" + mixed(20), "glpat-…"],
  ["GitLab token", "glp" + "at-" + mixed(27) + ".01." + mixed(9), "glpat-…"],
  ...["a", "b", "p", "r", "s"].map((letter) =>
    ["Slack token", `xox${letter}-` + "2847193056-" + mixed(24), `xox${letter}-…`] as const
  ),
  [
    "Slack webhook",
    "hooks.slack.com/" + "services/" + ["T" + capitals(8), "B" + capitals(9), mixed(24)].join("/"),
    "hooks.slack.com/services/…",
  ],
  ["OpenAI key", "sk" + "-" + mixed(48), "sk-…"],
  ["OpenAI key", "sk" + "-" + hex(32), "sk-…"],
  ["OpenAI key", "sk" + "-proj-" + mixed(70) + "_" + mixed(40) + "-" + mixed(20), "sk-proj-…"],
  ["OpenRouter key", "sk" + "-or-v1-" + hex(64), "sk-or-v1-…"],
  ["Anthropic key", "sk" + "-ant-" + "api03-" + mixed(60) + "-" + mixed(30), "sk-ant-…"],
  ["Google API key", "AI" + "za" + mixed(30) + "-_" + mixed(3), "AIza…"],
  ["Google token", "ya" + "29." + "a0" + mixed(80), "ya29.…"],
  ["Google client secret", "GOC" + "SPX-" + mixed(28), "GOCSPX-…"],
  ["Stripe key", "sk_" + "live_" + mixed(24), "sk_live_…"],
  ["Stripe key", "rk_" + "live_" + mixed(99), "rk_live_…"],
  ["Twilio key", "S" + "K" + hex(32), "SK…"],
  ["SendGrid key", "S" + "G." + mixed(22) + "." + mixed(43), "SG.…"],
  ["npm token", "np" + "m_" + mixed(36), "npm_…"],
  ["PyPI token", "py" + "pi-" + "AgEI" + mixed(150), "pypi-…"],
  ["Hugging Face token", "h" + "f_" + mixed(34), "hf_…"],
  ["DigitalOcean token", "dop" + "_v1_" + hex(64), "dop_v1_…"],
  ["Groq key", "gs" + "k_" + mixed(52), "gsk_…"],
  ["xAI key", "xa" + "i-" + mixed(80), "xai-…"],
  ["Linear key", "lin_" + "api_" + mixed(40), "lin_api_…"],
  ["Vault token", "hv" + "s." + mixed(24), "hvs.…"],
  ["age key", "AGE-SECRET" + "-KEY-1" + capitals(58), "AGE-SECRET-KEY-1…"],
  ["Azure key", "Account" + "Key=" + mixed(40) + "/" + mixed(45) + "==", "AccountKey=…"],
  ["Telegram bot token", "7194032856" + ":AA" + mixed(33), "…"],
  ["JSON Web Token", jwt({ alg: "HS256", typ: "JWT" }), "eyJ…"],
  ["private key", frame("RSA PRIVATE KEY", mixed(64)), "-----BEGIN …"],
  ["private key", frame("PRIVATE KEY", mixed(64)), "-----BEGIN …"],
  ["private key", frame("ENCRYPTED PRIVATE KEY", mixed(64)), "-----BEGIN …"],
  ["private key", frame("OPENSSH PRIVATE KEY", mixed(70)), "-----BEGIN …"],
  ["private key", frame("PGP PRIVATE KEY BLOCK", "\n" + mixed(64)), "-----BEGIN …"],
  [
    "private key",
    frame("EC PRIVATE KEY", "Proc-Type: 4,ENCRYPTED\nDEK-Info: x\n\n" + mixed(64)),
    "-----BEGIN …",
  ],
  ["private key", frame("EC PRIVATE KEY", mixed(64)).replaceAll("\n", "\\n"), "-----BEGIN …"],
  ["private key", frame("EC PRIVATE KEY", mixed(64)).replaceAll("\n", "\r\n> "), "-----BEGIN …"],
];

/** What gives the secret away stands before it. */
const PHRASES: readonly (readonly [kind: string, before: string, secret: string])[] = [
  ["password in a URL", "postgres://app:", "s3cr" + "3tPw"],
  ["password in a URL", "see https://ann:", "correct" + "horse"],
  ["password in a URL", "redis://:", mixed(16)],
  ["password in a URL", "amqp://ann:", "a:b" + "!c9"],
  ["bearer token", "Authorization: Bearer ", mixed(40)],
  ["password in a header", "Authorization: Basic ", btoa(`ada:${mixed(12)}`)],
  ["password in a header", "-H 'authorization: basic ", btoa(`deploy:${mixed(20)}`)],
  ["bearer token", "curl -H 'authorization: bearer ", hex(64)],
  ["password", "password = ", password],
  ["password", "Password: ", password],
  ["password", 'export DB_PASSWORD="', password],
  ["password", '{"password": "', password],
  ["password", '{\\"passwd\\":\\"', password],
  ["password", "- **Password:** `", password],
  ["password", "| password | ", password],
  ["password", "密码：", password],
  ["password", "密码是", password],
  ["password", "数据库密码（测试环境）: ", password],
  ["password", "口令 = ", password],
  ["password", "The password for the router is ", password],
  ["password", "mysql --password=", password],
  ["secret value", "api_key: ", mixed(24)],
  ["secret value", "apiKey=", hex(32)],
  ["secret value", "x-api-key: ", hex(32)],
  ["secret value", "https://example.com/?q=1&token=", mixed(24)],
  ["secret value", "token => '", mixed(24)],
  ["secret value", "CLIENT_SECRET := ", mixed(24)],
  ["secret value", "aws_secret_access_key = ", mixed(20) + "/" + mixed(19)],
  ["secret value", "AWS secret access key: ", mixed(20) + "+" + mixed(19)],
  ["secret value", "TWILIO_AUTH_TOKEN=", hex(32)],
  ["password", "password_token=", "81630787" + "61778418" + "310a3086" + "59b9ae2c"],
  ["secret value", "密钥：", mixed(24)],
  ["secret value", "访问令牌: ", mixed(24)],
];

const HARMLESS: readonly string[] = [
  // in place of a secret
  "api_key: YOUR_API_KEY",
  "api_key: your-api-key-1234",
  "OPENAI_API_KEY=sk-...",
  "OPENAI_API_KEY=sk-" + "x".repeat(48),
  "GITHUB_TOKEN=ghp_" + "x".repeat(36),
  "GITHUB_TOKEN=ghp_" + "0".repeat(36),
  "GITHUB_TOKEN=ghp_" + "abcdefghijklmnopqrstuvwxyz1234567890",
  "glpat-your-token-goes-here-2024",
  "xoxb-your-slack-token-goes-here",
  "https://hooks.slack.com/" + "services/T00000000/B00000000/" + "X".repeat(24),
  "aws_access_key_id = AKIA" + "IOSFODNN7EXAMPLE",
  "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY",
  "token: <token>",
  "token: <your-token-1a2B3c>",
  "password: xxxx",
  "password: ********",
  "password: changeme",
  "password: changeme123",
  "password: my-secret-password-1",
  "密码：你的密码",
  "密码：123456",
  "Authorization: Bearer <token>",
  `Authorization: Basic ${btoa("user:password")}`,
  `Authorization: Basic ${btoa("ada:$PASSWORD")}`,
  "Authorization: Basic dXNlcjpwYXNz",
  "Authorization: Basic <credentials>",
  "Authorization: Bearer $TOKEN",
  "Authorization: Bearer YOUR_ACCESS_TOKEN_GOES_HERE",
  "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
  "Files that begin with -----BEGIN RSA PRIVATE KEY----- are never committed.",
  "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n" + mixed(64),
  frame("PRIVATE KEY", "x".repeat(64)),
  frame("PUBLIC KEY", mixed(64)),
  frame("CERTIFICATE", mixed(64)),
  "postgres://user:password@localhost/db",
  "postgres://postgres:postgres@localhost/db",
  "docker://ann:ann-password@host",
  "postgres://user:${PASSWORD}@localhost/db",
  "postgres://$USER:$PASSWORD@localhost/db",
  "postgres://{user}:{password}@{host}/db",
  "postgres://<user>:<password>@host/db",
  "https://user:***@example.com",
  "https://user:xxxx@example.com",
  // where the secret is
  "token=$TOKEN",
  "token=$GITHUB_TOKEN_2a3B4c",
  "token: ${API_KEY_1a2B3c4D}",
  "token: ${{ secrets.NPM_TOKEN_1a2B3c }}",
  "token: {{ vault_token_1a2B3c4D }}",
  "password: %DB_PASSWORD_1a2B3c%",
  "password = env:DB_PASSWORD_1a2B3c",
  "api_key = process.env.API_KEY_1a2B3c4D",
  'token = os.environ["A1b2C3d4E5"]',
  'token = Deno.env.get("A1b2C3d4E5")',
  "credential: keychain:commonplace/a1B2c3D4",
  "password: op://Private/a1B2c3D4/login",
  "password = decrypt(a1B2c3D4e5F6)",
  // other things that look random
  "token refresh was broken in commit " + hex(40),
  "fixed the token refresh: " + hex(40),
  "secret: removed in " + hex(10),
  "token: " + hex(10),
  "token: 3fabc07d5e",
  "password reset, see " + hex(40),
  hex(40),
  hex(64),
  "password_hash: " + mixed(40),
  "tokenHash = " + hex(64),
  "secret: sha256:" + hex(64),
  "password: $2b$" + "12$" + mixed(53),
  "token id: " + mixed(20),
  "token: 550e8400-e29b-41d4-a716-446655440000",
  "secret: 9f3b07ad-5c1e-4864-a29f-3b07ad5c1e86",
  "550e8400-e29b-41d4-a716-446655440000",
  "token: 01ARYZ6S41TSV4RRFFQ69G5FAV",
  "secret: mem_01hx3k9m2n4p5q6r7s8t9v0w1x_key_rotation",
  "mem_01kr0zkba78d11w3rb4vqq9arp_pdf_fonts",
  '"integrity": "sha512-' + mixed(86) + '=="',
  '"token": "sha512-' + mixed(86) + '=="',
  "![dot](data:image/png;base64,iVBORw0KGgo" + mixed(200) + "==)",
  "token: data:image/png;base64,iVBORw0KGgo" + mixed(60),
  "docker://alpine:3.19-" + "a1b2c3@sha256:" + hex(64),
  "https://example.com:8080/a@b",
  "https://example.com/a:b@c",
  "ssh://git@example.com:2222/a/b.git",
  "git@github.com:ann/notes.git",
  "user@host:path/to/a1B2c3D4",
  "scp notes.md ann@host:/srv/a1B2c3D4e5F6",
  "password: ann.2b3C4d5E@mail.org",
  "token: https://notes.internal/a1B2c3D4e5F6g7H8",
  "token: a1a1a1a1a1a1a1b2c3",
  "token expiry: 1h30m45s",
  "token: 2026-05-14T10:30:00.000Z",
  "token: gpt-4o-mini-2024-07-18",
  "token signature: ECDHE-RSA-AES128-GCM-SHA256",
  "token = getUserTokenFromHeader2",
  "max_tokens: 4096000000000000",
  "token: %E5%AF%86%E7%A0%81%E5%AF%86",
  "a desk-top-with-four-drawers-and-2-lamps",
  "sk-learn-pipelines-for-2024-in-practice",
  "npm_config_registry_and_other_settings_2024",
  "hf_transfer_is_a_faster_downloader_2024",
  "ASIAPACIFICREGIONALS",
  "xghp_" + mixed(36),
  "eyJ" + mixed(20) + "." + mixed(20) + "." + mixed(43),
  "eyJhbGciOiJIUzI1NiJ9 and no more",
  // prose
  "The password is stored in 1Password, under “router”.",
  "A password is a word that 3 people know: Ann, Bob and 2 cats.",
  "The token is valid for 90 days; the secret: rotate early.",
  "Whoever holds the bearer instrument owns it, whatever the paper says.",
  "token：访问接口时使用的令牌，每 2 小时更新一次。",
  "密码是纸信寄来的，密钥放在钥匙串里，口令：见保险柜。",
  "密钥轮换：先接受新旧两把，再只用新的签名。",
];

describe("findSecrets()", () => {
  for (const [kind, secret, shown] of TOKENS) {
    it(`findSecrets() finds a ${kind}, shown as ${shown}, of ${secret.length} characters`, () => {
      for (const [before, after] of [["", ""], ["键=", "。"], ['"', '",'], ["(", ")"]]) {
        const text = `# Title\r\n\n${before}${secret}${after}\n`;

        const expected = { kind, line: 3, column: (before ?? "").length + 1, shown };
        deepEqual(findSecrets(text), [expected], text);
      }
    });
  }

  for (const [kind, before, secret] of PHRASES) {
    it(`findSecrets() finds a ${kind} after ${before}`, () => {
      const after = kind === "password in a URL" ? "@db.example.com/x" : '"';

      deepEqual(findSecrets(`\n${before}${secret}${after}`), [
        { kind, line: 2, column: before.length + 1, shown: "…" },
      ]);
    });
  }

  for (const text of HARMLESS) {
    it(`findSecrets() finds nothing in ${JSON.stringify(text.slice(0, 60))}`, () => {
      deepEqual(findSecrets(text), []);
      deepEqual(findSecrets(`\n${text}\n`), []);
    });
  }

  it("findSecrets() tells each place once, by its surest name", () => {
    const token = "gh" + "p_" + mixed(36);
    const text = `token: ${token}\nhttps://x:${token}@github.com\nAuthorization: Bearer ${token}`;

    deepEqual(findSecrets(text).map(({ kind, line, column }) => [kind, line, column]), [
      ["GitHub token", 1, 8],
      ["GitHub token", 2, 11],
      ["GitHub token", 3, 23],
    ]);
  });

  it("findSecrets() goes on behind a placeholder of the same kind", () => {
    const text = `ghp_${"x".repeat(36)} ghp_${mixed(36)}\npassword=xxxx password=${password}`;

    deepEqual(findSecrets(text).map(({ line, column }) => [line, column]), [[1, 42], [2, 24]]);
  });

  it("findSecrets() counts lines by any line end", () => {
    const text = ["a\n", "b\r\n", "c\r", "\n", `x ghp_${mixed(36)}\n`, `ghp_${mixed(36)}`].join("");

    deepEqual(findSecrets(text).map(({ line, column }) => [line, column]), [[4, 3], [5, 1]]);
  });

  it("findSecrets() finds the first 20 and no more", () => {
    const line = (number: number) => `token ${number} ghp_${mixed(36)} password=${password}\n`;
    const found = findSecrets(Array.from({ length: 100 }, (_, at) => line(at)).join(""));

    equal(found.length, 20);
    deepEqual(found.map(({ line }) => line), Array.from({ length: 20 }, (_, at) => (at >> 1) + 1));
  });

  it("findSecrets() shows nothing of what it found", () => {
    const secrets = [...TOKENS.map(([, secret]) => secret), ...PHRASES.map((row) => row[2])];
    for (const secret of secrets) {
      const text = `password = ${secret}\nhttps://a:${secret}@b`;
      for (const { shown, kind } of findSecrets(text)) {
        ok(!/[#0-9]{2}/.test(kind + shown.replace("ya29.", "")), shown);
        ok(shown === "…" || shown.length < secret.length - 8 && shown.endsWith("…"), shown);
      }
    }
  });

  it("findSecrets() takes any text, and gives places inside it in their order", () => {
    const pieces = fc.constantFrom(...TOKENS.map(([, secret]) => secret), "\n", " ", "token: ");
    fc.assert(fc.property(fc.array(fc.oneof(pieces, fc.string({ unit: "binary" }))), (parts) => {
      const text = parts.join("");
      const lines = text.split(/\r\n|\r|\n/);

      const found = findSecrets(text);

      const keys = found.map(({ line, column }) => line * 1e6 + column);
      deepEqual(keys, keys.toSorted((a, b) => a - b));
      equal(new Set(keys).size, keys.length);
      ok(found.every(({ line, column }) => column <= (lines[line - 1] ?? "").length));
    }));
  });

  it("findSecrets() finds nothing in any file of the example vault", async () => {
    const root = join(import.meta.dirname ?? "", "../examples/vault");
    let count = 0;
    for await (const path of filesUnder(root)) {
      deepEqual(findSecrets(await Deno.readTextFile(path)), [], path);
      count++;
    }

    ok(count > 50);
  });
});

async function* filesUnder(folder: string): AsyncGenerator<string> {
  for await (const entry of Deno.readDir(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory) yield* filesUnder(path);
    else yield path;
  }
}

describe("findSecretsInSteps()", () => {
  const token = "npm_" + "a1B2c3D4e5F6".repeat(3);

  it("finds what findSecrets() finds, at the same places, wherever a step ends", () => {
    for (const filler of ["line of text\n", "word ", "字", "\r\n"]) {
      for (const length of [0, 100, 16_300, 16_384, 16_390, 40_000]) {
        const before = filler.repeat(Math.ceil(length / filler.length));
        const text = `${before} ${token}\n${filler.repeat(500)} ${token}`;

        const found = runAtOnce(findSecretsInSteps(text));

        deepEqual(found, findSecrets(text), `${JSON.stringify(filler)} × ${length}`);
        equal(found.length, 2);
      }
    }
  });

  it("pauses often in a long text", () => {
    const steps = findSecretsInSteps("word ".repeat(100_000));

    ok([...steps].length > 10);
  });

  it("misses no long token and no key, wherever a step ends", () => {
    const header = btoa('{"alg":"RS256"}').replaceAll("=", "");
    const random = (length: number) =>
      Array.from({ length }, (_, at) => "aB3dE6gH9kL2"[(at * 7 + (at >> 3)) % 12]).join("");
    const jwt = `${header}.${random(4_000)}.${random(300)}`;
    const line = `${random(64)}\n`;
    const key = `-----BEGIN ${"PRIVATE"} KEY-----\n${
      line.repeat(27)
    }-----END ${"PRIVATE"} KEY-----\n`;
    for (let shift = 0; shift < 60; shift++) {
      const before = "word ".repeat(4_000 + shift * 137);

      equal(runAtOnce(findSecretsInSteps(`${before}${jwt} end`)).length, 1, `jwt ${shift}`);
      equal(runAtOnce(findSecretsInSteps(`${before}\n${key} end`)).length, 1, `key ${shift}`);
    }
  });
});
