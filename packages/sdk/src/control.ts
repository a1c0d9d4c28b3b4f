import type { OpControlMessage } from '@reeve/contract';
import { OpControlMessage_Signal as WireSignal } from '@reeve/contract';

/** `allow` ends the wait for an approval. An operator sends the others. */
export type ControlSignal = 'pause' | 'resume' | 'terminate' | 'allow';

/** A request of the gateway to one operation of the agent. */
export interface Control {
  readonly opId: string;
  readonly signal: ControlSignal;
  /** The reason, in the words of the person who asked. */
  readonly reason: string;
  /** `/api/v1/control/{id}` of the gateway shows who asked and how it went. Empty if nobody asked. */
  readonly controlId: string;
  /** RFC 3339. */
  readonly issuedAt: string;
  /** Counts up per agent. */
  readonly sequence: number;
}

const signals: Readonly<Record<WireSignal, ControlSignal | undefined>> = {
  [WireSignal.SIGNAL_UNSPECIFIED]: undefined,
  [WireSignal.PAUSE]: 'pause',
  [WireSignal.RESUME]: 'resume',
  [WireSignal.TERMINATE]: 'terminate',
  [WireSignal.ALLOW]: 'allow',
};

/** Undefined if this version does not know the signal. @internal */
export function controlOf(message: OpControlMessage): Control | undefined {
  const signal = signals[message.signal];
  if (signal === undefined) return undefined;
  const { opId, reason, controlId, issuedAt, sequence } = message;
  return { opId, signal, reason, controlId, issuedAt, sequence };
}
