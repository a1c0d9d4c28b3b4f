import type { EpochMs, Part, Slot } from '../kernel/index.ts';
import type { Agent } from '../tenancy/index.ts';
import type { OpState } from './lifecycle.ts';
import type { Op, OpMembers, OpRecord, OpTraits } from './op.ts';

/** How a record comes to the registry. */
export interface Put {
  /** When the operation moved, on the monotonic clock. */
  readonly movedAt: number;
  /** The entry that changed the operation last. Undefined if its commit will say. */
  readonly seq: number | undefined;
  readonly isDurable: boolean;
}

/** What can change without a move, beside the traits. */
export type OpBody = Omit<OpMembers, keyof OpTraits>;

/** What a move changes. */
export type OpMove = Pick<Op, 'state' | 'updatedAt' | 'movedAt' | 'hasEnded'>;

export function bodyOf(members: OpBody): OpBody {
  return {
    summary: members.summary,
    runId: members.runId,
    costMicros: members.costMicros,
    reservedMicros: members.reservedMicros,
    usage: members.usage,
    digest: members.digest,
  };
}

/**
 * An operation for the registry. There may be hundreds of thousands, so it holds what is its own, and the rest by its traits.
 * A time takes room of its own beside the operation unless it is a small whole number: hence these of `movedAt` and
 * `unsavedSince`, and how long after `registeredAt` it was updated.
 */
export class MutableOp implements Op {
  readonly opId: string;
  readonly owner: Agent;
  readonly registeredAt: EpochMs;
  ordinal = 0;
  arrival = 0;
  state: OpState;
  /** In whole milliseconds. */
  movedAt: number;
  seq: number;
  hasEnded: boolean;
  savedSeq: number;
  traits: OpTraits;
  summary: string;
  runId: string;
  costMicros: number;
  reservedMicros: number;
  usage: OpMembers['usage'];
  digest: string;
  ownPart: Part<Op> | undefined = undefined;
  /** In whole milliseconds. */
  unsavedSince = 0;
  unsavedPart: Part<Op> | undefined = undefined;
  uncheckedPart: Part<Op> | undefined = undefined;
  updatedAfterMs: number;

  constructor(
    owner: Agent,
    record: OpBody & Pick<OpRecord, 'opId' | 'state' | 'registeredAt' | 'updatedAt'>,
    traits: OpTraits,
    { movedAt, seq, savedSeq, hasEnded }: Pick<Op, 'movedAt' | 'seq' | 'savedSeq' | 'hasEnded'>,
  ) {
    this.opId = record.opId;
    this.owner = owner;
    this.registeredAt = record.registeredAt;
    this.state = record.state;
    this.movedAt = Math.floor(movedAt);
    this.seq = seq;
    this.hasEnded = hasEnded;
    this.savedSeq = savedSeq;
    this.traits = traits;
    this.summary = record.summary;
    this.runId = record.runId;
    this.costMicros = record.costMicros;
    this.reservedMicros = record.reservedMicros;
    this.usage = record.usage;
    this.digest = record.digest;
    this.updatedAfterMs = record.updatedAt - record.registeredAt;
  }

  get updatedAt(): EpochMs {
    return this.registeredAt + this.updatedAfterMs;
  }

  set updatedAt(at: EpochMs) {
    this.updatedAfterMs = at - this.registeredAt;
  }

  get actionType(): OpMembers['actionType'] {
    return this.traits.actionType;
  }

  get resource(): string {
    return this.traits.resource;
  }

  get delegators(): OpMembers['delegators'] {
    return this.traits.delegators;
  }

  get via(): OpMembers['via'] {
    return this.traits.via;
  }

  get reason(): string {
    return this.traits.reason;
  }

  get policyRule(): string {
    return this.traits.policyRule;
  }

  get owedLabels(): OpMembers['owedLabels'] {
    return this.traits.owedLabels;
  }

  get rewrite(): OpMembers['rewrite'] {
    return this.traits.rewrite;
  }

  get control(): OpMembers['control'] {
    return this.traits.control;
  }

  get stale(): boolean {
    return this.traits.stale;
  }

  get floor(): boolean {
    return this.traits.floor;
  }

  get resultDuty(): OpMembers['resultDuty'] {
    return this.traits.resultDuty;
  }
}

/** Every decision comes here twice, so no loop goes through the members. */
export function assignBody(op: MutableOp, traits: OpTraits, body: OpBody): void {
  op.traits = traits;
  op.summary = body.summary;
  op.runId = body.runId;
  op.costMicros = body.costMicros;
  op.reservedMicros = body.reservedMicros;
  op.usage = body.usage;
  op.digest = body.digest;
}

export const ownSlot: Slot<Op> = {
  read: (op) => op.ownPart,
  write: (op: MutableOp, part) => {
    op.ownPart = part;
  },
};

export const unsavedSlot: Slot<Op> = {
  read: (op) => op.unsavedPart,
  write: (op: MutableOp, part) => {
    op.unsavedPart = part;
  },
};

export const uncheckedSlot: Slot<Op> = {
  read: (op) => op.uncheckedPart,
  write: (op: MutableOp, part) => {
    op.uncheckedPart = part;
  },
};
