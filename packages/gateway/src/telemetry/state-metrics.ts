import type { Approvals } from '@reeve/core';
import { opStates } from '@reeve/contract/names';
import type { Registry } from 'prom-client';
import { Gauge } from 'prom-client';
import { registerGauge } from './gauge.ts';

/** What metrics read of a store. */
export interface ObservedStore {
  readonly indexLag: () => Promise<number>;
  /** How many entries are still to be packed. Absent where none are: then there is no sample. */
  readonly unpacked?: () => Promise<number>;
  /** The length of the write-ahead log. Absent where the store is not embedded: then there is no sample. */
  readonly walBytes?: () => number;
}

/** Registers what the gateway holds now. It is read whenever the metrics are read. */
export function stateMetrics(registry: Registry, gov: Approvals, store: ObservedStore): void {
  const gauge = (name: string, help: string, value: (() => number | Promise<number>) | undefined) =>
    registerGauge(registry, name, help, value);
  gauge('reeve_agents', 'Registered agents.', () => registered(gov));
  gauge('reeve_audit_seq', 'The newest audit entry.', () => gov.journal.head.seq);
  gauge('reeve_audit_index_lag_entries', 'Audit entries that are not indexed yet.', store.indexLag);
  gauge('reeve_audit_unpacked_entries', 'Audit entries that are old enough to be packed, and are not.', store.unpacked);
  gauge('reeve_approvals_open', 'Actions that wait for an approval.', () => gov.approvals.openCount);
  gauge('reeve_control_streams', 'Open control streams.', () => gov.control.streamCount);
  gauge('reeve_held_runs', 'Runs that are held: what they ask further is refused.', () => gov.control.runs.count);
  gauge(
    'reeve_held_runs_of_one_binding',
    'The most runs that credentials with one binding hold. They may hold 10000.',
    () => gov.control.runs.mostOfOneBinding,
  );
  gauge(
    'reeve_suspensions',
    'Suspensions of orgs, of teams and of everything in force.',
    () => gov.directory.suspensions.count,
  );
  gauge('reeve_store_wal_bytes', "The length of the embedded store's write-ahead log.", store.walBytes);
  const ops = new Gauge({
    name: 'reeve_ops',
    help: 'Operations by state.',
    labelNames: ['state'],
    registers: [registry],
    collect: () => {
      for (const state of opStates) ops.set({ state }, gov.ops.count(state));
    },
  });
}

/** Without agents that have left and are remembered because they are suspended. */
function registered(gov: Approvals): number {
  return [...gov.directory.orgs().values()].reduce((sum, { tally }) => sum + tally.agents, 0);
}
