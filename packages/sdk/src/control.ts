import type { OpControlMessage } from '@reeve/contract';
import { OpControlMessage_Signal as WireSignal } from '@reeve/contract';

/** `allow` ends the wait for an approval; the others are an operator's. */
export type ControlSignal = 'pause' | 'resume' | 'terminate' | 'allow';

/** What the gateway asks of one operation of the agent. */
export interface Control {
  readonly opId: string;
  readonly signal: ControlSignal;
  /** Why, in the words of whoever asked. */
  readonly reason: string;
  /** Who asked, and how it went, stands under `/api/v1/control/{id}` of the gateway. Empty where nobody did. */
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

/** Undefined for a signal that this version does not know. */
export function controlOf(message: OpControlMessage): Control | undefined {
  const signal = signals[message.signal];
  if (signal === undefined) return undefined;
  const { opId, reason, controlId, issuedAt, sequence } = message;
  return { opId, signal, reason, controlId, issuedAt, sequence };
}
