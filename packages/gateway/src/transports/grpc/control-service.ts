import type { AckOpControlRequest } from '@reeve/contract';
import {
  AckOpControlRequest_Evidence as WireEvidence,
  AckOpControlRequest_Outcome as WireOutcome,
  AckOpControlResponse,
  OpControlMessage,
  OpControlMessage_Signal as WireSignal,
  paths,
} from '@reeve/contract';
import type { AckOutcome, ControlMessage, Controls, ControlSubscription, Execute } from '@reeve/core';
import { invalid, ReeveError, subscribeControl, timestamp, toldReason } from '@reeve/core';
import { readerOfAgent } from '../../evaluation/tenant-slots.ts';
import type { Health } from '../../telemetry/health.ts';
import type { Admits } from './decode.ts';
import { decodeFromAgent } from './decode.ts';
import { encode } from './message-writer.ts';
import type { Encoded, RpcRoutes, RpcStream, StreamHandler } from './rpc.ts';

/** Proto enums stop here; the core uses names. */
const outcomes: Readonly<Record<WireOutcome, AckOutcome | undefined>> = {
  [WireOutcome.OUTCOME_UNSPECIFIED]: undefined,
  [WireOutcome.RECEIVED]: 'received',
  [WireOutcome.EFFECTIVE]: 'effective',
  [WireOutcome.FAILED]: 'failed',
};

const signals: Readonly<Record<ControlMessage['signal'], WireSignal>> = {
  pause: WireSignal.PAUSE,
  resume: WireSignal.RESUME,
  terminate: WireSignal.TERMINATE,
  allow: WireSignal.ALLOW,
};

/** Sends agents the controls of their operations, and takes their acknowledgements. */
export function controlService(controls: Controls & Admits, execute: Execute, health: Health): RpcRoutes {
  return {
    unary: new Map([
      [
        paths.ackOpControl,
        async (bytes, call) => {
          const wire = await decodeFromAgent(controls, 'AckOpControlRequest', bytes);
          const outcome = outcomes[wire.outcome];
          if (outcome === undefined) throw invalid('outcome', 'must be RECEIVED (1), EFFECTIVE (2) or FAILED (3)');
          await execute({
            kind: 'acknowledge_control',
            agentId: wire.agentId,
            token: wire.credentialToken,
            sequence: wire.sequence,
            outcome,
            detail: wire.detail,
            processes: processesOf(wire),
          });
          call.credentialShown(readerOfAgent(wire.agentId));
          return encode(AckOpControlResponse, {});
        },
      ],
    ]),
    stream: new Map([[paths.opControlStream, opControlStream(controls, health)]]),
  };
}

/** How many processes the kernel speaks of. Null: the agent speaks for itself, and its number is nobody's word. */
function processesOf({ evidence = WireEvidence.AGENT, processes = 0 }: AckOpControlRequest): number | null {
  if (evidence === WireEvidence.KERNEL) return processes;
  if (evidence === WireEvidence.AGENT || evidence === WireEvidence.EVIDENCE_UNSPECIFIED) return null;
  throw invalid('evidence', 'must be AGENT (1) or KERNEL (2)');
}

/** The first message is the subscription; later messages are ignored. It lasts until one side ends it. */
function opControlStream(controls: Controls & Admits, health: Health): StreamHandler {
  return (stream, call) => {
    let subscribed = false;
    let closed = false;
    let subscription: ControlSubscription | undefined;
    const shutDown = () => stream.fail(new ReeveError('shutting_down', 'the gateway is shutting down'));
    const forget = health.onDrain(shutDown);
    const subscribe = async (bytes: Uint8Array) => {
      const wire = await decodeFromAgent(controls, 'OpControlSubscribeRequest', bytes);
      const { agentId, credentialToken: token, afterSequence, waitsOnly } = wire;
      const request = { agentId, token, afterSequence, waitsOnly };
      subscription = await subscribeControl(controls, request, {
        isOpen: () => stream.isOpen,
        send: (message) => stream.send(encodeMessage(message)),
        fail: (error) => stream.fail(error),
      });
      call.credentialShown(readerOfAgent(agentId));
      // The client may have left before the subscription was there.
      if (closed) subscription.close();
      else stream.open();
    };
    return {
      message: (bytes) => {
        if (subscribed) return;
        subscribed = true;
        if (health.draining) shutDown();
        else subscribe(bytes).catch((error: unknown) => stream.fail(error));
      },
      ended: () => {
        if (!subscribed) endUnasked(stream);
      },
      drained: () => subscription?.drained(),
      closed: () => {
        closed = true;
        forget();
        subscription?.close();
      },
    };
  };
}

function endUnasked(stream: RpcStream): void {
  stream.fail(new ReeveError('invalid_argument', 'the stream must begin with an OpControlSubscribeRequest'));
}

function encodeMessage(message: ControlMessage): Encoded {
  return encode(OpControlMessage, {
    ...message,
    reason: toldReason(message.reason),
    signal: signals[message.signal],
    issuedAt: timestamp(message.issuedAt),
  });
}
