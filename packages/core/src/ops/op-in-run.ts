import type { Undo } from '../journal/index.ts';
import { nothingToApply, undoAll } from '../journal/index.ts';
import type { AgentId } from '../kernel/index.ts';
import type { OpOfRun, RunRegistry } from '../runs/index.ts';
import type { Op, OpRecord } from './op.ts';
import { isOver } from './lifecycle.ts';
import { isAnother } from './op.ts';

/** Whether an operation was checked and is not over. */
function isUnderWay({ digest, state }: Pick<OpRecord, 'digest' | 'state'>): boolean {
  return digest !== '' && !isOver(state);
}

/** In which run an operation is, and which one it is. */
export function inRun({ owner, runId, delegators, opId }: Op) {
  const agent: AgentId = owner.record.id;
  return { agent, runId, delegators, opId };
}

/** What a fact says of a first check that waits for people. */
export function firstCheck(op: OpRecord): OpOfRun {
  return { op, checked: true };
}

/** An operation takes the place of what was known under its id: what is under way in its run changes. */
export function moveInRuns(runs: RunRegistry, known: Op | undefined, record: OpRecord): Undo {
  const was = known !== undefined && isUnderWay(known);
  const is = isUnderWay(record);
  if (was && is && !isAnother(known, record)) return nothingToApply();
  return undoAll(was ? leaveRun(runs, known) : nothingToApply(), is ? runs.move(record, 1) : nothingToApply());
}

function leaveRun(runs: RunRegistry, { owner, runId, delegators, updatedAt }: Op): Undo {
  return runs.move({ agent: owner.record.id, runId, delegators, updatedAt }, -1);
}
