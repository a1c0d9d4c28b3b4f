import type { ClientReadableStream, StatusObject } from '@grpc/grpc-js';
import type { OpControlMessage as Message } from '@reeve/contract';
import {
  AckOpControlRequest,
  AckOpControlRequest_Outcome as Outcome,
  AckOpControlResponse,
  OpControlMessage,
  OpControlMessage_Signal as Signal,
  OpControlSubscribeRequest,
  paths,
} from '@reeve/contract';
import { expect } from 'vitest';
import { eventually } from './eventually.ts';
import type { Registered, TestGateway } from './gateway.ts';
import type { GrpcClient } from './grpc-client.ts';

const names: Readonly<Record<Signal, string>> = {
  [Signal.SIGNAL_UNSPECIFIED]: 'nothing',
  [Signal.PAUSE]: 'pause',
  [Signal.RESUME]: 'resume',
  [Signal.TERMINATE]: 'terminate',
  [Signal.ALLOW]: 'allow',
};

/** A control stream, as an agent in any language would open it. */
export class ControlStream {
  readonly messages: Message[] = [];
  /** The final status. */
  readonly ended: Promise<StatusObject>;
  readonly #call: ClientReadableStream<Message>;
  /** Resolves once the gateway has accepted the stream. */
  readonly accepted: Promise<void>;

  constructor(client: GrpcClient, agent: Registered, afterSequence = 0) {
    const request = { agentId: agent.id, credentialToken: agent.token, afterSequence, waitsOnly: false };
    this.#call = client.serverStream(paths.opControlStream, OpControlSubscribeRequest, OpControlMessage, request);
    this.#call.on('data', (message: Message) => this.messages.push(message));
    this.#call.on('error', () => undefined);
    this.ended = new Promise((resolve) => this.#call.once('status', resolve));
    this.accepted = new Promise((resolve) => this.#call.once('metadata', () => resolve()));
  }

  /** Opens a stream and waits until the gateway has accepted it. */
  static async open(gateway: TestGateway, agent: Registered, afterSequence = 0): Promise<ControlStream> {
    const stream = new ControlStream(gateway.client, agent, afterSequence);
    await stream.accepted;
    return stream;
  }

  /** Sequence, signal and operation of all messages, once there are this many. */
  async heard(count: number): Promise<string[]> {
    await eventually(() => expect(this.messages.length).toBeGreaterThanOrEqual(count));
    return this.messages.map(({ sequence, signal, opId }) => `${sequence} ${names[signal]} ${opId}`);
  }

  /** Stops reading from the wire. */
  stall(): void {
    this.#call.pause();
  }

  catchUp(): void {
    this.#call.resume();
  }

  cancel(): void {
    this.#call.cancel();
  }
}

export function acknowledge(
  gateway: TestGateway,
  agent: Registered,
  sequence: number,
  outcome: keyof typeof Outcome,
  detail = '',
  kernel: Pick<AckOpControlRequest, 'evidence' | 'processes'> = {},
): Promise<object> {
  return gateway.client.call(paths.ackOpControl, AckOpControlRequest, AckOpControlResponse, {
    agentId: agent.id,
    credentialToken: agent.token,
    sequence,
    outcome: Outcome[outcome],
    detail,
    ...kernel,
  });
}
