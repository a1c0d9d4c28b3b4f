import {
  BatchCheckRequest,
  BatchCheckResponse,
  CheckActionRequest,
  CheckActionResponse,
  CheckResultRequest,
  CheckResultResponse,
  CompleteActionRequest,
  CompleteActionResponse,
  IdentifyAgentRequest,
  IdentifyAgentResponse,
  bounds,
  paths,
} from '@reeve/contract';
import { isLocalAddress } from '@reeve/contract/host-name';
import { statusCode } from '@reeve/grpc-server/client';
import type { AgentName } from '../agent-identity/agent-name.ts';
import type { GrpcGateway } from '../agent-identity/grpc-gateway.ts';
import { GatewayAway, GatewayRefusal, UnaryCalls } from '../grpc/unary-calls.ts';

const patience = { connectMs: 2000, callMs: 5000 };

const methods = {
  identify: { path: paths.identifyAgent, request: IdentifyAgentRequest, response: IdentifyAgentResponse },
  check: { path: paths.checkAction, request: CheckActionRequest, response: CheckActionResponse },
  batch: { path: paths.batchCheck, request: BatchCheckRequest, response: BatchCheckResponse },
  result: {
    path: paths.checkResult,
    request: CheckResultRequest,
    response: CheckResultResponse,
    longest: bounds.resultMessage,
  },
  complete: { path: paths.completeAction, request: CompleteActionRequest, response: CompleteActionResponse },
};

/** The few calls of a hook. */
export class GatewayCalls implements Disposable {
  readonly #calls: UnaryCalls;

  private constructor(calls: UnaryCalls) {
    this.#calls = calls;
  }

  /** Connects to the first gateway that answers. */
  static async open({ addresses, tls }: GrpcGateway): Promise<GatewayCalls> {
    const failures: string[] = [];
    for (const address of addresses) {
      try {
        const secure = tls ?? (isLocalAddress(address) ? undefined : {});
        return new GatewayCalls(await UnaryCalls.open({ address, tls: secure, ...patience }));
      } catch (error) {
        failures.push(`${address}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    throw new GatewayAway(failures.join('; '));
  }

  async identify(token: string): Promise<AgentName> {
    const { agentId } = await this.#calls.call(methods.identify, { credentialToken: token });
    if (agentId === undefined)
      throw new GatewayRefusal(statusCode.internal, 'the gateway did not say whose token it is');
    return agentId;
  }

  /** Answers come in the order of the requests. */
  async check(requests: readonly CheckActionRequest[]): Promise<readonly CheckActionResponse[]> {
    const [only] = requests;
    if (requests.length === 1 && only !== undefined) return [await this.#calls.call(methods.check, only)];
    const { responses } = await this.#calls.call(methods.batch, { requests: [...requests] });
    if (responses.length !== requests.length)
      throw new GatewayRefusal(statusCode.internal, 'the gateway did not answer every check');
    return responses;
  }

  async checkResult(request: CheckResultRequest): Promise<CheckResultResponse> {
    return this.#calls.call(methods.result, request);
  }

  async complete(request: CompleteActionRequest): Promise<void> {
    await this.#calls.call(methods.complete, request);
  }

  [Symbol.dispose](): void {
    this.#calls[Symbol.dispose]();
  }
}
