import type { Registry } from 'prom-client';
import { Gauge } from 'prom-client';

/** Registers the age of backups. Without a known one there is no sample: 0 would be an alert for those who use other tools. */
export function backupMetrics(registry: Registry, lastAt: () => number | null): void {
  const gauge = new Gauge({
    name: 'reeve_backup_last_success_timestamp_seconds',
    help: 'The moment that the last backup shows which was taken whole.',
    registers: [registry],
    collect: () => {
      const at = lastAt();
      if (at === null) gauge.remove();
      else gauge.set(at / 1000);
    },
  });
}
