import type { Undo } from '../journal/meaning.ts';
import type { Clock } from '../kernel/clock.ts';
import type { OpTrigger } from '../ops/lifecycle.ts';
import type { Op } from '../ops/op.ts';
import { isOver } from '../ops/lifecycle.ts';
import { bareRecord, recordOf } from '../ops/op.ts';
import { OpsRegistry } from '../ops/registry.ts';
import type { Agent } from '../tenancy/agent.ts';

interface Ingested {
  readonly op: Op;
  readonly created: boolean;
}

/** Registers an operation as pending, beside the journal. Returns an existing one unchanged. */
export function ingest(
  { ops, clock }: { readonly ops: OpsRegistry; readonly clock: Clock },
  owner: Agent,
  opId: string,
): Ingested {
  const existing = ops.find(owner, opId);
  if (existing !== undefined) return { op: existing, created: false };
  const record = bareRecord(owner.record.id, opId, clock.now());
  ops.put(owner, undefined, record, { movedAt: clock.elapsed(), seq: undefined, isDurable: false });
  return { op: ops.get(owner, opId), created: true };
}

/** A registry whose operations a test moves by itself. */
export class MovableOps extends OpsRegistry {
  readonly #clock: Clock;

  constructor(clock: Clock, ttlMs: number) {
    super(clock, ttlMs);
    this.#clock = clock;
  }

  ingest(owner: Agent, opId: string): Ingested {
    return ingest({ ops: this, clock: this.#clock }, owner, opId);
  }

  /** Moves an operation by the lifecycle table. Undefined if that changes nothing. */
  move(op: Op, trigger: OpTrigger): Undo | undefined {
    const state = this.destination(op, trigger);
    if (state === op.state) return undefined;
    const record = { ...recordOf(op), state, updatedAt: this.#clock.now() };
    return this.put(op.owner, op, record, { movedAt: this.#clock.elapsed(), seq: undefined, isDurable: false });
  }

  /** What these operations have come to is durable. */
  durable(...ops: readonly Op[]): void {
    for (const op of ops) if (isOver(op.state)) this.noteEnded(op);
  }
}
