import type { CheckActionResponse } from '@reeve/contract';
import type { FullAgentId } from './agent-id.ts';
import { AgentLink } from './agent-link.ts';
import type { Channel, StreamEvents } from './channel.ts';
import { CheckPipeline, PipelineRefused } from './outage/check-pipeline.ts';
import type { Settings } from './connect-options.ts';
import { ReeveClosed, ReeveError, ReeveUnavailable } from './errors.ts';
import type { Subscription } from './outage/control-stream.ts';
import { Gateways, Tour } from './outage/gateways.ts';
import { deadlineIn, RetryBudget, retrying } from './outage/retry.ts';
import type { PreparedCheck } from './prepare-check.ts';
import { ProcessHold } from './process-hold.ts';
import type { RpcMethod } from './rpc-methods.ts';
import { decodeResponse, encodeRequest, rpc } from './rpc-methods.ts';
import { opIdOf } from './trace-ids.ts';
import type { CallOptions, Limits } from './outage/retry.ts';

interface SendOptions extends Limits {
  readonly bearer?: string | undefined;
}

/** Fewer than the default burst of retries, so that all of these checks survive a restart of the gateway. */
const mostSingleChecks = 8;

/** For calls that recur anyway: each gateway is tried once, and there are no retries. */
const noRetries = new RetryBudget(0, 0);

/** What a client and its agents share: the gateways, the retry budget and the check stream. */
export class GatewayLink {
  readonly settings: Settings;
  readonly hold = new ProcessHold();
  readonly #gateways: Gateways;
  readonly #budget: RetryBudget;
  readonly #pipeline: CheckPipeline;
  readonly #agents = new Map<string, AgentLink>();
  readonly #onClose = new Set<() => void>();
  #singleChecks = 0;

  constructor(settings: Settings) {
    const { retry, endpoints } = settings;
    this.settings = settings;
    const onMove = () => this.#follow();
    this.#gateways = new Gateways(endpoints, { hold: this.hold, backoff: retry, onMove });
    this.#budget = new RetryBudget(retry.burst, retry.ratio);
    this.#pipeline = new CheckPipeline(this.#gateways, this.#budget, retry);
  }

  /** Of the gateway in use. */
  get address(): string {
    return this.#gateways.address;
  }

  limits(options: CallOptions): Limits {
    return { deadline: deadlineIn(options.deadlineMs ?? this.settings.deadlineMs), signal: options.signal };
  }

  /** Calls until there is an answer, within the limits. */
  async send<Request, Response>(
    method: RpcMethod<Request, Response>,
    message: Request,
    options: SendOptions,
  ): Promise<Response> {
    return this.sendBytes(method, encodeRequest(method, message), options);
  }

  sendBytes<Response>(method: RpcMethod<never, Response>, bytes: Buffer, options: SendOptions): Promise<Response> {
    return this.#retrying(this.#budget, method, bytes, options);
  }

  /** Calls each gateway once at most. For calls that recur anyway. */
  async sendOnce<Request, Response>(
    method: RpcMethod<Request, Response>,
    message: Request,
    limits: Limits,
  ): Promise<Response> {
    return this.#retrying(noRetries, method, encodeRequest(method, message), limits);
  }

  /**
   * Calls until the gateway knows. `isDone` recognises the error that says it knew already: an earlier attempt may have
   * been carried out although its answer was lost.
   */
  async tell<Request>(
    method: RpcMethod<Request, unknown>,
    message: Request,
    limits: Limits,
    isDone: (error: unknown) => boolean,
  ): Promise<void> {
    let attempts = 0;
    try {
      await this.#retrying(this.#budget, method, encodeRequest(method, message), limits, () => attempts++);
    } catch (error) {
      if (attempts <= 1 || !isDone(error)) throw error;
    }
  }

  async check(check: PreparedCheck, limits: Limits): Promise<CheckActionResponse> {
    const bytes = encodeRequest(rpc.checkAction, check.message);
    if (this.#goesByStream()) {
      try {
        return await this.#pipeline.ask({ opId: opIdOf(check.ids), bytes, ...limits });
      } catch (error) {
        if (!(error instanceof PipelineRefused)) throw error;
      }
    }
    this.#singleChecks++;
    try {
      return await this.sendBytes(rpc.checkAction, bytes, limits);
    } finally {
      this.#singleChecks--;
    }
  }

  /** Opens a stream of messages from the gateway in use. Fails at once without a connection. */
  subscribe<Request>(
    method: RpcMethod<Request, unknown>,
    message: Request,
    { onOpen, ...events }: StreamEvents,
  ): Subscription {
    const channel = this.#gateways.use();
    const stream = channel.stream(
      method.path,
      { waitForReady: false },
      {
        ...events,
        onOpen: () => {
          this.#gateways.answered(channel, method.path);
          onOpen();
        },
      },
    );
    stream.send(encodeRequest(method, message));
    stream.end();
    return { stream, address: channel.address, failed: () => this.#gateways.failed(channel, method.path) };
  }

  /** The link of this client for an agent. */
  agent(id: FullAgentId): AgentLink {
    const key = keyOf(id);
    const known = this.#agents.get(key) ?? new AgentLink(this, id);
    this.#agents.set(key, known);
    return known;
  }

  /** The token that somebody here has got in place of this one, or itself. */
  tokenNow(token: string): string {
    for (const agent of this.#agents.values()) {
      const credential = agent.credentialThatHad(token);
      if (credential !== undefined) return credential.token;
    }
    return token;
  }

  /** Nobody acts as the agent any more, and none of its operations is running. */
  forgetAgent(id: FullAgentId, link: AgentLink): void {
    const key = keyOf(id);
    if (this.#agents.get(key) === link) this.#agents.delete(key);
  }

  /** Registers a callback for the end. Returns a function that removes it. */
  onClose(act: () => void): () => void {
    this.#onClose.add(act);
    return () => this.#onClose.delete(act);
  }

  close(): void {
    for (const act of this.#onClose) act();
    this.#onClose.clear();
    this.#pipeline.close();
    this.#gateways.close();
  }

  async #retrying<Response>(
    budget: RetryBudget,
    method: RpcMethod<never, Response>,
    bytes: Buffer,
    options: SendOptions,
    onAttempt: () => void = () => {},
  ): Promise<Response> {
    const tour = new Tour(this.#gateways, method.path);
    let channel: Channel;
    const next = (error: ReeveUnavailable) => tour.after(error, channel);
    return retrying({ ...options, budget, backoff: this.settings.retry, next }, async () => {
      onAttempt();
      channel = this.#gateways.use();
      const attempt = { ...options, waitForReady: tour.waitsForReady, longest: method.longest };
      const answer = await this.#noting(channel, method.path, channel.unary(method.path, bytes, attempt));
      return decodeResponse(method, answer);
    });
  }

  /** Notes whether the gateway has answered. Every error is an answer, unless the gateway is unavailable. */
  async #noting(channel: Channel, path: string, call: Promise<Buffer>): Promise<Buffer> {
    try {
      const answer = await call;
      this.#gateways.answered(channel, path);
      return answer;
    } catch (error) {
      const isAnswer =
        error instanceof ReeveError && !(error instanceof ReeveUnavailable || error instanceof ReeveClosed);
      if (isAnswer) this.#gateways.answered(channel, path);
      throw error;
    }
  }

  /** All streams of the client go where its calls go. */
  #follow(): void {
    this.#pipeline.follow();
    for (const agent of this.#agents.values()) agent.follow();
  }

  #goesByStream(): boolean {
    const { pipeline } = this.settings;
    if (pipeline === 'never' || !this.#pipeline.usable) return false;
    return pipeline === 'always' || this.#pipeline.busy || this.#singleChecks >= mostSingleChecks;
  }
}

function keyOf({ orgId, teamId, agentId }: FullAgentId): string {
  return [orgId, teamId, agentId].join('/');
}
