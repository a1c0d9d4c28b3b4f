import { status } from '@grpc/grpc-js';
import type {
  CheckActionRequest as CheckRequest,
  CheckActionResponse as CheckResponse,
  CheckResultResponse as ResultResponse,
  RegisterAgentRequest as RegisterRequest,
  RegisterAgentResponse as RegisterResponse,
} from '@reeve/contract';
import { Decision } from '@reeve/contract';

/** Fails the call with a status. */
export interface Failure {
  readonly code: status;
  readonly details: string;
}

/** `cut` breaks every connection instead of answering. `silence` never answers. */
type Reply<Response> = Response | Failure | 'cut' | 'silence';

export type Play<Request, Response> = (request: Request, nth: number) => Reply<Response> | Promise<Reply<Response>>;

export function isFailure(reply: object): reply is Failure {
  return 'code' in reply && 'details' in reply;
}

export function unavailable(details = 'not now'): Failure {
  return { code: status.UNAVAILABLE, details };
}

export function answering(
  decision: Decision,
  request: CheckRequest,
  extra: Partial<CheckResponse> = {},
): CheckResponse {
  return {
    decision,
    reason: '',
    policyRule: 'test/rule',
    approvalId: '',
    decisionLatencyUs: 7,
    opId: `${request.traceId}:${request.spanId}`,
    opState: decision === Decision.ALLOW ? 'running' : 'terminated',
    limit: undefined,
    judgeResult: false,
    ...extra,
  };
}

export function allowing(request: CheckRequest): CheckResponse {
  return answering(Decision.ALLOW, request);
}

/** Allows with a result to be judged. */
export function judging(request: CheckRequest): CheckResponse {
  return answering(Decision.ALLOW, request, { judgeResult: true });
}

export function passing(): ResultResponse {
  return { decision: Decision.ALLOW, reason: '', policyRule: 'default', labels: [] };
}

export function masking(text: string): ResultResponse {
  return { ...passing(), policyRule: 'test/mask', resultJson: Buffer.from(text) };
}

export function denying(reason: string): (request: CheckRequest) => CheckResponse {
  return (request) => answering(Decision.DENY, request, { reason });
}

export function registering(heartbeatIntervalSecs = 30): (request: RegisterRequest) => RegisterResponse {
  return ({ credentialToken }) => ({
    credentialToken,
    heartbeatIntervalSecs,
    created: true,
    expiresAt: '',
    metadata: {},
  });
}
