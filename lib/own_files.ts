/** Rights of what this program keeps for one person alone. */

/** Reads and writes. */
export const OWN_FILE_MODE = 0o600;
/** Reads, writes and enters. */
export const OWN_FOLDER_MODE = 0o700;
