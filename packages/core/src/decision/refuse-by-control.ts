import { noteRunUse } from '../control/index.ts';
import type { EpochMs, Micros } from '../kernel/index.ts';
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
  runId: string,
  costMicros: Micros,
  now: EpochMs,
): Decided | undefined {
  const hold = gov.directory.suspensions.over(agent.record.id);
  if (hold !== undefined) return refusal(hold.message, costMicros);
  if (runId === '') return undefined;
  for (const { record } of agentAndAbove(agent, links)) {
    const control = gov.control.runs.over(record.id, runId);
    if (control === undefined) continue;
    noteRunUse(gov, control, now);
    return refusal(reasons[control.action], costMicros);
  }
  return undefined;
}

function refusal(reason: string, costMicros: Micros): Decided {
  return { decision: 'deny', reason, policyRule: controlRule, tier: 'control', costMicros, reservedMicros: 0 };
}
