import type { Principal } from '../access/index.ts';
import { widthOf } from '../access/index.ts';
import { ownWork } from '../journal/index.ts';
import type { ControlAction, Op } from '../ops/index.ts';
import type { Agent, ScopeSuspension } from '../tenancy/index.ts';
import type { BulkControl } from './bulk-control.ts';
import { cutShortMs } from './bulk-control.ts';
import { newControlId } from './control-op.ts';
import type { Controls } from './controls.ts';
import { isRunning, runsOn } from './held-ops.ts';
import { countOf, opsOf, opsPerTurn, runBulk } from './run-bulk.ts';
import { controlScopeOf } from './note-suspension.ts';

// A suspension that was imposed or lifted is carried out, whatever becomes of the credential that did it.
type Asking = Pick<Principal, 'actor' | 'requestId'>;

/** Pauses or terminates what runs in a scope that has been suspended, and returns the suspension with what became of it. */
export async function moveForScope(gov: Controls, suspension: ScopeSuspension, by: Asking): Promise<ScopeSuspension> {
  const { id, action } = suspension;
  const isInForce = () => gov.directory.suspensions.find(id)?.lifted === null;
  // What waits for approval goes on waiting.
  const isStopped = (op: Op) => isRunning(op) || (action === 'terminate' && op.state === 'paused');
  const { controlId } = suspension.operations;
  const finished = await underWay(gov, id, () =>
    move(gov, suspension, { by, action, id: controlId, isMovable: (op) => isStopped(op) && isInForce() }),
  );
  const { matched, changed, skipped } = finished;
  const operations = { matched, changed, skipped, controlId: finished.id };
  return await gov.journal.turn(ownWork, () => {
    const present = gov.directory.suspensions.find(id);
    const settled = { ...(present ?? suspension), operations, isSettled: true };
    if (present?.lifted === null) gov.journal.apply({ kind: 'suspension_saved', suspension: settled });
    return settled;
  });
}

/** Resumes what waits in a scope for a suspension that has been lifted. What something else holds goes on waiting. */
export async function resumeScope(gov: Controls, suspension: ScopeSuspension, by: Asking): Promise<void> {
  const isMovable = (op: Op) => runsOn(gov, op);
  const agents = [...agentsIn(gov, suspension)];
  await underWay(gov, suspension.id, async () => {
    const waiting = await opsOf(gov, agents, isMovable);
    if (waiting.length > 0) await move(gov, suspension, { by, action: 'resume', id: newControlId(gov), isMovable });
  });
  await gov.journal.turn(ownWork, () => gov.journal.apply({ kind: 'suspension_removed', suspension }));
}

/**
 * Finishes what a gateway has begun to impose or to lift, and could not. One of several gateways does this. One that fails
 * keeps none of the others from being finished.
 */
export async function settleSuspensions(gov: Controls): Promise<void> {
  const all = [...gov.directory.suspensions.all()];
  const failures: unknown[] = [];
  for (const suspension of all) await settle(gov, suspension).catch((error: unknown) => failures.push(error));
  if (failures.length === 0) return;
  throw new AggregateError(failures, `${failures.length} of ${all.length} suspensions could not be carried out`);
}

async function settle(gov: Controls, suspension: ScopeSuspension): Promise<void> {
  const { id, lifted, isSettled, since, actor } = suspension;
  const isLeft = gov.clock.now() - (lifted?.at ?? since) >= cutShortMs && !gov.control.settling.has(id);
  if (!isLeft) return;
  // Under a new id: the receipts of the first attempt have theirs.
  const again = { ...suspension, operations: { ...suspension.operations, controlId: newControlId(gov) } };
  if (lifted !== null) await resumeScope(gov, suspension, { actor: lifted.actor });
  else if (!isSettled) await moveForScope(gov, again, { actor });
}

interface Moving {
  readonly by: Asking;
  readonly action: ControlAction;
  readonly id: string;
  readonly isMovable: (op: Op) => boolean;
}

async function move(gov: Controls, suspension: ScopeSuspension, moving: Moving): Promise<BulkControl> {
  const { by, action, id, isMovable } = moving;
  const { orgId, teamId, lifted } = suspension;
  const ops = await opsOf(gov, [...agentsIn(gov, suspension)]);
  const concerned = action === 'resume' ? ops.filter(isMovable) : ops;
  const bulk: BulkControl = {
    id,
    action,
    scope: controlScopeOf(suspension),
    reason: lifted?.reason ?? suspension.reason,
    actor: by.actor,
    orgId,
    teamId,
    requestedAt: gov.clock.now(),
    ...countOf(concerned, isMovable),
    done: concerned.length <= opsPerTurn,
    idempotency: null,
  };
  const width = widthOf((lifted ?? suspension).imposedBy);
  return await runBulk(gov, {
    by,
    warrant: ownWork,
    bulk,
    ops: concerned,
    isMovable,
    cause: 'suspension',
    width,
  });
}

async function underWay<Result>(gov: Controls, id: string, work: () => Promise<Result>): Promise<Result> {
  const { settling } = gov.control;
  settling.add(id);
  try {
    return await work();
  } finally {
    settling.delete(id);
  }
}

function agentsIn({ directory }: Controls, { orgId, teamId }: ScopeSuspension): Iterable<Agent> {
  if (orgId === null) return directory.registered();
  return teamId === null ? directory.inOrg(orgId) : directory.inTeam(orgId, teamId);
}
