import type { Registry } from 'prom-client';
import { Counter, Gauge } from 'prom-client';
import type { TargetLag } from './health.ts';

/** What is counted of one target. */
export interface ForwardCounters {
  readonly sent: (entries: number) => void;
  readonly failed: () => void;
  readonly missed: (entries: number) => void;
  readonly rejected: (entries: number) => void;
}

/** The labels are the place in the configuration and the kind: an address may hold secrets. */
const labelNames = ['target', 'kind'] as const;

/** The counters of a target, by its place from 1 and its kind. */
export type CountersOf = (target: number, kind: string) => ForwardCounters;

/** Registers the metrics of audit forwarding. `lags` is read whenever the metrics are. */
export function forwardMetrics(registry: Registry, lags: () => readonly TargetLag[]): CountersOf {
  const registers = [registry];
  const gauge = (name: string, help: string, valueOf: (lag: TargetLag) => number) => {
    const made = new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect: () => {
        for (const lag of lags()) made.set({ target: String(lag.target), kind: lag.kind }, valueOf(lag));
      },
    });
  };
  gauge('reeve_forward_lag_entries', 'Audit entries that a target does not have yet.', (lag) => lag.lag_entries);
  gauge('reeve_forward_lag_seconds', 'The age of the oldest of them.', (lag) => lag.lag_seconds);
  const counter = (name: string, help: string) => new Counter({ name, help, labelNames, registers });
  const sent = counter('reeve_forward_entries_total', 'Audit entries sent to a target, repetitions included.');
  const failures = counter('reeve_forward_failures_total', 'Attempts that a target did not take.');
  const missed = counter('reeve_forward_missed_entries_total', 'Audit entries that retention removed before.');
  const rejected = counter('reeve_forward_rejected_entries_total', 'Audit entries that a target threw away.');
  return (target, kind) => {
    const labels = { target: String(target), kind };
    for (const each of [sent, failures, missed, rejected]) each.inc(labels, 0);
    return {
      sent: (entries) => sent.inc(labels, entries),
      failed: () => failures.inc(labels),
      missed: (entries) => missed.inc(labels, entries),
      rejected: (entries) => rejected.inc(labels, entries),
    };
  };
}
