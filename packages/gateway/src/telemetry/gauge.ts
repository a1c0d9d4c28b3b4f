import type { Registry } from 'prom-client';
import { Gauge } from 'prom-client';

/** Registers a number that is read whenever the metrics are read. Without a way to read it, there is no sample. */
export function registerGauge(
  registry: Registry,
  name: string,
  help: string,
  value: (() => number | Promise<number>) | undefined,
): void {
  const gauge = new Gauge({
    name,
    help,
    registers: [registry],
    collect: async () => {
      if (value === undefined) gauge.remove();
      else gauge.set(await value());
    },
  });
}
