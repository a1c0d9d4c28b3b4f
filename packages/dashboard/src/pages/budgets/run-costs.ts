import type { Answer } from '../../api/send.ts';

type Entry = Pick<Answer<'listLogs'>['items'][number], 'op_id' | 'payload'>;

export interface RunCost {
  readonly runId: string;
  readonly micros: number;
  readonly operations: number;
}

/** What the runs have cost, the dearest first, from the audit entries of one agent. What no run was named for is left out. */
export function runCosts(entries: readonly Entry[]): readonly RunCost[] {
  const runs = new Map<string, string>();
  for (const { op_id: op, payload } of entries) {
    const run = payload['run_id'];
    if (op !== null && typeof run === 'string' && run !== '') runs.set(op, run);
  }
  const costs = new Map<string, RunCost>();
  for (const { op_id: op, payload } of entries) {
    const micros = payload['cost_micros'];
    // Only what was settled has been booked. Estimates have not.
    if (op === null || payload['booked'] === undefined || typeof micros !== 'number') continue;
    const runId = runs.get(op);
    if (runId === undefined) continue;
    const before = costs.get(runId);
    costs.set(runId, {
      runId,
      micros: (before?.micros ?? 0) + micros,
      operations: (before?.operations ?? 0) + 1,
    });
  }
  return [...costs.values()].sort((a, b) => b.micros - a.micros || (a.runId < b.runId ? -1 : 1));
}
