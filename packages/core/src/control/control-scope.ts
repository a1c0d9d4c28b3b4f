import type { Standing, Principal } from '../access/index.ts';
import { refusalOf, widthOf, narrowedTo, standingOf } from '../access/index.ts';
import { canonicalJson, redactText } from '../audit/index.ts';
import type { Controls } from './controls.ts';
import { invalid } from '../kernel/index.ts';
import { isOver, nextState } from '../ops/index.ts';
import type { Op, ControlAction } from '../ops/index.ts';
import type { Agent } from '../tenancy/index.ts';
import { registeredBy, unreadBehind, visibleAgents } from '../tenancy/index.ts';
import type { BulkControl, ControlResult, ControlScope, Idempotency } from './bulk-control.ts';
import { resultOf } from './bulk-control.ts';
import { newControlId } from './control-op.ts';
import { holdRun, releaseRun, requireRelease, requireRoom, runReachOf } from './hold-run.ts';
import { deferResume, heldBy, takesOver } from './held-ops.ts';
import { pausedBy } from './issue-controls.ts';
import type { BulkOrder } from './run-bulk.ts';
import { countOf, describeScope, emptyScope, opsOf, opsPerTurn, runBulk } from './run-bulk.ts';

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

/** An operator pauses, resumes or terminates all operations in flight within a scope. Resolves once all are durable. */
export async function controlScope(gov: Controls, request: ScopeRequest): Promise<ControlResult> {
  const { by } = request;
  if (!hasAgents(gov, by, request.scope)) await gov.journal.fresh(() => requireAgents(gov, by, request.scope));
  if (request.dryRun) {
    const reach = runReachOf(by, request.scope);
    if (reach !== undefined && request.action === 'resume') await requireRelease(gov, by, reach);
    else if (reach !== undefined) requireRoom(gov, by, reach);
    return await gov.journal.durable(async () => {
      const { scope } = request;
      const ops = await opsOf(gov, agentsWithin(gov, by, scope), ({ runId }) => isInRun(runId, scope));
      return { ...countOf(ops, mover(gov, by, request.action)), controlId: null };
    });
  }
  if (request.idempotencyKey === null) return await act(gov, request, null);
  const key = gov.sha256(`${by.actor.kind} ${by.credentialId} ${checkedKey(request.idempotencyKey)}`);
  const { action, reason } = request;
  const digest = gov.sha256(canonicalJson({ action, reason, scope: describeScope(request.scope) }));
  const idempotency = { key, digest };
  const known = gov.control.remembered.find(idempotency, gov.clock.now());
  if (known !== undefined) return await known;
  const result = act(gov, request, idempotency);
  gov.control.remembered.begin(idempotency, result);
  return await result;
}

async function act(gov: Controls, request: ScopeRequest, idempotency: Idempotency | null): Promise<ControlResult> {
  const { by, action, scope } = request;
  const warrant = gov.callers.warrantOf(by);
  const reason = redactText(request.reason);
  const id = newControlId(gov);
  await controlRun(gov, request, id, reason);
  const ops = await opsOf(gov, agentsWithin(gov, by, scope), ({ runId }) => isInRun(runId, scope));
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
  const order: BulkOrder = { by, warrant, bulk, ops, isMovable, cause: 'operator', width: widthOf(by) };
  const finished = await runBulk(gov, {
    ...order,
    ...(action === 'resume' ? { prepare: deferrer(gov, by) } : {}),
    // The same request may have been made at another gateway, because this one did not answer.
    ...(idempotency === null ? {} : { overtakenBy: () => gov.control.remembered.known(idempotency, gov.clock.now()) }),
  });
  return resultOf(finished);
}

/** A control of a run holds for later checks before it looks for operations, so that none comes in between. */
async function controlRun(gov: Controls, request: ScopeRequest, controlId: string, reason: string): Promise<void> {
  const { by, action, scope } = request;
  const reach = runReachOf(by, scope);
  if (reach === undefined) return;
  const warrant = gov.callers.warrantOf(by);
  if (action === 'resume') {
    const liftable = await requireRelease(gov, by, reach);
    await gov.journal.turn(warrant, () => releaseRun(gov, { by, reach, liftable, reason }));
  } else await gov.journal.turn(warrant, () => holdRun(gov, { by, action, reach, reason, controlId }));
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

/** The agents in scope that the caller may reach. */
function agentsWithin(gov: Controls, by: Principal, scope: ControlScope): Agent[] {
  const { agentId } = scope;
  return [...visibleAgents(gov, by, scope)].filter(
    ({ record }) => agentId === undefined || record.id.agentId === agentId,
  );
}

/** Nobody stops what is not there: a mistyped name must not look like a stop. A run may be known by its name alone. */
function requireAgents(gov: Controls, by: Principal, scope: ControlScope): void {
  if (!hasAgents(gov, by, scope)) throw emptyScope();
}

function hasAgents(gov: Controls, by: Principal, scope: ControlScope): boolean {
  const { all, orgId, teamId, agentId } = scope;
  if (all === true || (orgId ?? teamId ?? agentId) === undefined) return true;
  return agentsWithin(gov, by, scope).length > 0;
}

function isInRun(runId: string, scope: ControlScope): boolean {
  return scope.runId === undefined || runId === scope.runId;
}

/** Tells whether a control moves an operation or takes over its pause. What a caller may not resume stays as it is. */
function mover(gov: Controls, by: Principal, action: ControlAction): (op: Op) => boolean {
  if (action !== 'resume') return (op) => takesOver(gov, op, action, widthOf(by)) || canMove(op, action);
  const mayResume = resumer(gov, by);
  return (op) => canMove(op, action) && heldBy(gov, op) === undefined && mayResume(op);
}

function canMove({ state }: Op, action: ControlAction): boolean {
  return !isOver(state) && nextState(state, action) !== undefined;
}

/** Resuming in a suspended scope takes effect once the scope is lifted. */
function deferrer(gov: Controls, by: Principal): (op: Op) => void {
  const mayResume = resumer(gov, by);
  return (op) => {
    if (canMove(op, 'resume') && heldBy(gov, op) !== undefined && mayResume(op)) deferResume(gov, op);
  };
}

function resumer(gov: Controls, by: Principal): (op: Op) => boolean {
  const standings = new Map<Agent, Standing>();
  return (op) => {
    if (unreadBehind(gov.directory, op.owner) !== undefined) return false;
    const standing = standings.get(op.owner) ?? standingOf(gov.keys, by, registeredBy(gov.directory, op.owner));
    standings.set(op.owner, standing);
    return refusalOf('pause', standing, pausedBy(op)) === null;
  };
}

function checkedKey(key: string): string {
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw invalid('idempotency_key', 'must be 1 to 255 visible ASCII characters');
}
