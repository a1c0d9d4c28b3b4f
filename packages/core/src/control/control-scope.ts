import type { Standing, Principal } from '../access/index.ts';
import { refusalOf, widthOf, narrowedTo, standingOf } from '../access/index.ts';
import { lineageOfBinding, draftOf, canonicalJson, redactText } from '../audit/index.ts';
import type { Json } from '../audit/index.ts';
import type { Controls } from './controls.ts';
import { ownWork } from '../journal/index.ts';
import { invalid } from '../kernel/index.ts';
import { isOver, nextState } from '../ops/index.ts';
import type { Op, ControlAction } from '../ops/index.ts';
import type { Agent } from '../tenancy/index.ts';
import { visibleAgents } from '../tenancy/index.ts';
import type { BulkControl, ControlCounts, ControlScope, ControlResult } from './bulk-control.ts';
import { newControlId } from './control-op.ts';
import { holdRun, releaseRun, requireRelease, requireRoom, runReachOf } from './hold-run.ts';
import { issueControls, pausedBy, widensPause } from './issue-controls.ts';
import { resultOf } from './bulk-control.ts';

export interface ScopeRequest {
  readonly by: Principal;
  readonly action: ControlAction;
  readonly scope: ControlScope;
  readonly reason: string;
  /** Only reports what would be done. */
  readonly dryRun: boolean;
  /** The same request under the same key of the same credential acts once. */
  readonly idempotencyKey: string | null;
}

/**
 * How many operations move per turn of the event loop. A turn takes about as long as a decision, and decisions run in
 * between.
 */
const opsPerTurn = 8;
/** How many operations move before the control waits until all are durable, for slow stores. */
const opsPerWait = 64;
/** How many operations are looked at per turn. */
const looksPerTurn = 5000;

/** An operator pauses, resumes or terminates all operations in flight within a scope. Resolves once all are durable. */
export async function controlScope(gov: Controls, request: ScopeRequest): Promise<ControlResult> {
  const { by } = request;
  if (request.dryRun) {
    const reach = runReachOf(by, request.scope);
    if (reach !== undefined && request.action === 'resume') await requireRelease(gov, by, reach);
    else if (reach !== undefined) requireRoom(gov, by, reach);
    return await gov.journal.durable(async () => {
      const ops = await opsWithin(gov, by, request.scope);
      return { ...countOf(ops, mover(gov, by, request.action)), controlId: null };
    });
  }
  if (request.idempotencyKey === null) return await act(gov, request, null);
  const key = gov.sha256(`${by.actor.kind} ${by.credentialId} ${checkedKey(request.idempotencyKey)}`);
  const { action, reason } = request;
  const digest = gov.sha256(canonicalJson({ action, reason, scope: describeScope(request.scope) }));
  const known = gov.control.remembered.find(key, digest, gov.clock.now());
  if (known !== undefined) return await known;
  const result = act(gov, request, { key, digest });
  gov.control.remembered.remember(key, digest, gov.clock.now(), result);
  return await result;
}

async function act(
  gov: Controls,
  request: ScopeRequest,
  idempotency: BulkControl['idempotency'],
): Promise<ControlResult> {
  const { by, action, scope } = request;
  const warrant = gov.callers.warrantOf(by);
  const reason = redactText(request.reason);
  const id = newControlId(gov);
  await controlRun(gov, request, id, reason);
  const ops = await opsWithin(gov, by, scope);
  const isMovable = mover(gov, by, action);
  const within = narrowedTo(by, scope);
  const tenant = within === 'nothing' ? by : within;
  const bulk: BulkControl = {
    id,
    action,
    scope,
    reason,
    actor: by.actor,
    orgId: tenant.orgId ?? null,
    teamId: tenant.teamId ?? null,
    requestedAt: gov.clock.now(),
    ...countOf(ops, isMovable),
    done: ops.length <= opsPerTurn,
    idempotency,
  };
  const order = { by, action, reason, cause: 'operator', width: widthOf(by), bulkId: bulk.id } as const;
  /** Moves the operations of one turn. Leaves those alone that have moved on since they were found. */
  const move = (start: number): number => {
    const movable = ops.slice(start, start + opsPerTurn).filter((op) => isMovable(op) && gov.ops.holds(op));
    // By place, so that a turn that is done again gives the same ids.
    let place = start;
    const nextId = () => `${bulk.id}_${String(++place).padStart(7, '0')}`;
    return issueControls(gov, movable, { ...order, nextId }).length;
  };
  let isOvertaken = false;
  const begin = () => {
    isOvertaken = idempotency !== null && gov.control.remembered.isRestored(idempotency.key);
    if (isOvertaken) return 0;
    recordRequest(gov, by, bulk);
    gov.journal.write({ kind: 'bulk_control_saved', bulk });
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
  if (idempotency !== null) {
    // The same request may have been made at another gateway, because this one did not answer.
    issued += await allDurable(turns.splice(0));
    const known = isOvertaken
      ? gov.control.remembered.find(idempotency.key, idempotency.digest, gov.clock.now())
      : undefined;
    if (known !== undefined) return await known;
  }
  for (let start = opsPerTurn; start < ops.length; start += opsPerTurn) {
    if (start % opsPerWait === 0) {
      issued += await allDurable(turns);
      turns = [];
    } else await gov.journal.nextTurn();
    turns.push(inTurn(() => move(start)));
  }
  issued += await allDurable(turns);
  if (bulk.done) return resultOf(bulk);
  const finished = { ...bulk, changed: issued, skipped: ops.length - issued, done: true };
  await gov.journal.turn(ownWork, () => gov.journal.write({ kind: 'bulk_control_saved', bulk: finished }));
  return resultOf(finished);
}

/** A control of a run holds for later checks before it looks for operations, so that none comes in between. */
async function controlRun(gov: Controls, request: ScopeRequest, controlId: string, reason: string): Promise<void> {
  const { by, action, scope } = request;
  const reach = runReachOf(by, scope);
  if (reach === undefined) return;
  const warrant = gov.callers.warrantOf(by);
  if (action === 'resume') {
    await requireRelease(gov, by, reach);
    await gov.journal.turn(warrant, () => releaseRun(gov, by, reach, reason));
  } else await gov.journal.turn(warrant, () => holdRun(gov, { by, action, reach, reason, controlId }));
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

function recordRequest(gov: Controls, by: Principal, bulk: BulkControl): void {
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

/** The scope that a credential needs. Controlling everything, or a whole org, is for admins. */
export function neededForScope(scope: ControlScope): 'write' | 'admin' {
  const { all = false, orgId, teamId, agentId, runId } = scope;
  const named = [orgId, teamId, agentId, runId].filter((member) => member !== undefined).length;
  if (all && named > 0) throw invalid('scope', 'must be either "all" or org_id, team_id, agent_id and run_id');
  if (!all && named === 0) {
    throw invalid('scope', 'must name at least one of org_id, team_id, agent_id and run_id, or be {"all": true}');
  }
  return all || (named === 1 && orgId !== undefined) ? 'admin' : 'write';
}

/**
 * The operations in flight that are in scope and that the caller may reach. Only those known at the time of the request
 * count, though the search may take several turns.
 */
async function opsWithin(gov: Controls, by: Principal, scope: ControlScope): Promise<Op[]> {
  const { newest } = gov.ops;
  const found: Op[] = [];
  let looked = 0;
  // Copies the list: an agent that registers again in between would come twice.
  for (const agent of [...visibleAgents(gov, by, scope)]) {
    if (scope.agentId !== undefined && agent.record.id.agentId !== scope.agentId) continue;
    for (const op of gov.ops.of(agent)) {
      if (++looked % looksPerTurn === 0) await gov.journal.nextTurn();
      if (op.arrival > newest || isOver(op.state)) continue;
      if (scope.runId === undefined || op.runId === scope.runId) found.push(op);
    }
  }
  return found;
}

function countOf(ops: readonly Op[], isMovable: (op: Op) => boolean): ControlCounts {
  const changed = ops.filter(isMovable).length;
  return { matched: ops.length, changed, skipped: ops.length - changed };
}

/** Tells whether a control moves an operation or takes over its pause. What a caller may not resume stays as it is. */
function mover(gov: Controls, by: Principal, action: ControlAction): (op: Op) => boolean {
  const standings = new Map<Agent, Standing>();
  const standing = (agent: Agent): Standing => {
    const known = standings.get(agent) ?? standingOf(gov.keys, by, agent.record);
    standings.set(agent, known);
    return known;
  };
  return (op) => {
    if (action === 'pause' && widensPause(op, widthOf(by))) return true;
    if (isOver(op.state) || nextState(op.state, action) === undefined) return false;
    return action !== 'resume' || refusalOf('pause', standing(op.owner), pausedBy(op)) === null;
  };
}

function describeScope({ all, orgId, teamId, agentId, runId }: ControlScope): Json {
  return {
    ...(all === true ? { all } : {}),
    ...(orgId === undefined ? {} : { org_id: orgId }),
    ...(teamId === undefined ? {} : { team_id: teamId }),
    ...(agentId === undefined ? {} : { agent_id: agentId }),
    ...(runId === undefined ? {} : { run_id: redactText(runId) }),
  };
}

function checkedKey(key: string): string {
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw invalid('idempotency_key', 'must be 1 to 255 visible ASCII characters');
}
