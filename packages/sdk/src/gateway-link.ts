import type { CheckActionResponse } from '@reeve/contract';
import type { FullAgentId } from './agent-id.ts';
import { AgentLink } from './agent-link.ts';
import type { AttemptOptions, ByteStream } from './channel.ts';
import { Channel } from './channel.ts';
import { CheckPipeline, PipelineRefused } from './outage/check-pipeline.ts';
import type { Settings } from './connect-options.ts';
import { deadlineIn, RetryBudget, retrying } from './outage/retry.ts';
import type { PreparedCheck } from './prepare-check.ts';
import type { ProcessHold } from './process-hold.ts';
import type { RpcMethod } from './rpc-methods.ts';
import { decodeResponse, encodeRequest, rpc } from './rpc-methods.ts';
import { opIdOf } from './trace-ids.ts';
import type { CallOptions, Limits } from './outage/retry.ts';

interface SendOptions extends Limits {
  readonly bearer?: string | undefined;
}

/** Fewer than the default burst of retries, so that all of these checks survive a restart of the gateway. */
const mostSingleChecks = 8;

/** What a client and its agents share: the connection, the retry budget and the check stream. */
export class GatewayLink {
  readonly settings: Settings;
  readonly #channel: Channel;
  readonly #budget: RetryBudget;
  readonly #pipeline: CheckPipeline;
  readonly #agents = new Map<string, AgentLink>();
  readonly #onClose = new Set<() => void>();
  #singleChecks = 0;

  constructor(settings: Settings) {
    const { retry } = settings;
    this.settings = settings;
    this.#channel = new Channel(settings);
    this.#budget = new RetryBudget(retry.burst, retry.ratio);
    this.#pipeline = new CheckPipeline(this.#channel, this.#budget, retry);
  }

  get hold(): ProcessHold {
    return this.#channel.hold;
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
    return this.#retrying(options, (number) => this.#attempt(method, bytes, { ...options, waitForReady: number > 1 }));
  }

  /** Calls once. For calls that recur anyway. */
  async sendOnce<Request, Response>(
    method: RpcMethod<Request, Response>,
    message: Request,
    limits: Limits,
  ): Promise<Response> {
    return this.#attempt(method, encodeRequest(method, message), { ...limits, waitForReady: false });
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
    const bytes = encodeRequest(method, message);
    await this.#retrying(limits, async (number) => {
      try {
        await this.#attempt(method, bytes, { ...limits, waitForReady: number > 1 });
      } catch (error) {
        if (number === 1 || !isDone(error)) throw error;
      }
    });
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

  /** Opens a stream of messages from the gateway. Fails at once without a connection. */
  subscribe<Request>(method: RpcMethod<Request, unknown>, message: Request): ByteStream {
    const stream = this.#channel.stream(method.path, { waitForReady: false });
    stream.write(encodeRequest(method, message));
    stream.end();
    return stream;
  }

  /** The link of this client for an agent. */
  agent(id: FullAgentId): AgentLink {
    const key = keyOf(id);
    const known = this.#agents.get(key) ?? new AgentLink(this, id);
    this.#agents.set(key, known);
    return known;
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
    this.#channel.close();
  }

  #retrying<Result>(limits: Limits, attempt: (number: number) => Promise<Result>): Promise<Result> {
    return retrying({ ...limits, budget: this.#budget, backoff: this.settings.retry }, attempt);
  }

  async #attempt<Response>(
    method: RpcMethod<never, Response>,
    bytes: Buffer,
    options: AttemptOptions,
  ): Promise<Response> {
    return decodeResponse(method, await this.#channel.unary(method.path, bytes, options));
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
