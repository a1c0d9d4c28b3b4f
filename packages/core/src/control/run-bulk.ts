import type { Principal, Width } from '../access/index.ts';
import { canonicalJson, draftOf, lineageOfBinding, redactText } from '../audit/index.ts';
import type { Json } from '../audit/index.ts';
import type { Warrant } from '../journal/index.ts';
import { ownWork } from '../journal/index.ts';
import { ReeveError } from '../kernel/index.ts';
import type { Op, Receipt } from '../ops/index.ts';
import { isOver } from '../ops/index.ts';
import type { Agent } from '../tenancy/index.ts';
import type { BulkControl, ControlCounts, ControlScope } from './bulk-control.ts';
import type { Controls } from './controls.ts';
import { issueControls } from './issue-controls.ts';

/**
 * How many operations move per turn of the event loop. A turn takes about as long as a decision, and decisions run in
 * between.
 */
export const opsPerTurn = 8;
/** How many operations move before the control waits until all are durable, for slow stores. */
const opsPerWait = 64;

/** A control of many operations, and how to carry it out. */
export interface BulkOrder {
  readonly by: Pick<Principal, 'actor' | 'requestId'>;
  /** Whom its turns act for. */
  readonly warrant: Warrant;
  readonly bulk: BulkControl;
  readonly ops: readonly Op[];
  readonly isMovable: (op: Op) => boolean;
  readonly cause: Receipt['cause'];
  readonly width: Width;
  /** Called in the turn of each operation, before it is looked at. */
  readonly prepare?: (op: Op) => void;
  /** Called in the first turn. The same control, if another gateway was first, and nothing is left to do. */
  readonly overtakenBy?: () => BulkControl | undefined;
}

/** How many operations are looked at per turn. */
const looksPerTurn = 5000;

/**
 * The operations in flight of these agents. Only those known at the time of the request count, though the search may
 * take several turns.
 */
export async function opsOf(
  gov: Controls,
  agents: readonly Agent[],
  fits: (op: Op) => boolean = () => true,
): Promise<Op[]> {
  const { newest } = gov.ops;
  const found: Op[] = [];
  let looked = 0;
  for (const agent of agents) {
    for (const op of gov.ops.of(agent)) {
      if (++looked % looksPerTurn === 0) await gov.journal.nextTurn();
      if (op.arrival <= newest && !isOver(op.state) && fits(op)) found.push(op);
    }
  }
  return found;
}

export function emptyScope(): ReeveError {
  return new ReeveError('scope_not_found', 'there is no agent in this scope; nothing was stopped');
}

export function countOf(ops: readonly Op[], isMovable: (op: Op) => boolean): ControlCounts {
  const changed = ops.filter(isMovable).length;
  return { matched: ops.length, changed, skipped: ops.length - changed };
}

/**
 * Moves operations in steps, between decisions, and resolves once all are durable. Leaves those alone that have moved on
 * since they were found.
 */
export async function runBulk(gov: Controls, order: BulkOrder): Promise<BulkControl> {
  const { by, warrant, bulk, ops, isMovable, cause, width, overtakenBy } = order;
  const move = (start: number): number => {
    const some = ops.slice(start, start + opsPerTurn).filter((op) => gov.ops.holds(op));
    if (order.prepare !== undefined) some.forEach(order.prepare);
    // By place, so that a turn that is done again gives the same ids.
    let place = start;
    const nextId = () => `${bulk.id}_${String(++place).padStart(7, '0')}`;
    const { action, reason } = bulk;
    const issued = { by, action, reason, cause, width, bulkId: bulk.id, nextId };
    return issueControls(gov, some.filter(isMovable), issued).length;
  };
  let first: BulkControl | undefined;
  const begin = () => {
    first = overtakenBy?.();
    if (first !== undefined) return 0;
    recordRequest(gov, by, bulk);
    gov.journal.apply({ kind: 'bulk_control_saved', bulk });
    return move(0);
  };
  const inTurn = (act: () => number) => {
    const moved = gov.journal.turn(warrant, act);
    // The end of the loop waits for it. Until then nobody handles a failure.
    moved.catch(() => undefined);
    return moved;
  };
  let turns = [inTurn(begin)];
  let issued = 0;
  if (overtakenBy !== undefined) {
    issued += await allDurable(turns.splice(0));
    if (first !== undefined) return first;
  }
  for (let start = opsPerTurn; start < ops.length; start += opsPerTurn) {
    if (start % opsPerWait === 0) {
      issued += await allDurable(turns);
      turns = [];
    } else await gov.journal.nextTurn();
    turns.push(inTurn(() => move(start)));
  }
  issued += await allDurable(turns);
  if (bulk.done) return bulk;
  const finished = { ...bulk, changed: issued, skipped: ops.length - issued, done: true };
  await gov.journal.turn(ownWork, () => gov.journal.apply({ kind: 'bulk_control_saved', bulk: finished }));
  return finished;
}

/** Waits for all turns, even if one of them fails. Returns how many operations they have moved. */
async function allDurable(turns: readonly Promise<number>[]): Promise<number> {
  const outcomes = await Promise.allSettled(turns);
  let moved = 0;
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') throw outcome.reason;
    moved += outcome.value;
  }
  return moved;
}

function recordRequest(gov: Controls, by: BulkOrder['by'], bulk: BulkControl): void {
  gov.journal.record(
    draftOf({
      at: bulk.requestedAt,
      eventType: 'OpControlRequested',
      lineage: lineageOfBinding(bulk),
      actor: by.actor,
      reason: bulk.reason === '' ? null : bulk.reason,
      payload: canonicalJson({
        action: bulk.action,
        changed: bulk.changed,
        control_id: bulk.id,
        matched: bulk.matched,
        ...(by.requestId === undefined ? {} : { request_id: by.requestId }),
        scope: describeScope(bulk.scope),
        skipped: bulk.skipped,
      }),
    }),
  );
}

export function describeScope({ all, orgId, teamId, agentId, runId }: ControlScope): Json {
  return {
    ...(all === true ? { all } : {}),
    ...(orgId === undefined ? {} : { org_id: orgId }),
    ...(teamId === undefined ? {} : { team_id: teamId }),
    ...(agentId === undefined ? {} : { agent_id: agentId }),
    ...(runId === undefined ? {} : { run_id: redactText(runId) }),
  };
}
