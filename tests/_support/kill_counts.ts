/** What came of killing whoever writes. */
export interface KillCounts {
  kills: number;
  /** Acknowledged by who was killed later. */
  saves: number;
  /** Kills after which a save was found whole that had not been acknowledged. */
  wholeUnheard: number;
  /** Files that exist only while something is written, found after kills. */
  litter: number;
  /** Each is a file that is neither old nor new, is lost, or outlived the next start. */
  readonly wrongs: string[];
}

export function noKills(): KillCounts {
  return { kills: 0, saves: 0, wholeUnheard: 0, litter: 0, wrongs: [] };
}
