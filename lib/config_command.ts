/** Which command of the program the arguments ask for. */
import { SETTINGS } from "./config.ts";
import { quote, readArguments } from "./config_sources.ts";
import { ConfigError } from "./errors.ts";
import { didYouMean } from "./nearest_name.ts";

export type Command = "serve" | "help" | "version";
const COMMANDS: readonly Command[] = ["serve", "help", "version"];

/**
 * Returns the command that arguments ask for: the first word that is no flag, `serve` without one.
 *
 * @throws {ConfigError} If there is no such command.
 */
export function parseCommand(args: readonly string[]): Command {
  const { words: [word = "serve"], asked } = readArguments(args, SETTINGS, "");
  if (asked !== undefined) return asked;
  const command = COMMANDS.find((each) => each === word);
  if (command !== undefined) return command;
  throw new ConfigError(`${quote(word)} is not a known command${didYouMean(word, COMMANDS)}`);
}
