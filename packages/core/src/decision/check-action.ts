import { identityOf, keptUser, resourceOf, userOf } from '../action/index.ts';
import type { CheckRequest } from '../action/index.ts';
import type { Approval } from '../approvals/index.ts';
import { announceApproval, requestApproval } from '../approvals/index.ts';
import type { Actor, EntryDraft, Decision } from '../audit/index.ts';
import { canonicalJson, draftOf, redactText } from '../audit/index.ts';
import type { Answer, Judgement } from './answer.ts';
import { answerOf, describeDecision } from './answer.ts';
import type { Decided } from './decide.ts';
import { decide } from './decide.ts';
import { replayMasked } from './replay-masked.ts';
import type { Decisions } from './decisions.ts';
import { countCheck, delegatorsIn } from './judge-delegation.ts';
import { keepRewrite, replayRewritten } from './kept-rewrite.ts';
import { pace } from './pace.ts';
import { proveAsker } from './prove-asker.ts';
import { refuseUser, whyNotProven } from './prove-user.ts';
import { refuseIdentity } from './refuse-identity.ts';
import { refuseByControl } from './refuse-by-control.ts';
import { ownWork } from '../journal/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import { timestamp, traceIdsOf, traceIdsIn } from '../kernel/index.ts';
import { bareRecord, inRun, moveByDecision, noteUse, recordOf } from '../ops/index.ts';
import type { Op, OpRecord } from '../ops/index.ts';
import type { InRun } from '../runs/index.ts';
import { giveLabels, keyOfPlace, makeRoomForRun, noLabels, placeOfRun } from '../runs/index.ts';
import type { Agent } from '../tenancy/index.ts';
import { actorOf, touchAgent, identify, linksOf } from '../tenancy/index.ts';

/** Judges one action and answers once the decision is durable. */
export function checkAction(gov: Decisions, request: CheckRequest): Promise<Answer> {
  const proving = proveAsker(gov, request);
  return proving === undefined ? checkProven(gov, request) : proving.then(() => checkProven(gov, request));
}

/** The same, once `proveAsker` is done. */
export function checkProven(gov: Decisions, request: CheckRequest): Promise<Answer> {
  // Who asks is part of the judgement.
  return gov.journal
    .turn(ownWork, () => judge(gov, request))
    .then((judgement) => answerOf(judgement, gov.clock.elapsed()));
}

/** Judges each action on its own, in order, and answers once all are durable. A long batch yields to others. */
export async function checkActions(gov: Decisions, requests: readonly CheckRequest[]): Promise<Answer[]> {
  await pace(gov, requests, (request) => proveAsker(gov, request));
  const judging: Promise<Judgement>[] = [];
  await pace(gov, requests, (request) => {
    const judgement = gov.journal.turn(ownWork, () => judge(gov, request));
    // The end of the batch waits for it. Until then nobody handles a failure.
    judgement.catch(() => undefined);
    judging.push(judgement);
    return undefined;
  });
  const judgements = await Promise.all(judging);
  const answeredAt = gov.clock.elapsed();
  return judgements.map((judgement) => answerOf(judgement, answeredAt));
}

/**
 * The decision path, in the spec's order: identify the agent, ingest the operation, evaluate policy, reserve the cost
 * in the budgets, move the operation, record one audit entry, tell the decision. All of it happens in memory, by facts,
 * without waiting. The caller waits for the journal before the answer leaves.
 */
export function judge(gov: Decisions, request: CheckRequest): Judgement {
  const startedAt = gov.clock.elapsed();
  const identity = identify(gov, request.agentId, request.token);
  if (!identity.known) return refuseIdentity(gov, request, identity, startedAt);

  const { agent } = identity;
  touchAgent(gov, agent, startedAt);
  // One time for the whole decision: a restart reads it from the entry.
  const now = gov.clock.now();
  const unproven = whyNotProven(request, now);
  if (unproven !== undefined) return refuseUser(gov, request, agent, unproven, startedAt);
  const { traceId, spanId } = traceIdsOf(request, gov.randomness);
  const user = userOf(request);
  const digest = gov.sha256(identityOf(request.action, user));
  noteUse(gov, agent, request, now);
  const opId = `${traceId}:${spanId}`;
  const links = linksOf(gov.directory, agent);
  const known = gov.ops.find(agent, opId);
  const replay = known === undefined ? undefined : answerReplay(known, digest);
  if (known !== undefined && replay !== undefined) {
    const approvalId = replay.decision === 'pending' ? gov.approvals.ofOp(agent.record.id, opId)?.id : undefined;
    const { policyRule } = known;
    const rewritten = replayRewritten(gov, known, request, replay);
    const answer = replayMasked(gov, { agent, links }, request, rewritten);
    const judgement: Judgement = { ...answer, policyRule, tier: 'replay', op: known, approvalId, startedAt };
    record(gov, request, agent, judgement, now, true);
    return judgement;
  }

  const arrival = known === undefined ? bareRecord(agent.record.id, opId, now) : recordOf(known);
  const asker = { agent, links };
  const run: InRun = { agent: agent.record.id, runId: redactText(request.runId), delegators: delegatorsIn(links) };
  const forgottenAt = makeRoomForRun(gov, run, now);
  if (forgottenAt !== undefined) recordRunStarted(gov, agent, run, forgottenAt, now);
  const decided =
    refuseByControl(gov, asker, run.runId, request.estimatedCostMicros ?? 0, now) ??
    decide(gov, asker, request, run, now);
  if (decided.isUncounted !== true) countCheck(gov, links);
  const { reason, question, rewritten } = decided;
  const isKept = rewritten !== undefined && decided.decision !== 'deny';
  const rewrite = isKept ? keepRewrite(gov, agent.record.id, opId, rewritten) : null;
  const labels = decided.labels ?? noLabels;
  const owedLabels = question === undefined ? noLabels : labels;
  const decidedOn = decidedRecord(arrival, request, run, digest, decided, { owedLabels, rewrite });
  let op: Op;
  let approval: Approval | undefined;
  if (question === undefined) {
    const cause = { actor: actorOf(agent), reason };
    const trigger = decided.decision === 'allow' ? 'allow' : 'terminate';
    op = moveByDecision(gov, agent, known, decidedOn, trigger, cause, now);
    if (labels.length > 0) giveLabels(gov, decidedOn, labels, now);
  } else {
    if (known === undefined) arrive(gov, decidedOn);
    op = known ?? gov.ops.get(agent, opId);
    gov.journal.apply({ kind: 'op_asked', op: decidedOn });
    approval = requestApproval(gov, rewritten?.request ?? request, op, question, now);
  }
  const judgement: Judgement = { ...decided, op, approvalId: approval?.id, startedAt };
  record(gov, request, agent, judgement, now, false);
  if (approval !== undefined) announceApproval(gov, approval);
  return judgement;
}

/** The check takes up the id of a run that was forgotten. What that one had counted, and its labels, are gone. */
function recordRunStarted(
  { journal }: Decisions,
  agent: Agent,
  { runId }: InRun,
  forgottenAt: EpochMs,
  at: EpochMs,
): void {
  const payload = canonicalJson({ forgotten_at: timestamp(forgottenAt), run_id: runId === '' ? null : runId });
  journal.record(draftOf({ at, eventType: 'RunStarted', lineage: agent.lineage, actor: actorOf(agent), payload }));
}

/** An operation becomes known that waits for people. */
function arrive({ journal }: Decisions, op: OpRecord): void {
  journal.apply({ type: 'ops_change', at: op.registeredAt, agent: op.agent, op });
}

/** The operation once it is decided: what it shows of the request, with secrets replaced, and what was decided. */
function decidedRecord(
  arrival: OpRecord,
  request: CheckRequest,
  { runId, delegators }: InRun,
  digest: string,
  { reason, policyRule, costMicros, reservedMicros, resultDuty }: Decided,
  { owedLabels, rewrite }: Pick<OpRecord, 'owedLabels' | 'rewrite'>,
): OpRecord {
  const { via } = request;
  return {
    ...arrival,
    actionType: request.action.type,
    resource: redactText(resourceOf(request.action)),
    summary: request.summary === '' ? arrival.summary : redactText(request.summary),
    runId,
    delegators,
    via: via === null ? null : { door: via.door, name: redactText(via.name) },
    // What a floor holds may act as a delegate, so none speaks for a kernel.
    floor: request.floor && delegators.length === 0,
    digest,
    reason,
    policyRule,
    costMicros,
    reservedMicros,
    owedLabels,
    resultDuty: resultDuty ?? null,
    rewrite,
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
  const user = userOf(request);
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
    // The log finds entries by their user.
    user: user === null ? undefined : keptUser(user),
    run: replay ? undefined : keyOfPlace(placeOfRun(inRun(op))),
  };
  gov.journal.record(draft, replay ? undefined : op);
  // That of a first check which decides is said with the operation.
  if (!replay && decision !== 'pending') return;
  gov.journal.apply({
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
 * The answer to a check of a known operation. Undefined if the check still has to decide: the operation was registered
 * beforehand and this is its first check.
 */
export function answerReplay(
  op: Op,
  digest: string,
): { readonly decision: Decision; readonly reason: string } | undefined {
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
