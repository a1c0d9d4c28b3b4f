import type { AlertEvent } from '../audit/index.ts';
import type { Undo } from '../journal/index.ts';
import { nothingToApply } from '../journal/index.ts';
import { minus } from '../kernel/index.ts';
import { hasEnded, isOver } from './op.ts';
import type { Op } from './op.ts';
import type { Operations } from './operations.ts';
import type { OpsChange, OpsChangeEvent } from './ops-slice.ts';

/**
 * Follows an operation that became known or moved at another gateway, with what that means to budgets and runs. Returns
 * whether it was asked about for the first time just then.
 */
export function followOp(
  gov: FollowedOps,
  { op: record, booked }: Pick<OpsChangeEvent, 'op' | 'booked'>,
  seq: number,
): boolean {
  const { agent: id } = record;
  const agent = gov.directory.find(id);
  if (agent === undefined) return false;
  const known = gov.ops.find(agent, record.opId);
  const before = known === undefined || isOver(known.state) ? undefined : known;
  const reserved = minus(record.reservedMicros, before?.reservedMicros ?? 0);
  const { agent: _, ...told } = record;
  const isFirstCheck = record.digest !== '' && (before === undefined || before.digest === '');
  agent.isHere = false;
  gov.ops.follow(agent, told, seq);
  gov.ledger.follow(id, reserved, booked === undefined ? 0 : record.costMicros, booked);
  if (isFirstCheck && record.runId !== '') gov.runs.count(id, record.runId, record.reservedMicros);
  // One that was known and still waits does not say when it was asked about.
  return isFirstCheck && (before === undefined || record.state !== 'pending');
}

export interface FollowedOps extends Pick<Operations, 'directory' | 'ops' | 'ledger'> {
  readonly runs: { count(agent: Op['owner']['record']['id'], runId: string, spent: number): unknown };
}

/** An operation whose agent is silent, or is back. */
export function applyAlert(gov: FollowedOps, { agent: id, alert, details }: AlertEvent): Undo {
  const agent = id === null ? undefined : gov.directory.find(id);
  const opId = details['op_id'];
  const op = agent === undefined || typeof opId !== 'string' ? undefined : gov.ops.find(agent, opId);
  if (agent === undefined || op === undefined) return nothingToApply();
  if (alert === 'op_back') {
    const undo = gov.ops.change(op, { stale: false });
    return () => {
      undo();
      // The next sign of life tells of it again.
      agent.silent = true;
    };
  }
  if (alert !== 'op_stale' && alert !== 'reservation_released') return nothingToApply();
  agent.silent = true;
  const undo = gov.ops.change(op, { stale: true });
  if (alert === 'op_stale') return undo;
  gov.ledger.follow(agent.record.id, minus(0, op.reservedMicros), 0, undefined);
  gov.ops.change(op, { reservedMicros: 0 });
  return nothingToApply();
}

/** Follows what another gateway has written of operations beside their events. */
export function followOpChange(gov: FollowedOps, change: OpsChange, seq: number): void {
  if (change.kind === 'op_asked') followOp(gov, change, seq);
  if (change.kind !== 'op_saved' && change.kind !== 'op_removed') return;
  const agent = gov.directory.find(change.kind === 'op_saved' ? change.op.agent : change.id);
  // The agent has left, and the rows of its operations with it.
  if (agent === undefined) return;
  if (change.kind === 'op_saved') {
    gov.ops.followSaved(agent, change.op.opId, change.op.seq);
    return;
  }
  const op = gov.ops.find(agent, change.opId);
  if (op !== undefined && hasEnded(op)) gov.ops.forget(op);
}
