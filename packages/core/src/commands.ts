import type { Principal, Scope } from './access/index.ts';
import { requireScope } from './access/index.ts';
import type { Approval, Approve, Verdict, StandingGrant, RevokeGrant } from './approvals/index.ts';
import { approveAction, rejectAction, readVerdictContext, readGrant, revokeGrant } from './approvals/index.ts';
import type {
  AckRequest,
  ControlledOp,
  ControlOp,
  ScopeRequest,
  ControlResult,
  ClearedLabels,
  ClearLabels,
  SuspendAgent,
  SuspendScope,
  LiftSuspension,
} from './control/index.ts';
import {
  acknowledgeControl,
  readAcknowledged,
  clearLabels,
  controlOp,
  controlScope,
  controlScopeOf,
  liftSuspension,
  neededForScope,
  readOwnership,
  resumeAgent,
  suspendAgent,
  suspendScope,
} from './control/index.ts';
import type { Decisions } from './decision/index.ts';
import type { Warrant } from './journal/index.ts';
import type { AgentId } from './kernel/index.ts';
import { checkLength, longest } from './kernel/index.ts';
import type { CompleteOp, CompleteRequest, OpRecord, RegisteredOp, RegisterOp } from './ops/index.ts';
import { completeAction, completeOp, registerOp } from './ops/index.ts';
import type { DeregisterRequest, RegisterRequest, Registration, ReportToolsRequest } from './tenancy/index.ts';
import type { DelegateRequest, EndDelegation, GrantedDelegation, RenewedToken } from './tenancy/index.ts';
import type { RenewRequest, RevokeDelegationRequest, ScopeSuspension } from './tenancy/index.ts';
import { agentWarrant, delegateAgent, deregisterAgent, endDelegationOf, registerAgent } from './tenancy/index.ts';
import { renewToken, reportTools, revokeDelegation } from './tenancy/index.ts';

/** Every command with its request and its answer. Both are plain data, so a command can travel to its target. */
interface Commands {
  readonly control_op: Asked<ControlOp, ControlledOp>;
  readonly complete_op: Asked<CompleteOp, OpRecord>;
  readonly register_op: Asked<RegisterOp, RegisteredOp>;
  readonly control_scope: Asked<ScopeRequest, ControlResult>;
  readonly suspend_agent: Asked<SuspendAgent, void>;
  readonly resume_agent: Asked<SuspendAgent, void>;
  readonly suspend_scope: Asked<SuspendScope, ScopeSuspension>;
  readonly lift_suspension: Asked<LiftSuspension, ScopeSuspension>;
  readonly clear_labels: Asked<ClearLabels, ClearedLabels>;
  readonly approve: Asked<Approve, Approval>;
  readonly reject: Asked<Verdict, Approval>;
  readonly revoke_grant: Asked<RevokeGrant, StandingGrant>;
  readonly end_delegation: Asked<EndDelegation, void>;
  readonly register_agent: Asked<RegisterRequest, Registration>;
  // Agents prove their identity with their own token.
  readonly deregister_agent: Asked<DeregisterRequest, void>;
  readonly delegate_agent: Asked<DelegateRequest, GrantedDelegation>;
  readonly revoke_delegation: Asked<RevokeDelegationRequest, void>;
  readonly complete_action: Asked<CompleteRequest, OpRecord>;
  readonly acknowledge_control: Asked<AckRequest, void>;
  readonly report_tools: Asked<ReportToolsRequest, void>;
  readonly renew_token: Asked<RenewRequest, RenewedToken>;
}

interface Asked<Request, Answer> {
  readonly request: Request;
  readonly answer: Answer;
}

type Kind = keyof Commands;
export type Command<K extends Kind = Kind> = {
  readonly [Each in K]: { readonly kind: Each } & Commands[Each]['request'];
}[K];
export type AnswerTo<K extends Kind> = Commands[K]['answer'];

type Execution<K extends Kind> = (gov: Decisions, request: Commands[K]['request']) => Promise<AnswerTo<K>>;

const executions: { readonly [K in Kind]: Execution<K> } = {
  control_op: inOneTurn(controlOp),
  complete_op: inOneTurn(completeOp),
  register_op: inOneTurn(registerOp),
  control_scope: (gov, request) => {
    authorise(request, neededForScope(request.scope));
    // It acts in many turns, each for its caller.
    return controlScope(gov, request);
  },
  suspend_agent: inOneTurn(suspendAgent),
  resume_agent: inOneTurn(resumeAgent),
  suspend_scope: (gov, request) => {
    const { orgId = null, teamId = null } = request;
    authorise(request, neededForScope(controlScopeOf({ orgId, teamId })));
    return suspendScope(gov, request);
  },
  // What it takes depends on the suspension, which the use case finds.
  lift_suspension: (gov, request) => {
    authorise(request);
    return liftSuspension(gov, request);
  },
  clear_labels: afterReading(readOwnership, clearLabels),
  approve: afterReading(readVerdictContext, approveAction),
  reject: afterReading(readVerdictContext, rejectAction),
  revoke_grant: afterReading(readGrant, revokeGrant),
  register_agent: inOneTurn(registerAgent),
  deregister_agent: inOneTurn(deregisterAgent),
  delegate_agent: inOneTurn(delegateAgent),
  revoke_delegation: inOneTurn(revokeDelegation),
  end_delegation: inOneTurn(endDelegationOf),
  complete_action: inOneTurn(completeAction),
  acknowledge_control: afterReading(readAcknowledged, acknowledgeControl),
  report_tools: inOneTurn(reportTools),
  renew_token: inOneTurn(renewToken),
};

/**
 * The one door for commands. It authorises the caller, lets the use case find its target and act on it, and answers
 * once the change is durable.
 */
export async function execute<K extends Kind>(gov: Decisions, command: Command<K>): Promise<AnswerTo<K>> {
  const { kind } = command;
  return await executions[kind](gov, command);
}

/** The door as transports hold it. They need nothing else to change anything. */
export type Execute = <K extends Kind>(command: Command<K>) => Promise<AnswerTo<K>>;

export function executorOf(gov: Decisions): Execute {
  return (command) => execute(gov, command);
}

/** A credential must cover the command. The use case identifies an agent by its token. */
type Request =
  | { readonly by: Principal; readonly reason?: string }
  | { readonly agentId: AgentId | undefined; readonly token: string };

function authorise(request: Request, needed: Scope = 'write'): void {
  if (!('by' in request)) return;
  requireScope(request.by, needed);
  checkLength('reason', request.reason ?? '', longest.text);
}

/** Whoever asks must be who it was when the command came, at every run of the turn. */
function warrantOf(gov: Decisions, request: Request): Warrant {
  return 'by' in request ? gov.callers.warrantOf(request.by) : agentWarrant(gov, request.agentId, request.token);
}

/** For a use case that never waits: of two concurrent commands, the second sees what the first did. */
function inOneTurn<Asked extends Request, Answer>(act: (gov: Decisions, request: Asked) => Answer) {
  return async (gov: Decisions, request: Asked): Promise<Answer> => {
    authorise(request);
    return await gov.journal.turn(warrantOf(gov, request), () => act(gov, request));
  };
}

/** For a use case that first reads from the store. After the read it never waits. */
function afterReading<Asked extends Request, Read, Answer>(
  read: (gov: Decisions, request: Asked) => Read | Promise<Read>,
  act: (gov: Decisions, request: Asked, found: Read) => Answer,
) {
  return async (gov: Decisions, request: Asked): Promise<Answer> => {
    authorise(request);
    const found = await gov.journal.fresh(() => read(gov, request));
    return await gov.journal.turn(warrantOf(gov, request), () => act(gov, request, found));
  };
}
