import type { CheckRequest } from '../action/index.ts';
import { withSubject } from '../action/index.ts';
import { canonicalJson } from '../audit/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import type { Agent } from '../tenancy/index.ts';
import { actorOf, identify } from '../tenancy/index.ts';
import type { Judgement } from './answer.ts';
import type { Decisions } from './decisions.ts';
import { countRefused } from './judge-delegation.ts';
import { proveSubject } from './prove-subject.ts';

/**
 * Finds out for whom a check is, before its turn. Only a check whose token is new has something to wait for. The token
 * of a stranger is not looked at; who is one is known once this gateway has heard what the others know.
 */
export function proveUser(gov: Decisions, request: CheckRequest): Promise<void> | undefined {
  if (request.subjectToken === '') return undefined;
  if (isKnown(gov, request)) return prove(gov, request);
  if (!gov.journal.isShared) return undefined;
  return gov.journal.catchUp().then(() => (isKnown(gov, request) ? prove(gov, request) : undefined));
}

function isKnown(gov: Decisions, { agentId, token }: CheckRequest): boolean {
  return identify(gov, agentId, token).known;
}

function prove(gov: Decisions, request: CheckRequest): Promise<void> | undefined {
  const subject = proveSubject(gov.subjects, request.subjectToken);
  if (subject instanceof Promise) return subject.then((found) => void withSubject(request, found));
  withSubject(request, subject);
  return undefined;
}

/** Why the user of a request is not proven at this moment. Undefined if there is none, or it is. */
export function whyNotProven({ subjectToken, subject }: CheckRequest, now: EpochMs): string | undefined {
  if (subject === null) return subjectToken === '' ? undefined : 'has not been verified; ask again';
  if (!subject.proven) return subject.why;
  return now < subject.until ? undefined : 'has expired';
}

/** Denies a check for a user that is not proven. It leaves no operation, only one audit entry, with nothing of the token. */
export function refuseUser(
  gov: Decisions,
  request: CheckRequest,
  agent: Agent,
  why: string,
  startedAt: number,
): Judgement {
  const counted = countRefused(gov, agent);
  const at = gov.clock.now();
  const reason = `subject token: ${why}`;
  const verdict = { decision: 'deny', reason, policyRule: 'identity' } as const;
  gov.journal.record({
    at,
    eventType: 'ActionDenied',
    lineage: agent.lineage,
    actor: actorOf(agent),
    opId: null,
    traceId: request.traceId === '' ? null : request.traceId,
    spanId: request.spanId === '' ? null : request.spanId,
    ...verdict,
    policyVersion: gov.policies.version,
    payload: canonicalJson({ action_type: request.action.type, ...counted }),
  });
  gov.journal.apply({ type: 'decision', at, agent: agent.record.id, ...verdict, opId: '' });
  return { ...verdict, tier: 'identity', op: undefined, startedAt };
}
