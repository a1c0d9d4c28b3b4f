import type { Width } from '../access/index.ts';
import type { Actor } from '../audit/index.ts';
import type { EpochMs, AgentId } from '../kernel/index.ts';

export type ControlAction = 'pause' | 'resume' | 'terminate';

export const receiptStatuses = ['requested', 'delivered', 'unconfirmed', 'acked', 'failed', 'effective'] as const;
export type ReceiptStatus = (typeof receiptStatuses)[number];

/** What an agent says of a control message. */
export type AckOutcome = 'received' | 'effective' | 'failed';

/** What became of one control of one operation. It never changes: each step puts another one in its place. */
export interface Receipt {
  readonly id: string;
  /** The scoped control that it belongs to, where there is one. */
  readonly bulkId: string | null;
  readonly agent: AgentId;
  readonly opId: string;
  readonly action: ControlAction;
  readonly actor: Actor;
  readonly reason: string;
  readonly cause: 'operator' | 'suspension';
  /** How wide the credential was that it was asked for with: what it stopped, a narrower one does not lift. */
  readonly width: Width;
  /** The agent had opened a control stream in its registration, so that it owes an answer, whatever it does since. */
  readonly owed: boolean;
  /** The number of its message: increasing per agent, never used again. */
  readonly sequence: number;
  readonly requestedAt: EpochMs;
  /** When it was first written to a control stream of the agent. */
  readonly deliveredAt: EpochMs | null;
  readonly ackedAt: EpochMs | null;
  readonly effectiveAt: EpochMs | null;
  readonly status: ReceiptStatus;
  /** What the agent said, or why nothing was heard. */
  readonly detail: string;
  /** Its message is in the agent's outbox: not acknowledged, and not given up. */
  readonly waiting: boolean;
  /** It was to stop something, was not confirmed in time, and keeps the agent from being answered. */
  readonly blocks: boolean;
}

/** Whether the agent has been heard on it. */
export function isAnswered({ status }: Receipt): boolean {
  return status === 'acked' || status === 'failed' || status === 'effective';
}

/** Whether the time that the agent has to be heard on it is running. */
export function isDue({ status }: Receipt): boolean {
  return status === 'requested' || status === 'delivered';
}

export function delivered(receipt: Receipt, at: EpochMs): Receipt {
  if (receipt.deliveredAt !== null) return receipt;
  const status = receipt.status === 'requested' ? 'delivered' : receipt.status;
  return { ...receipt, deliveredAt: at, status };
}

/**
 * Takes what the agent says, in whatever order it arrives: what took effect stays so, what failed can still take effect,
 * and a late word is taken all the same. Where it tells nothing new the receipt itself is returned.
 */
export function acknowledged(receipt: Receipt, outcome: AckOutcome, detail: string, at: EpochMs): Receipt {
  const { status } = receipt;
  const ackedAt = receipt.ackedAt ?? at;
  if (status === 'effective') return receipt;
  if (outcome === 'effective') {
    return { ...receipt, status: 'effective', detail, ackedAt, effectiveAt: at, waiting: false, blocks: false };
  }
  if (status === 'failed') return receipt;
  // A stop that failed has not happened, so a block that was there stays.
  if (outcome === 'failed') return { ...receipt, status: 'failed', detail, ackedAt, waiting: false };
  if (status === 'acked') return receipt;
  return { ...receipt, status: 'acked', detail, ackedAt, waiting: false, blocks: false };
}

/** The time to acknowledge is over; the message stays in the outbox. */
export function unconfirmed(receipt: Receipt, detail: string, blocks: boolean): Receipt {
  return isAnswered(receipt) ? receipt : { ...receipt, status: 'unconfirmed', detail, blocks };
}

/** Its message leaves the outbox without an answer. A block stays. */
export function givenUp(receipt: Receipt, detail: string, blocks = receipt.blocks): Receipt {
  return { ...unconfirmed(receipt, detail, blocks), waiting: false };
}

export function lifted(receipt: Receipt): Receipt {
  return { ...receipt, blocks: false };
}
