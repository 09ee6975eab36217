/** What is usual for two texts taken at random: a mean and a spread, whatever a few pairs have. */

export interface Bell {
  readonly mean: number;
  /** Standard deviation; never 0. */
  readonly spread: number;
}

const MAX_SAMPLES = 6000;
/** How many pairs what is known of a model counts for. */
const PRIOR_PAIRS = 200;
/** Of a normal distribution this part lies more than a standard deviation below the mean. */
const BELOW_ONE_SPREAD = .159;
const STEP = 0x9e3779b1;

/** Yields pairs of different indexes below `count`, all if they are few, always the same ones. */
export function* samplePairs(count: number): Generator<readonly [number, number]> {
  const all = count * (count - 1) / 2;
  if (all <= MAX_SAMPLES) {
    for (let first = 1; first < count; first++) {
      for (let second = 0; second < first; second++) yield [first, second];
    }
    return;
  }
  for (let sample = 0, state = 1; sample < MAX_SAMPLES; sample++) {
    state = (Math.imul(state, STEP) + 12345) >>> 0;
    const first = state % count;
    state = (Math.imul(state ^ state >>> 15, STEP) + sample) >>> 0;
    const second = state % count;
    if (first !== second) yield [first, second];
  }
}

/**
 * Fits a bell to values, by their median and what lies below: pairs that are alike are not usual,
 * however many they are.
 *
 * @param prior What is known without any values; the mean stays within a spread of it.
 */
export function fitBell(values: readonly number[], prior: Bell): Bell {
  if (values.length === 0) return prior;
  const sorted = Float64Array.from(values).sort();
  const at = (part: number) => sorted[Math.floor(part * (sorted.length - 1))] ?? 0;
  const own = values.length / (values.length + PRIOR_PAIRS);
  const blend = (mine: number, theirs: number) => own * mine + (1 - own) * theirs;
  const mean = blend(at(.5), prior.mean);
  return {
    mean: Math.min(mean, prior.mean + prior.spread),
    spread: Math.max(blend(at(.5) - at(BELOW_ONE_SPREAD), prior.spread), prior.spread / 2),
  };
}
