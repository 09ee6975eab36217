/**
 * Finds the key of a provider where its person keeps it. A key stands in no flag and in no
 * configuration: other programs read those. It is in no message either, and whatever another program
 * says about it stays untold.
 */
import { isAbsolute } from "node:path";
import { quoteForShell } from "@/lib/command_to_run.ts";
import { findProgram } from "@/lib/find_program.ts";
import { isModeOpenToOthers } from "@/lib/own_files.ts";
import { EmbeddingUnavailable } from "./embedder.ts";
import type { RunProgram } from "./run_program.ts";

/** Where a key is. */
export type Credential =
  | { readonly from: "env"; readonly name: string }
  | { readonly from: "file"; readonly path: string }
  | { readonly from: "keychain"; readonly service: string; readonly account: string };

export interface CredentialSeams {
  readonly env: ReadonlyMap<string, string>;
  readonly platform: typeof Deno.build.os;
  readonly run: RunProgram;
}

const KEYCHAIN_LIMIT_MS = 10_000;
/** A locked key chain asks its person first. */
const ASKING_LIMIT_MS = 60_000;
const MAX_KEY_BYTES = 16 * 1024;

/**
 * Reads a reference: `env:NAME`, `file:PATH` with an absolute path, or `keychain:SERVICE/ACCOUNT`.
 *
 * @returns `undefined` for anything else.
 *
 * @example
 * ```ts
 * import { deepEqual } from "node:assert/strict";
 *
 * deepEqual(parseCredential("env:OPENAI_API_KEY"), { from: "env", name: "OPENAI_API_KEY" });
 * ```
 */
export function parseCredential(text: string): Credential | undefined {
  const [, from, rest = ""] = /^(env|file|keychain):(.+)$/.exec(text) ?? [];
  if (from === "env") return /^[A-Za-z_]\w*$/.test(rest) ? { from, name: rest } : undefined;
  if (from === "file") return isAbsolute(rest) ? { from, path: rest } : undefined;
  // What begins with a hyphen would be an option of the program that is asked.
  const [, service, account] = /^([^-/\p{Cc}][^/\p{Cc}]*)\/([^-\p{Cc}]\P{Cc}*)$/u.exec(rest) ?? [];
  if (service === undefined || account === undefined) return undefined;
  return { from: "keychain", service, account };
}

/**
 * Returns the key that a reference stands for.
 *
 * @throws {EmbeddingUnavailable} If there is none that can be used; the message says how to mend that.
 */
export async function readCredential(reference: string, seams: CredentialSeams): Promise<string> {
  const credential = parseCredential(reference);
  switch (credential?.from) {
    case "env":
      return readVariable(credential.name, seams);
    case "file":
      return await readKeyFile(credential.path);
    case "keychain":
      return await readKeychain(credential, seams);
    default:
      throw new EmbeddingUnavailable(
        "--embedding-credential has to be env:NAME, file:PATH or keychain:SERVICE/ACCOUNT",
      );
  }
}

function readVariable(name: string, { env }: CredentialSeams): string {
  const value = env.get(name);
  if (value) return requireKey(value, `the variable ${name}`);
  throw new EmbeddingUnavailable(
    `The variable ${name} is not set: put the key into it, or say with --embedding-credential ` +
      "where the key is",
  );
}

async function readKeyFile(path: string): Promise<string> {
  const { isFile, mode, size } = await openOrTell(path, () => Deno.stat(path));
  if (!isFile || size > MAX_KEY_BYTES) throw noKey(path);
  if (isModeOpenToOthers(mode)) {
    throw new EmbeddingUnavailable(
      `Others can read or write the key in ${path}: run chmod 600 ${quoteForShell(path)}`,
    );
  }
  return requireKey(await openOrTell(path, () => Deno.readTextFile(path)), path);
}

async function openOrTell<T>(path: string, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    const reason = error instanceof Deno.errors.NotFound ? "is not there" : "cannot be read";
    throw new EmbeddingUnavailable(
      `The file of the key, ${path}, ${reason}: check --embedding-credential`,
    );
  }
}

interface KeychainItem {
  readonly service: string;
  readonly account: string;
}

interface KeychainProgram {
  readonly name: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly limitMs: number;
  /** What its person has to do where it is missing. */
  readonly remedy: string;
}

async function readKeychain(item: KeychainItem, seams: CredentialSeams): Promise<string> {
  const { env, platform, run } = seams;
  const { name, args, limitMs, remedy, ...program } = programOf(platform, item);
  const path = await findProgram(name, env.get("PATH") ?? env.get("Path"));
  if (path === undefined) {
    throw new EmbeddingUnavailable(
      `The key chain cannot be read, as ${name} is not on the search path: ${remedy}`,
    );
  }
  const place = `the key chain as ${JSON.stringify(`${item.service}/${item.account}`)}`;
  const result = await run({
    path,
    args,
    limitMs,
    env: { ...Object.fromEntries(env), ...program.env },
  });
  if (result === undefined) {
    throw new EmbeddingUnavailable(`${name} did not give the key within ${limitMs / 1_000} s`);
  }
  if (result.code !== 0 || result.stdout === "") {
    throw new EmbeddingUnavailable(
      `${name} finds no key in ${place}: store it there, or check --embedding-credential`,
    );
  }
  return requireKey(result.stdout, place);
}

/** Service and account come by the environment: in the text of a script they could be commands. */
const VAULT_SCRIPT = `$ErrorActionPreference = 'Stop'
$null = [Windows.Security.Credentials.PasswordVault,Windows.Security.Credentials,ContentType=WindowsRuntime]
$vault = New-Object Windows.Security.Credentials.PasswordVault
$item = $vault.Retrieve($env:COMMONPLACE_KEY_SERVICE, $env:COMMONPLACE_KEY_ACCOUNT)
$item.RetrievePassword()
[Console]::Out.Write($item.Password)`;

function programOf(
  platform: typeof Deno.build.os,
  { service, account }: KeychainItem,
): KeychainProgram {
  const elsewhere = "keep the key in a variable or a file";
  if (platform === "darwin") {
    const args = ["find-generic-password", "-s", service, "-a", account, "-w"];
    return { name: "security", args, limitMs: ASKING_LIMIT_MS, remedy: elsewhere };
  }
  if (platform === "windows") {
    return {
      name: "powershell",
      args: ["-NoLogo", "-NoProfile", "-NonInteractive", "-Command", VAULT_SCRIPT],
      env: { COMMONPLACE_KEY_SERVICE: service, COMMONPLACE_KEY_ACCOUNT: account },
      limitMs: KEYCHAIN_LIMIT_MS,
      remedy: elsewhere,
    };
  }
  return {
    name: "secret-tool",
    args: ["lookup", "service", service, "account", account],
    limitMs: KEYCHAIN_LIMIT_MS,
    remedy: `install libsecret-tools, or ${elsewhere}`,
  };
}

/** A key goes into a header, where other characters would be an error that shows it. */
function requireKey(text: string, place: string): string {
  const key = text.replace(/\r?\n$/, "");
  if (!/^[\x21-\x7e]+$/.test(key)) throw noKey(place);
  return key;
}

function noKey(place: string): EmbeddingUnavailable {
  return new EmbeddingUnavailable(
    `What is in ${place} is no key: it has to be one line of visible ASCII characters, no blanks`,
  );
}
