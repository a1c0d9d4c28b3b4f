import type { OpState } from '@reeve/contract/names';
import type { Answer } from './answer.ts';
import type { Completion } from './completion.ts';
import type { LiveOperation } from './live-operation.ts';
import { requireMicros } from './validate.ts';

/** An operation as an operator can control it. */
export interface OperationControl {
  readonly id: string;
  /** As this process knows it. */
  readonly state: OpState;
  /** Fires when the operation is terminated; its reason is an `OperationTerminatedError`. */
  readonly signal: AbortSignal;
  /**
   * A point at which the work can stop: passes at once while the operation is running, waits while it is paused, and
   * throws an `OperationTerminatedError` once it is terminated.
   */
  checkpoint(this: void): Promise<void>;
}

/** An allowed action while it happens. */
export interface Operation extends OperationControl {
  readonly answer: Answer;
  /** Sets what the action has cost in all, in micro-dollars; what was estimated where it is never called. See `usd`. */
  spent(this: void, micros: number): void;
  /** Sets one line on how it went, for the people who watch. */
  note(this: void, detail: string): void;
}

export function controlledOperation(op: LiveOperation): OperationControl {
  return {
    id: op.id,
    get state() {
      return op.state;
    },
    get signal() {
      return op.signal;
    },
    checkpoint: () => op.checkpoint(),
  };
}

/** The operation for the work that it allows, and what the work has said of it so far. */
export function workedOperation(op: LiveOperation, answer: Answer): { operation: Operation; said: () => Completion } {
  let actualCostMicros: number | undefined;
  let detail: string | undefined;
  const operation: Operation = {
    id: op.id,
    answer,
    get state() {
      return op.state;
    },
    get signal() {
      return op.signal;
    },
    checkpoint: () => op.checkpoint(),
    spent: (micros) => {
      actualCostMicros = requireMicros('micros', micros);
    },
    note: (text) => {
      detail = text;
    },
  };
  return { operation, said: () => ({ actualCostMicros, detail }) };
}
