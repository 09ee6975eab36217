/** The version of the program, told by `--version`, health and metrics. */
export const VERSION = "0.1.0";
