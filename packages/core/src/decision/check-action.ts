import { identityOf, resourceOf } from '../action/index.ts';
import type { CheckRequest } from '../action/index.ts';
import { announceApproval, requestApproval } from '../approvals/index.ts';
import type { Actor, EntryDraft, Decision } from '../audit/index.ts';
import { redactText } from '../audit/index.ts';
import type { Answer, Judgement } from './answer.ts';
import { answerOf, describeDecision } from './answer.ts';
import { decide } from './decide.ts';
import type { Decisions } from './decisions.ts';
import { refuseIdentity } from './refuse-identity.ts';
import { refuseByControl } from './refuse-by-control.ts';
import { ownWork, restsOn } from '../journal/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import { traceIdsOf, traceIdsIn } from '../kernel/index.ts';
import { moveByDecision, noteUse, opsChange, recordOf } from '../ops/index.ts';
import type { Op, OpMembers } from '../ops/index.ts';
import type { Agent } from '../tenancy/index.ts';
import { actorOf, touchAgent, identify } from '../tenancy/index.ts';

/** Judges one action and answers once the decision is durable. */
export function checkAction(gov: Decisions, request: CheckRequest): Promise<Answer> {
  // Who asks is part of the judgement.
  return gov.journal
    .turn(ownWork, () => judge(gov, request))
    .then((judgement) => answerOf(judgement, gov.clock.elapsed()));
}

/** How long a batch or a stream may keep others waiting, in milliseconds. */
export const longestStretch = 2;

/** Judges each action on its own, in order, and answers once all are durable. A long batch yields to others. */
export async function checkActions(gov: Decisions, requests: readonly CheckRequest[]): Promise<Answer[]> {
  const judging: Promise<Judgement>[] = [];
  let stretch = gov.clock.elapsed();
  for (const request of requests) {
    const judgement = gov.journal.turn(ownWork, () => judge(gov, request));
    // The end of the batch waits for it. Until then nobody handles a failure.
    judgement.catch(() => undefined);
    judging.push(judgement);
    if (gov.clock.elapsed() - stretch < longestStretch) continue;
    await gov.journal.nextTurn();
    stretch = gov.clock.elapsed();
  }
  const judgements = await Promise.all(judging);
  return judgements.map((judgement) => answerOf(judgement, gov.clock.elapsed()));
}

/**
 * The decision path, in the spec's order: identify the agent, ingest the operation, evaluate policy, reserve the cost
 * in the budgets, move the operation, record one audit entry, publish the transitions and the decision. All of it
 * happens in memory, without waiting. The caller waits for the journal before the answer leaves.
 */
export function judge(gov: Decisions, request: CheckRequest): Judgement {
  const startedAt = gov.clock.elapsed();
  const identity = identify(gov.directory, gov.sha256, request.agentId, request.token);
  if (!identity.known) return refuseIdentity(gov, request, identity, startedAt);

  const { agent } = identity;
  touchAgent(gov, agent, startedAt);
  const { traceId, spanId } = traceIdsOf(request, gov.randomness);
  const digest = gov.sha256(identityOf(request.action));
  // One time for the whole decision: a restart reads it from the entry.
  const now = gov.clock.now();
  noteUse(gov, agent, request, now);
  const { op, created } = gov.ops.ingest(agent, `${traceId}:${spanId}`, now);
  const replay = answerReplay(op, created, digest);
  if (replay !== undefined) {
    const approvalId = replay.decision === 'pending' ? gov.approvals.ofOp(agent.record.id, op.opId)?.id : undefined;
    const judgement: Judgement = { ...replay, policyRule: op.policyRule, tier: 'replay', op, approvalId, startedAt };
    // A replay changes nothing, but rests on the operation as it is. So it is also done again with the turns before it:
    // one of them may be the decision.
    gov.journal.restOnAll();
    gov.journal.onlyIf(({ touched }) => !restsOn({ agents: [agent.key], orgs: [], everything: false }, touched));
    record(gov, request, agent, judgement, now, true);
    return judgement;
  }

  const arrival = created ? opsChange(op) : undefined;
  // This takes back all that the decision changes: the later changes are of the same members.
  const undescribe = gov.ops.change(op, described(op, request, digest));
  gov.journal.onFailure(created ? () => gov.ops.forget(op) : undescribe);

  const decided = refuseByControl(gov, agent, op, now) ?? decide(gov, agent, request, op, now);
  gov.ops.change(op, { policyRule: decided.policyRule, reason: decided.reason });
  const approval =
    decided.question === undefined ? undefined : requestApproval(gov, request, op, decided.question, now);
  // Only one event tells of the arrival. What is decided at once is told by the next one, so a bare arrival is enough.
  if (arrival !== undefined) gov.journal.publish(approval === undefined ? arrival : opsChange(op));
  if (approval === undefined) {
    const cause = { actor: actorOf(agent), reason: decided.reason };
    moveByDecision(gov, op, decided.decision === 'allow' ? 'allow' : 'terminate', cause, now);
  }
  if (request.runId !== '') gov.journal.onFailure(gov.runs.count(agent.record.id, request.runId, op.reservedMicros));
  const judgement: Judgement = { ...decided, op, approvalId: approval?.id, startedAt };
  record(gov, request, agent, judgement, now, false);
  if (approval !== undefined) {
    gov.journal.write({ kind: 'op_asked', op: recordOf(op) });
    announceApproval(gov, approval);
  }
  return judgement;
}

/** What the operation shows of the request, with secrets replaced. */
function described({ reason, policyRule, summary }: Op, request: CheckRequest, digest: string): Partial<OpMembers> {
  const { via } = request;
  return {
    actionType: request.action.type,
    resource: redactText(resourceOf(request.action)),
    summary: request.summary === '' ? summary : redactText(request.summary),
    runId: redactText(request.runId),
    via: via === null ? null : { door: via.door, name: redactText(via.name) },
    reason,
    costMicros: request.estimatedCostMicros ?? 0,
    policyRule,
    digest,
  };
}

const eventTypes = { allow: 'ActionAllowed', deny: 'ActionDenied', pending: 'ActionPending' } as const;

function record(
  gov: Decisions,
  request: CheckRequest,
  agent: Agent,
  judgement: Judgement,
  at: EpochMs,
  replay: boolean,
): void {
  const { op, decision } = judgement;
  if (op === undefined) return;
  const actor: Actor = actorOf(agent);
  const { traceId, spanId } = traceIdsIn(op.opId);
  const draft: EntryDraft = {
    at,
    eventType: judgement.limit === undefined ? eventTypes[decision] : 'BudgetLimitExceeded',
    lineage: agent.lineage,
    actor,
    opId: op.opId,
    traceId,
    spanId,
    decision,
    reason: judgement.reason,
    policyRule: judgement.policyRule,
    policyVersion: gov.policies.version,
    payload: describeDecision(request, op, replay, gov.sha256, judgement),
  };
  gov.journal.record(draft, replay ? undefined : op);
  gov.journal.publish({
    type: 'decision',
    at,
    agent: agent.record.id,
    decision,
    reason: judgement.reason,
    policyRule: judgement.policyRule,
    opId: op.opId,
  });
}

/**
 * The answer to a check of a known operation. Undefined if the check still has to decide: the operation is new, or it
 * was registered beforehand and this is its first check.
 */
export function answerReplay(
  op: Op,
  created: boolean,
  digest: string,
): { readonly decision: Decision; readonly reason: string } | undefined {
  if (created) return undefined;
  if (op.digest !== '' && op.digest !== digest) {
    return { decision: 'deny', reason: 'operation id was used for another request' };
  }
  switch (op.state) {
    case 'pending':
      return op.digest === '' ? undefined : { decision: 'pending', reason: op.reason };
    case 'running':
      return { decision: 'allow', reason: op.reason };
    case 'paused':
      return { decision: 'pending', reason: 'operation is paused' };
    case 'completing':
      return { decision: 'deny', reason: 'operation is completing' };
    case 'terminated':
      return { decision: 'deny', reason: op.reason === '' ? 'operation is terminated' : op.reason };
  }
}
