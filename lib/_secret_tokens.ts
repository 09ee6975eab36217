/** Tokens that say by their first letters whose they are. */
import { isPlaceholder } from "./_secret_values.ts";

/** Where something secret stands: offsets count UTF-16 units, the end is not included. */
export interface SecretSpan {
  readonly kind: string;
  readonly start: number;
  readonly end: number;
  /** What everybody knows of it; nothing of the secret. */
  readonly shown: string;
}

/** More than a person reads; what is left out is found once these are gone. */
export const MAX_SPANS = 20;

interface TokenShape {
  readonly kind: string;
  readonly prefixes: readonly string[];
  /** Sticky; what follows the prefix. Its parts are bounded, so that no text takes long. */
  readonly rest: RegExp;
}

const shape = (kind: string, prefixes: string, rest: string): TokenShape => ({
  kind,
  prefixes: prefixes.split(" "),
  rest: new RegExp(rest, "y"),
});
/** The words of a name have no digits, a token of that length has some. */
const SOME_DIGIT = "(?=[A-Za-z_-]{0,60}[0-9])";
const SHAPES: readonly TokenShape[] = [
  shape("AWS access key id", "AKIA ASIA", "(?=[A-Z]{0,15}[0-9])[A-Z0-9]{16}(?![A-Za-z0-9])"),
  shape("Alibaba Cloud access key id", "LTAI", `${SOME_DIGIT}[A-Za-z0-9]{16,24}(?![A-Za-z0-9])`),
  shape("Tencent Cloud secret id", "AKID", `${SOME_DIGIT}[A-Za-z0-9]{32}(?![A-Za-z0-9])`),
  shape("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", "[A-Za-z0-9]{36,255}"),
  shape("GitHub token", "github_pat_", "[A-Za-z0-9_]{36,255}"),
  shape("GitLab token", "glpat- gldt- glrt- glptt- glcbt- glsoat- glft-", "[\\w.-]{20,300}"),
  shape("Slack token", "xoxa- xoxb- xoxp- xoxr- xoxs- xoxe- xapp-", `${SOME_DIGIT}[\\w-]{16,300}`),
  shape("Slack webhook", "hooks.slack.com/services/", "T\\w{6,14}/B\\w{6,14}/[A-Za-z0-9]{16,64}"),
  shape("Anthropic key", "sk-ant-", `${SOME_DIGIT}[\\w-]{24,400}`),
  shape("OpenAI key", "sk-proj- sk-svcacct- sk-admin-", `${SOME_DIGIT}[\\w-]{32,400}`),
  shape("OpenRouter key", "sk-or-v1-", "[0-9a-f]{48,80}"),
  shape("OpenAI key", "sk-", "(?=[A-Za-z]{0,60}[0-9])[A-Za-z0-9]{32,100}"),
  shape("Google API key", "AIza", "[\\w-]{35}(?![\\w-])"),
  shape("Google token", "ya29.", "[\\w.-]{20,600}"),
  shape("Google client secret", "GOCSPX-", "[\\w-]{24,40}"),
  shape("Stripe key", "sk_live_ rk_live_", "[A-Za-z0-9]{16,260}"),
  shape("Stripe key", "whsec_", "[A-Za-z0-9+/]{24,100}"),
  shape("Twilio key", "SK", "[0-9a-f]{32}(?![A-Za-z0-9])"),
  shape("SendGrid key", "SG.", "[\\w-]{16,32}\\.[\\w-]{16,64}"),
  shape("npm token", "npm_", "[A-Za-z0-9]{36,80}"),
  shape("PyPI token", "pypi-", `${SOME_DIGIT}[\\w-]{50,400}`),
  shape("Hugging Face token", "hf_", "[A-Za-z0-9]{30,60}"),
  shape("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", "[0-9a-f]{64}"),
  shape("Groq key", "gsk_", "[A-Za-z0-9]{40,80}"),
  shape("xAI key", "xai-", "[A-Za-z0-9]{60,100}"),
  shape("Linear key", "lin_api_", "[A-Za-z0-9]{32,60}"),
  shape("Vault token", "hvs.", "[\\w-]{24,200}"),
  shape("age key", "AGE-SECRET-KEY-1", "[0-9A-Z]{50,64}"),
  shape("Azure key", "AccountKey= SharedAccessKey=", "[A-Za-z0-9+/]{40,100}={0,2}"),
];

const TELEGRAM = /(?<![A-Za-z0-9])[0-9]{8,10}:AA[\w-]{33}(?![\w-])/g;
const LETTER_OR_DIGIT = /[A-Za-z0-9]/;

/** Finds tokens by their shape, at most `MAX_SPANS` of each kind, in no order. */
export function findTokens(text: string): SecretSpan[] {
  const tokens = SHAPES.flatMap((shape) =>
    shape.prefixes.flatMap((prefix) => findShape(text, shape, prefix))
  );
  return [...tokens, ...findTelegramTokens(text)];
}

function findShape(text: string, { kind, rest }: TokenShape, prefix: string): SecretSpan[] {
  const spans: SecretSpan[] = [];
  let start = text.indexOf(prefix);
  while (start >= 0 && spans.length < MAX_SPANS) {
    const body = startsWord(text, start) ? matchAt(rest, text, start + prefix.length) : undefined;
    const end = start + prefix.length + (body?.length ?? 0);
    if (body !== undefined && !isPlaceholder(body)) {
      spans.push({ kind, start, end, shown: `${prefix}…` });
    }
    // Behind the match, so that nothing is looked at twice.
    start = text.indexOf(prefix, end);
  }
  return spans;
}

function findTelegramTokens(text: string): SecretSpan[] {
  return text.matchAll(TELEGRAM)
    .filter(([token]) => !isPlaceholder(token.slice(token.indexOf(":") + 1)))
    .map(({ index, 0: token }) => ({
      kind: "Telegram bot token",
      start: index,
      end: index + token.length,
      shown: "…",
    }))
    .take(MAX_SPANS).toArray();
}

function startsWord(text: string, at: number): boolean {
  return at === 0 || !LETTER_OR_DIGIT.test(text.charAt(at - 1));
}

/** Matches a sticky pattern at one place. */
export function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}
