import type { IdentifyAgentResponse, RegisterAgentResponse } from '@reeve/contract';
import { Agent } from './agent.ts';
import type { FullAgentId } from './agent-id.ts';
import { fullAgentId } from './agent-id.ts';
import type { Settings } from './connect-options.ts';
import type { TokenLife } from './credential.ts';
import { ReeveInternal, ReeveUnauthenticated } from './errors.ts';
import type { CallOptions } from './outage/retry.ts';
import { GatewayLink } from './gateway-link.ts';
import type { AttachOptions, EnrollOptions, RegisterOptions, TokenOptions } from './register-options.ts';
import { registerRequest } from './register-options.ts';
import { rpc } from './rpc-methods.ts';
import { requireText } from './validate.ts';

const defaultHeartbeatSecs = 30;

export interface Enrollment {
  readonly id: FullAgentId;
  /** Empty if the agent stays as it is: see `tellMetadata`. */
  readonly token: string;
  /** False if the agent was registered already. Its old token has stopped. */
  readonly created: boolean;
  /** When the token ends; undefined: never. */
  readonly expiresAt: Date | undefined;
  /** Of an agent that stays as it is. */
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface Identified {
  readonly id: FullAgentId;
  readonly suspended: boolean;
  /** The issuers whose tokens the gateway takes as `subjectToken`. */
  readonly subjectIssuers: readonly string[];
}

/** A client of one gateway, or of several that act as one. Its agents share one connection. */
export class Reeve {
  readonly #link: GatewayLink;
  readonly #apiKey: string | undefined;

  /** @internal */
  constructor(settings: Settings, apiKey: string | undefined) {
    this.#link = new GatewayLink(settings);
    this.#apiKey = apiKey;
  }

  /** Registers an agent. If it is registered already, this replaces its token, and the old token stops at once. */
  async register(options: RegisterOptions, call: CallOptions = {}): Promise<Agent> {
    const answer = await this.#register(options, call);
    return new Agent(this.#link, {
      id: fullAgentId(options),
      token: answer.credentialToken,
      life: lifeOf(options.tokenTtlSecs ?? 0, Date.parse(answer.expiresAt)),
      created: answer.created,
      heartbeatMs: secondsToMs(answer.heartbeatIntervalSecs),
      shared: options.shared ?? false,
      waitsOnly: options.waitsOnly ?? false,
      events: options,
    });
  }

  /**
   * Registers an agent for others to act as, and returns its token. Here nobody acts as the agent: it has no control
   * stream and no heartbeats.
   */
  async enroll(options: EnrollOptions, call: CallOptions = {}): Promise<Enrollment> {
    const { credentialToken: token, created, expiresAt, metadata } = await this.#register(options, call);
    return { id: fullAgentId(options), token, created, expiresAt: endOf(expiresAt), metadata };
  }

  async #register(options: EnrollOptions, call: CallOptions): Promise<RegisterAgentResponse> {
    if (this.#apiKey === undefined) throw new ReeveUnauthenticated('no API key: give connect an apiKey');
    const request = registerRequest(options);
    const bearer = this.#apiKey;
    return this.#link.send(rpc.registerAgent, request, { ...this.#link.limits(call), bearer });
  }

  /** Acts as a registered agent with its token. Needs no API key. */
  attach(options: AttachOptions): Agent {
    const { tokenLife } = options;
    const life = tokenLife === undefined ? undefined : lifeOf(tokenLife.ttlSecs, tokenLife.expiresAt.getTime());
    return this.#attach(options, life);
  }

  #attach(options: AttachOptions, life: TokenLife | undefined): Agent {
    return new Agent(this.#link, {
      id: fullAgentId(options),
      life,
      token: requireText('token', options.token),
      created: false,
      heartbeatMs: secondsToMs(options.heartbeatIntervalSecs ?? defaultHeartbeatSecs),
      shared: options.shared ?? false,
      waitsOnly: options.waitsOnly ?? false,
      nextToken: options.nextToken,
      events: options,
    });
  }

  /** Acts as the registered agent whose token this is. Throws `ReeveUnauthenticated` if it is nobody's. */
  async agent(options: TokenOptions, call: CallOptions = {}): Promise<Agent> {
    // An agent of this client may have renewed it since.
    const token = this.#link.tokenNow(requireText('token', options.token));
    const { agentId, expiresAt, tokenTtlSecs } = await this.#identify(token, call);
    // The gateway renews only what it has issued with a life.
    const isRenewed = tokenTtlSecs > 0 || options.nextToken !== undefined;
    const life = isRenewed ? lifeOf(tokenTtlSecs, Date.parse(expiresAt)) : undefined;
    return this.#attach({ ...options, ...agentId, token }, life);
  }

  /**
   * Gets a new token for an agent that nobody acts as here, with the life of the old one, which works for a minute more.
   * Whoever keeps tokens for others keeps the new one then.
   */
  async renewToken(token: string, call: CallOptions = {}): Promise<Enrollment> {
    const { agentId: id } = await this.#identify(token, call);
    const request = { agentId: id, credentialToken: token };
    const { credentialToken, expiresAt } = await this.#link.send(rpc.renewToken, request, this.#link.limits(call));
    return { id, token: credentialToken, created: false, expiresAt: endOf(expiresAt) };
  }

  /** Says whose token this is. Throws `ReeveUnauthenticated` if it is nobody's. */
  async identify(token: string, call: CallOptions = {}): Promise<Identified> {
    const { agentId, suspended, subjectIssuers } = await this.#identify(token, call);
    return { id: agentId, suspended, subjectIssuers };
  }

  async #identify(token: string, call: CallOptions): Promise<IdentifyAgentResponse & { agentId: FullAgentId }> {
    const request = { credentialToken: requireText('token', token) };
    const answer = await this.#link.send(rpc.identifyAgent, request, this.#link.limits(call));
    const { agentId } = answer;
    if (agentId === undefined) throw new ReeveInternal('the answer of the gateway names no agent');
    return { ...answer, agentId };
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

function endOf(expiresAt: string): Date | undefined {
  return expiresAt === '' ? undefined : new Date(expiresAt);
}

/** What is left of a new token is its whole life, however the clocks differ. One that others issue says nothing of it. */
function lifeOf(ttlSecs: number, expiresAt: number): TokenLife | undefined {
  const leftMs = expiresAt - Date.now();
  if (Number.isNaN(leftMs)) return undefined;
  const ttlMs = ttlSecs > 0 ? ttlSecs * 1000 : Math.max(leftMs, 1000);
  return { ttlMs, leftMs: Math.min(leftMs, ttlMs) };
}

function secondsToMs(seconds: number): number {
  return (seconds > 0 && seconds <= 86_400 ? seconds : defaultHeartbeatSecs) * 1000;
}
