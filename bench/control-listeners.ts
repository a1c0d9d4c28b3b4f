import { OpControlSubscribeRequest, paths } from '@reeve/contract';
import type { Credential } from './check-template.ts';
import { secondsSince } from './fleet.ts';
import { GrpcConnection } from './grpc-connection.ts';
import { Histogram } from './histogram.ts';
import { framedMessage, requestHead } from './http2-frames.ts';
import type { HeardResult, LoadJob, SetupResult } from './load-protocol.ts';
import { pause } from './process-usage.ts';

type ListenJob = Extract<LoadJob, { kind: 'listen' }>;
type HearJob = Extract<LoadJob, { kind: 'hear' }>;

const hearWithinSecs = 60;

/** Agents that listen for controls, one stream each. They never acknowledge. */
export class ControlListeners {
  readonly #connections: readonly GrpcConnection[];
  /** When each message arrived, in milliseconds since the epoch. */
  readonly #heardAt: number[] = [];
  #ended = 0;

  private constructor(connections: readonly GrpcConnection[]) {
    this.#connections = connections;
  }

  /** Sends all subscriptions, spread evenly over the connections. */
  static async open({ fleet, connections }: ListenJob, agents: readonly Credential[]): Promise<ControlListeners> {
    const opened = await Promise.all(Array.from({ length: connections }, () => GrpcConnection.open(fleet)));
    const listeners = new ControlListeners(opened);
    const head = requestHead(fleet, paths.opControlStream);
    for (const [nth, { id, token }] of agents.entries()) {
      const request = { agentId: id, credentialToken: token, afterSequence: 0, waitsOnly: false };
      const stream = opened[nth % connections]?.stream(
        head,
        () => listeners.#heardAt.push(performance.timeOrigin + performance.now()),
        () => listeners.#ended++,
      );
      stream?.sendLast(framedMessage(OpControlSubscribeRequest.encode(request).finish()));
    }
    return listeners;
  }

  /** Waits until so many messages have arrived in all, and returns how long after `since` each did. */
  async hear({ messages, since }: HearJob): Promise<HeardResult> {
    const startedAt = performance.now();
    while (this.#heardAt.length < messages) {
      if (secondsSince(startedAt) > hearWithinSecs)
        throw new Error(`${this.#heardAt.length} of ${messages} were heard`);
      await pause(0.01);
    }
    const histogram = new Histogram();
    for (const at of this.#heardAt) histogram.record((at - since) * 1000);
    return { done: messages, failed: this.#ended, seconds: secondsSince(startedAt), counts: histogram.counts };
  }

  close(): SetupResult {
    const failed = this.#ended;
    for (const connection of this.#connections) connection.close();
    return { done: this.#heardAt.length, failed, seconds: 0 };
  }
}
