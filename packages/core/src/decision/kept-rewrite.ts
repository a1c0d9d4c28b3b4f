import type { CheckRequest } from '../action/index.ts';
import { identityOf, parseJson, userOf, withArgs } from '../action/index.ts';
import type { Decision, Json } from '../audit/index.ts';
import { redact } from '../audit/index.ts';
import type { AgentId } from '../kernel/index.ts';
import { fitsIn, mostBytesOfArguments } from '../kernel/index.ts';
import type { Op, OpRewrite } from '../ops/index.ts';
import type { ChangedMember } from '../policy/index.ts';
import { applyChanges } from '../policy/index.ts';
import type { Decisions } from './decisions.ts';
import { mustBeRewritten } from './rewrite-call.ts';
import type { RewrittenCall } from './rewritten-call.ts';

/** What the operation keeps of its rewriting, so that a replay gets the same arguments wherever it is asked. */
export function keepRewrite(
  gov: Pick<Decisions, 'rewrites' | 'sha256'>,
  agent: AgentId,
  opId: string,
  { request, changes }: RewrittenCall,
): OpRewrite {
  const digest = digestOf(gov, request);
  const text = JSON.stringify(changes.map(({ path, value }) => [path, value]));
  if (fitsIn(text, mostBytesOfArguments) && !changes.some(holdsSecret)) return { digest, changes: text };
  gov.rewrites.hold(agent, opId, text);
  return { digest, changes: null };
}

function digestOf({ sha256 }: Pick<Decisions, 'sha256'>, request: CheckRequest): string {
  return sha256(identityOf(request.action, userOf(request)));
}

/** A value may be secret by the names of the members that it is in. */
function holdsSecret({ path, value }: ChangedMember): boolean {
  const written = JSON.stringify(path.reduceRight<Json>((within, name) => ({ [name]: within }), value));
  return JSON.stringify(redact(JSON.parse(written) as Json)) !== JSON.stringify(JSON.parse(written));
}

/** The answer to a check of a known operation, with the arguments of the first answer. */
export interface ReplayAnswer {
  readonly decision: Decision;
  readonly reason: string;
  readonly rewritten?: RewrittenCall;
}

/** Gives the arguments of the first answer to a replay that may go on or waits. */
export function replayRewritten(
  gov: Pick<Decisions, 'rewrites' | 'sha256'>,
  { rewrite, owner, opId }: Op,
  request: CheckRequest,
  answer: ReplayAnswer,
): ReplayAnswer {
  if (rewrite === null || answer.decision === 'deny') return answer;
  if (!request.canRewrite) return { decision: 'deny', reason: mustBeRewritten };
  const text = rewrite.changes ?? gov.rewrites.find(owner.record.id, opId);
  const rewritten = text === undefined ? undefined : changedAgain(request, text);
  if (rewritten !== undefined && digestOf(gov, rewritten.request) === rewrite.digest) return { ...answer, rewritten };
  return { decision: 'deny', reason: notKnown };
}

const notKnown =
  'the rewritten arguments of this operation are not known here, because they are secret or long; ask with another id';

function changedAgain(request: CheckRequest, text: string): RewrittenCall {
  const read = parseJson(text, request.inexact) as unknown as readonly (readonly [readonly string[], Json])[];
  const changes = read.map(([path, value]) => ({ path, value }));
  return { request: withArgs(request, applyChanges(request.args ?? {}, changes)), changes };
}
