import {
  ActionType,
  CheckActionRequest,
  CheckActionResponse,
  decisionNames,
  DeregisterAgentRequest,
  DeregisterAgentResponse,
  paths,
  RegisterAgentRequest,
  RegisterAgentResponse,
} from '@reeve/contract';
import type { UnaryMethod } from '../grpc/unary-calls.ts';
import { GatewayRefusal, UnaryCalls } from '../grpc/unary-calls.ts';
import type { AgentPort } from '../tenant-probe/ports.ts';

const patience = { connectMs: 3000, callMs: 20_000 };

const methods = {
  register: { path: paths.registerAgent, request: RegisterAgentRequest, response: RegisterAgentResponse },
  check: { path: paths.checkAction, request: CheckActionRequest, response: CheckActionResponse },
  deregister: { path: paths.deregisterAgent, request: DeregisterAgentRequest, response: DeregisterAgentResponse },
};

/** The agent side of the tenant probe. */
export class GrpcAgents implements AgentPort, Disposable {
  readonly #calls: UnaryCalls;

  private constructor(calls: UnaryCalls) {
    this.#calls = calls;
  }

  /** Connects. Rejects if nobody answers. */
  static async open(address: string, hasTls: boolean): Promise<GrpcAgents> {
    return new GrpcAgents(await UnaryCalls.open({ address, tls: hasTls ? {} : undefined, ...patience }));
  }

  readonly registerAgent: AgentPort['registerAgent'] = async (credential, { id, parent, name }) => {
    const message = {
      agentId: id,
      credentialToken: '',
      name,
      framework: '',
      version: '',
      parentAgentId: parent,
      metadata: {},
      toolNames: [],
    };
    const { credentialToken } = await this.#call(methods.register, message, credential);
    return { token: credentialToken };
  };

  readonly check: AgentPort['check'] = async (agent, about = { runId: '', opId: undefined }) => {
    const [traceId = '', spanId = ''] = about.opId?.split(':') ?? [];
    const { decision, opId } = await this.#call(methods.check, {
      agentId: agent.id,
      credentialToken: agent.token,
      traceId,
      spanId,
      actionType: ActionType.TOOL_CALL,
      context: {
        action: {
          $case: 'toolCall',
          value: { toolName: 'reeve-doctor', toolSource: '', argsJson: new Uint8Array(), targetUrl: '' },
        },
      },
      callerAgentId: undefined,
      estimatedCostMicros: undefined,
      runId: about.runId,
      summary: 'tenant probe of reeve doctor',
      canRewrite: false,
    });
    return { decision: decisionNames.nameOf(decision) ?? 'deny', opId };
  };

  readonly deregisterAgent: AgentPort['deregisterAgent'] = async (agent) => {
    const message = { agentId: agent.id, credentialToken: agent.token, reason: 'tenant probe' };
    await this.#call(methods.deregister, message);
  };

  /** The probe compares refusals, and their statuses with them. */
  async #call<Request, Response>(
    method: UnaryMethod<Request, Response>,
    message: Request,
    bearer?: string,
  ): Promise<Response> {
    try {
      return await this.#calls.call(method, message, bearer);
    } catch (error) {
      if (!(error instanceof GatewayRefusal)) throw error;
      throw new Error(`gRPC status ${error.status}: ${error.message}`, { cause: error });
    }
  }

  [Symbol.dispose](): void {
    this.#calls[Symbol.dispose]();
  }
}
