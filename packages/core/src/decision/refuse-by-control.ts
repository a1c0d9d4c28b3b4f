import { noteRunUse } from '../control/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import type { OpRecord } from '../ops/index.ts';
import type { Asker, Decided } from './decide.ts';
import type { Decisions } from './decisions.ts';
import { agentAndAbove } from './judge-delegation.ts';

/** The rule of a check that an operator's control of its scope or its run refused. */
export const controlRule = 'control';

const reasons = { pause: 'run is paused', terminate: 'run is terminated' } as const;

/**
 * Denies a check in a scope that an operator has suspended, or in a run that one has paused or terminated, before any
 * policy. Undefined if none has.
 */
export function refuseByControl(
  gov: Decisions,
  { agent, links }: Asker,
  { runId, costMicros }: Pick<OpRecord, 'runId' | 'costMicros'>,
  now: EpochMs,
): Decided | undefined {
  const refusal = {
    decision: 'deny',
    policyRule: controlRule,
    tier: 'control',
    costMicros,
    reservedMicros: 0,
  } as const;
  const hold = gov.directory.suspensions.over(agent.record.id);
  if (hold !== undefined) return { ...refusal, reason: hold.message };
  if (runId === '') return undefined;
  for (const { record } of agentAndAbove(agent, links)) {
    const control = gov.control.runs.over(record.id, runId);
    if (control === undefined) continue;
    noteRunUse(gov, control, now);
    return { ...refusal, reason: reasons[control.action] };
  }
  return undefined;
}
