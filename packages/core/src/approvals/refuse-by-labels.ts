import { redacted } from '../audit/index.ts';
import type { Op } from '../ops/index.ts';
import { inRun } from '../ops/index.ts';
import { namesOfLabels, refuseLabels } from '../runs/index.ts';
import { linksOf } from '../tenancy/index.ts';
import type { Approval } from './approval.ts';
import type { Approvals } from './approvals.ts';

/** The names of the labels that count for an operation, in order. */
export function labelsBorne({ runs }: Pick<Approvals, 'runs'>, op: Op): readonly string[] {
  return namesOfLabels(runs.labels.in(inRun(op)));
}

/**
 * Why an operation that people allow must not run, if its labels find no room, or its run bears labels that it did not
 * bear when policy was asked: rules that read them might forbid it by now.
 */
export function refuseByLabels(gov: Approvals, approval: Approval, op: Op): string | undefined {
  const owed = [...op.owedLabels, ...(op.resultDuty?.unjudged ?? [])];
  const refusal = owed.length === 0 ? undefined : refuseLabels(gov, inRun(op), owed);
  if (refusal !== undefined) return refusal;
  const known = new Set(approval.labels);
  if (labelsBorne(gov, op).every((name) => known.has(name))) return undefined;
  const tool = toolOf(approval);
  const parties = [op.owner, ...linksOf(gov.directory, op.owner).flatMap(({ delegator }) => delegator ?? [])];
  const isRead = parties.some(({ record }) => gov.policies.mayReadLabels(record.id, approval.actionType, tool));
  return isRead ? 'its run has got labels since it asked; ask again' : undefined;
}

/** Longer names may have been cut. */
const surelyWhole = 100;

/** The tool that was asked about; undefined if it is not known exactly. */
function toolOf({ actionType, resource }: Approval): string | undefined {
  const isTool = actionType === 'tool_call' || actionType === 'tool_result';
  return isTool && resource.length <= surelyWhole && !resource.includes(redacted) ? resource : undefined;
}
