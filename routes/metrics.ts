/** Numbers for a monitoring system, as Prometheus text. They live as long as the app. */

export interface CountedRequest {
  readonly method: string;
  /** The pattern of the route, so that labels stay few. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
}

interface Durations {
  /** Requests up to each bound, not yet summed up. */
  readonly buckets: number[];
  count: number;
  sumSeconds: number;
}

const BUCKET_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Counts requests and their durations. */
export class HttpMetrics {
  readonly #requests = new Map<string, number>();
  readonly #durations = new Map<string, Durations>();

  count({ method, route, status, ms }: CountedRequest): void {
    const labels = formatLabels({ route, method, status });
    this.#requests.set(labels, (this.#requests.get(labels) ?? 0) + 1);
    const durations = this.#durationsOf(route);
    const seconds = ms / 1000;
    const bucket = BUCKET_SECONDS.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) durations.buckets[bucket] = (durations.buckets[bucket] ?? 0) + 1;
    durations.count++;
    durations.sumSeconds += seconds;
  }

  /** Returns lines without line breaks. */
  format(): string[] {
    return [
      ...formatHead("commonplace_http_requests_total", "counter", "Requests that were answered"),
      ...[...this.#requests].map(([labels, count]) =>
        `commonplace_http_requests_total${labels} ${count}`
      ),
      ...formatHead(
        "commonplace_http_request_duration_seconds",
        "histogram",
        "Time from a request to its answer",
      ),
      ...[...this.#durations].flatMap(([route, durations]) => formatDurations(route, durations)),
    ];
  }

  #durationsOf(route: string): Durations {
    const known = this.#durations.get(route);
    if (known) return known;
    const fresh = { buckets: BUCKET_SECONDS.map(() => 0), count: 0, sumSeconds: 0 };
    this.#durations.set(route, fresh);
    return fresh;
  }
}

function formatDurations(route: string, { buckets, count, sumSeconds }: Durations): string[] {
  const name = "commonplace_http_request_duration_seconds";
  let upToHere = 0;
  const bounded = BUCKET_SECONDS.map((bound, index) => {
    upToHere += buckets[index] ?? 0;
    return `${name}_bucket${formatLabels({ route, le: bound })} ${upToHere}`;
  });
  return [
    ...bounded,
    `${name}_bucket${formatLabels({ route, le: "+Inf" })} ${count}`,
    `${name}_sum${formatLabels({ route })} ${sumSeconds}`,
    `${name}_count${formatLabels({ route })} ${count}`,
  ];
}

/** A number that is read at the moment of asking. */
export interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Returns lines without line breaks. */
export function formatGauges(gauges: readonly Gauge[]): string[] {
  return gauges.flatMap(({ name, help, value, labels = {} }) => [
    ...formatHead(name, "gauge", help),
    `${name}${formatLabels(labels)} ${value}`,
  ]);
}

function formatHead(name: string, type: string, help: string): string[] {
  return [`# HELP ${name} ${help}.`, `# TYPE ${name} ${type}`];
}

function formatLabels(labels: Readonly<Record<string, string | number>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escapeLabel(value: string | number): string {
  return String(value).replace(/[\\"\n]/g, (char) => char === "\n" ? "\\n" : `\\${char}`);
}
