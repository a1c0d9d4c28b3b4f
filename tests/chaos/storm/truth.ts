import type { RouteOutput, Routes } from '@reeve/contract/http';
import type { LoggedEntry } from '../../harness/audit-log.ts';
import { cannotPause } from './storm-agent.ts';
import type { StormAgent } from './storm-agent.ts';
import { transitionsOf } from './transitions.ts';

type Report = RouteOutput<Routes['getControl']>;
export type Receipt = Extract<Report, { kind: 'receipt' }>;

/** What a receipt claims against the agent's knowledge. `later` has the receipts of the operation's later controls. */
export function untruthOf(receipt: Receipt, later: readonly Receipt[], agent: StormAgent): string | undefined {
  switch (receipt.status) {
    case 'effective':
      if (!agent.taken.has(receipt.id)) return 'the agent never heard of it';
      return receipt.action === 'resume' ? undefined : stepAfter(receipt, later, agent);
    case 'failed':
      if (agent.manner !== 'unpausable' || receipt.action !== 'pause') return 'the agent never said so';
      return receipt.detail === cannotPause ? undefined : 'the agent said something else';
    case 'acked':
      if (!agent.taken.has(receipt.id)) return 'the agent never heard of it';
      // A pause that was resumed before the next checkpoint never took effect.
      if (receipt.action === 'pause' && later.some(({ action }) => action === 'resume')) return undefined;
      return agent.lost ? undefined : 'nothing came of it';
    case 'unconfirmed':
      return agent.lost ? undefined : 'the agent was there to be asked';
    case 'requested':
    case 'delivered':
      return 'it is still open';
  }
}

/** Whether the work continued between the time it stopped and the next control. */
function stepAfter(receipt: Receipt, [next]: readonly Receipt[], agent: StormAgent): string | undefined {
  const from = Date.parse(receipt.effective_at ?? '');
  const to = receipt.action === 'terminate' || next === undefined ? Number.POSITIVE_INFINITY : timeOf(next);
  const step = agent.steps.get(receipt.op_id)?.find((at) => at > from && at < to);
  return step === undefined ? undefined : `the work went on at ${new Date(step).toISOString()}`;
}

function timeOf({ requested_at }: Receipt): number {
  return Date.parse(requested_at);
}

/** The controls in the log, in order: receipt ids by agent and operation. */
export function controlsByOp(entries: readonly LoggedEntry[]): Map<string, string[]> {
  const controls = new Map<string, string[]>();
  for (const entry of entries) {
    const id = entry.payload['control_id'];
    if (!['OpStateChanged', 'OpPauseWidened'].includes(entry.event_type) || typeof id !== 'string') continue;
    const op = `${entry.lineage.agent_id} ${entry.op_id}`;
    controls.set(op, [...(controls.get(op) ?? []), id]);
  }
  return controls;
}

/** The first transition of the log that does not start where the previous one ended. */
export function brokenLifecycle(entries: readonly LoggedEntry[]): LoggedEntry | undefined {
  const states = new Map<string, string>();
  return entries.find((entry) => {
    const { from } = entry.payload;
    for (const { op, state } of transitionsOf(entry)) {
      if (entry.event_type === 'OpStateChanged' && states.get(op) !== from) return true;
      if (state === 'pending' && states.has(op)) return true;
      states.set(op, state);
    }
    return false;
  });
}
