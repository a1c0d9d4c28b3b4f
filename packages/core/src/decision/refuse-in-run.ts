import { noteRunUse } from '../control/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import type { Op } from '../ops/index.ts';
import type { Agent } from '../tenancy/index.ts';
import type { Decided } from './decide.ts';
import type { Decisions } from './decisions.ts';

/** The rule of a check that an operator's control of its run refused. */
export const controlRule = 'control';

const reasons = { pause: 'run is paused', terminate: 'run is terminated' } as const;

/** Denies a check in a run that an operator has paused or terminated, before any policy. Undefined if none has. */
export function refuseInRun(gov: Decisions, { record }: Agent, op: Op, now: EpochMs): Decided | undefined {
  if (op.runId === '') return undefined;
  const control = gov.control.runs.over(record.id, op.runId);
  if (control === undefined) return undefined;
  noteRunUse(gov, control, now);
  return { decision: 'deny', reason: reasons[control.action], policyRule: controlRule, tier: 'control' };
}
