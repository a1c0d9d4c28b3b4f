import { ReeveError } from './errors.ts';

/** Why a result is not given. */
export interface ResultRefusal {
  readonly opId: string;
  readonly reason: string;
  /** `<document>/<rule>`. Empty if no rule said so. */
  readonly policyRule?: string | undefined;
  /** `sdk`: the result could not be judged, so the SDK denied instead. */
  readonly source: 'gateway' | 'sdk';
}

/**
 * The action happened, and what it brought back must not be read: a rule on results denies it, or it could not be judged. Or
 * what was to be asked of a model could not be masked, and must not be sent.
 * `agent.run`, guarded functions and `operation.checkResult` throw this. It does not hold the result.
 */
export class ResultDenied extends ReeveError {
  readonly code = 'result_denied';
  readonly opId: string;
  readonly reason: string;
  readonly policyRule: string;
  readonly source: 'gateway' | 'sdk';

  constructor({ opId, reason, policyRule = '', source }: ResultRefusal) {
    super(`Denied by policy: ${reason === '' ? 'the result must not be read' : reason}`);
    this.opId = opId;
    this.reason = reason;
    this.policyRule = policyRule;
    this.source = source;
  }
}

/**
 * The work has failed, and its message was judged: masked, or left as it was where its error held more than that. Nothing else
 * of that error is left.
 */
export class MaskedError extends ReeveError {
  readonly code = 'masked_error';
}
