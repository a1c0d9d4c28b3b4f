import type { Op } from '../ops/op.ts';
import type { Decision } from '../audit/entry.ts';

/**
 * The answer to a check of an operation that is known already, or undefined where it is still to be decided: it is
 * new, or it was registered beforehand and this is its first check.
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
