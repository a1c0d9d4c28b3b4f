import type { Width } from '../access/index.ts';
import type { Actor } from '../audit/index.ts';
import type { EpochMs, AgentId } from '../kernel/index.ts';

export type ControlAction = 'pause' | 'resume' | 'terminate';

export const receiptStatuses = ['requested', 'delivered', 'unconfirmed', 'acked', 'failed', 'effective'] as const;
export type ReceiptStatus = (typeof receiptStatuses)[number];

/** What an agent says about a control message. */
export type AckOutcome = 'received' | 'effective' | 'failed';

/** Whose word the status of a receipt is. */
type Evidence = 'agent' | 'kernel' | 'none';

/** What somebody says of a control message. */
export interface ControlWord {
  readonly outcome: AckOutcome;
  readonly detail: string;
  /** How many processes it concerns, if it is the kernel's word. Null: it is the agent's. */
  readonly processes: number | null;
}

/** What became of one control of one operation. A receipt never changes: each step replaces it. */
export interface Receipt {
  readonly id: string;
  /** The scoped control that the receipt belongs to, if any. */
  readonly bulkId: string | null;
  readonly agent: AgentId;
  readonly opId: string;
  readonly action: ControlAction;
  readonly actor: Actor;
  readonly reason: string;
  readonly cause: 'operator' | 'suspension';
  /** The width of the credential that asked for the control. A narrower one cannot lift what it stopped. */
  readonly width: Width;
  /** The agent opened a control stream in this registration, so it owes an answer, whatever it does later. */
  readonly owed: boolean;
  /** The number of the message: it grows per agent and is never reused. */
  readonly sequence: number;
  readonly requestedAt: EpochMs;
  /** When the message was first written to a stream by which the agent carries out controls. */
  readonly deliveredAt: EpochMs | null;
  readonly ackedAt: EpochMs | null;
  readonly effectiveAt: EpochMs | null;
  readonly status: ReceiptStatus;
  /** What the agent said, or why it was not heard. */
  readonly detail: string;
  /** The message is in the agent's outbox: neither acknowledged nor dropped. */
  readonly waiting: boolean;
  /** A stop that was not confirmed in time. It keeps the agent from getting answers. */
  readonly blocks: boolean;
  /** The operation was on a floor, so that the kernel's word counts. */
  readonly floor: boolean;
  /** How many processes the kernel has spoken of. Null: if anybody has answered, the agent has. */
  readonly processes: number | null;
}

/** What a receipt of a release lacks that knew the agent's word alone. */
export const offFloor = { floor: false, processes: null } as const;

export function evidenceOf(receipt: Pick<Receipt, 'status' | 'processes'>): Evidence {
  if (receipt.processes !== null) return 'kernel';
  return isAnswered(receipt) ? 'agent' : 'none';
}

/** Whether the agent has responded to the control. */
export function isAnswered({ status }: Pick<Receipt, 'status'>): boolean {
  return status === 'acked' || status === 'failed' || status === 'effective';
}

/** Whether the agent still has time to respond. */
export function isDue({ status }: Receipt): boolean {
  return status === 'requested' || status === 'delivered';
}

export function delivered(receipt: Receipt, at: EpochMs): Receipt {
  if (receipt.deliveredAt !== null) return receipt;
  const status = receipt.status === 'requested' ? 'delivered' : receipt.status;
  return { ...receipt, deliveredAt: at, status };
}

/**
 * Takes a word about a control, in whatever order it arrives. What took effect stays so, and becomes the kernel's word if
 * it was the agent's. What failed can still take effect, and a late word counts all the same. Returns the same receipt if
 * the word says nothing new.
 */
export function acknowledged(receipt: Receipt, { outcome, ...word }: ControlWord, at: EpochMs): Receipt {
  const { status } = receipt;
  const after = { ...receipt, ...word, ackedAt: receipt.ackedAt ?? at, waiting: false };
  if (outcome === 'effective') {
    const isStronger = receipt.processes === null && word.processes !== null;
    if (status === 'effective' && !isStronger) return receipt;
    return { ...after, status: 'effective', effectiveAt: receipt.effectiveAt ?? at, blocks: false };
  }
  if (status === 'effective' || status === 'failed') return receipt;
  // A failed stop has not happened, so its block stays.
  if (outcome === 'failed') return { ...after, status: 'failed' };
  if (status === 'acked') return receipt;
  return { ...after, status: 'acked', blocks: false };
}

/** The time to acknowledge is over. The message stays in the outbox. */
export function unconfirmed(receipt: Receipt, detail: string, blocks: boolean): Receipt {
  return isAnswered(receipt) ? receipt : { ...receipt, status: 'unconfirmed', detail, blocks };
}

/** The message leaves the outbox without an answer. A block stays. */
export function givenUp(receipt: Receipt, detail: string, blocks = receipt.blocks): Receipt {
  return { ...unconfirmed(receipt, detail, blocks), waiting: false };
}

export function lifted(receipt: Receipt): Receipt {
  return { ...receipt, blocks: false };
}
