import type { Metric, Registry } from 'prom-client';

/** A histogram that counts with two additions; the library's own takes a microsecond and an object. */
export class LatencyHistogram {
  readonly #name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];
  readonly #counts: Float64Array;
  #sum = 0;

  constructor(name: string, help: string, bounds: readonly number[]) {
    this.#name = name;
    this.#help = help;
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  observe(seconds: number): void {
    let bucket = 0;
    while (bucket < this.#bounds.length && seconds > (this.#bounds[bucket] ?? 0)) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += seconds;
  }

  register(registry: Registry): void {
    const metric = {
      name: this.#name,
      help: this.#help,
      type: 'histogram',
      aggregator: 'sum',
      get: () =>
        Promise.resolve({
          name: this.#name,
          help: this.#help,
          type: 'histogram',
          aggregator: 'sum',
          values: this.#values(),
        }),
      reset: () => this.#counts.fill(0),
    };
    registry.registerMetric(metric as unknown as Metric);
  }

  #values() {
    let total = 0;
    const buckets = [...this.#counts].map((count, index) => {
      total += count;
      return { metricName: `${this.#name}_bucket`, labels: { le: this.#bounds[index] ?? '+Inf' }, value: total };
    });
    return [
      ...buckets,
      { metricName: `${this.#name}_sum`, labels: {}, value: this.#sum },
      { metricName: `${this.#name}_count`, labels: {}, value: total },
    ];
  }
}
