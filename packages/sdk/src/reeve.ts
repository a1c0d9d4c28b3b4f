import { Agent } from './agent.ts';
import { fullAgentId } from './agent-id.ts';
import type { Settings } from './connect-options.ts';
import { ReeveInternal, ReeveUnauthenticated } from './errors.ts';
import type { CallOptions } from './outage/retry.ts';
import { GatewayLink } from './gateway-link.ts';
import type { AttachOptions, RegisterOptions, TokenOptions } from './register-options.ts';
import { registerRequest } from './register-options.ts';
import { rpc } from './rpc-methods.ts';
import { requireText } from './validate.ts';

const defaultHeartbeatSecs = 30;

/** A client of one gateway, or of several that act as one. Its agents share one connection. */
export class Reeve {
  readonly #link: GatewayLink;
  readonly #apiKey: string | undefined;

  constructor(settings: Settings, apiKey: string | undefined) {
    this.#link = new GatewayLink(settings);
    this.#apiKey = apiKey;
  }

  /** Registers an agent. If it is registered already, this replaces its token, and the old token stops at once. */
  async register(options: RegisterOptions, call: CallOptions = {}): Promise<Agent> {
    if (this.#apiKey === undefined) throw new ReeveUnauthenticated('no API key: give connect an apiKey');
    const request = registerRequest(options);
    const bearer = this.#apiKey;
    const answer = await this.#link.send(rpc.registerAgent, request, { ...this.#link.limits(call), bearer });
    return new Agent(this.#link, {
      id: fullAgentId(options),
      token: answer.credentialToken,
      created: answer.created,
      heartbeatMs: secondsToMs(answer.heartbeatIntervalSecs),
      shared: options.shared ?? false,
      events: options,
    });
  }

  /** Acts as a registered agent with its token. Needs no API key. */
  attach(options: AttachOptions): Agent {
    return new Agent(this.#link, {
      id: fullAgentId(options),
      token: requireText('token', options.token),
      created: false,
      heartbeatMs: secondsToMs(options.heartbeatIntervalSecs ?? defaultHeartbeatSecs),
      shared: options.shared ?? false,
      events: options,
    });
  }

  /** Acts as the registered agent whose token this is. Throws `ReeveUnauthenticated` if it is nobody's. */
  async agent(options: TokenOptions, call: CallOptions = {}): Promise<Agent> {
    const request = { credentialToken: requireText('token', options.token) };
    const { agentId } = await this.#link.send(rpc.identifyAgent, request, this.#link.limits(call));
    if (agentId === undefined) throw new ReeveInternal('the answer of the gateway names no agent');
    return this.attach({ ...options, ...agentId });
  }

  /**
   * Ends the connection, the heartbeats and the control of all agents at once. Calls in flight and waiting operations
   * reject with `ReeveClosed`. Registrations stay.
   */
  close(): void {
    this.#link.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

function secondsToMs(seconds: number): number {
  return (seconds > 0 && seconds <= 86_400 ? seconds : defaultHeartbeatSecs) * 1000;
}
