import type { OpControlMessage } from '@reeve/contract';
import type { AckQueue } from './outage/ack-queue.ts';
import type { Answer } from './answer.ts';
import type { Completion } from './completion.ts';
import type { Control } from './control.ts';
import { controlOf } from './control.ts';
import type { ControlLine, ControlReceipt, KernelWord } from './live-operation.ts';
import { LiveOperation } from './live-operation.ts';
import { OwedReports } from './outage/owed-reports.ts';
import type { ProcessHold } from './process-hold.ts';

const mostEnded = 1000;

/**
 * The operations of one agent that this client knows: checks in flight, and running operations until they are reported.
 * Controls from the gateway arrive here. The SDK acknowledges a control as soon as it is true.
 */
export class AgentOps implements ControlLine {
  readonly hold: ProcessHold;
  readonly owed = new OwedReports();
  /** The newest control taken in. Controls come in order, so all earlier ones were taken in too. */
  cursor = 0;
  lost: Error | undefined;
  /** Whether the gateway has no control stream. Then no release ever arrives. */
  deaf = false;
  readonly #acks: AckQueue;
  #count = 0;
  readonly #onIdle: () => void;
  readonly #live = new Map<string, LiveOperation>();
  /** How the last operations ended. An operation that was paused at its end is reported again after the resume. */
  readonly #ended = new Map<string, Completion>();

  constructor(hold: ProcessHold, acks: AckQueue, onIdle: () => void) {
    this.hold = hold;
    this.#acks = acks;
    this.#onIdle = onIdle;
  }

  /** The gateway counts controls from the start again. Earlier ones need no acknowledgement. */
  countAnew(): void {
    this.cursor = 0;
    this.#count++;
    this.#acks.reset();
  }

  get idle(): boolean {
    return this.#live.size === 0;
  }

  find(id: string): LiveOperation | undefined {
    return this.#live.get(id);
  }

  /** A call concerns the operation. From here on the operation can be controlled, even before an answer. */
  open(id: string): LiveOperation {
    const op = this.#live.get(id) ?? new LiveOperation(id, this);
    this.#live.set(id, op);
    op.claims++;
    return op;
  }

  /** A check of the operation goes out. Its answer decides what becomes of the operation. */
  asked(op: LiveOperation): void {
    op.asked();
    this.owed.forget(op.id);
    this.#ended.delete(op.id);
  }

  /** The call is over. Nobody owns the operation then, unless its work is running. */
  close(op: LiveOperation): void {
    if (--op.claims === 0 && !op.running) this.drop(op);
  }

  /** The answer, corrected by any control that overtook it. */
  upToDate(op: LiveOperation, answer: Answer): Answer {
    if (!answer.allowed) return answer;
    if (op.terminated !== undefined) {
      const { reason } = op.terminated;
      return {
        ...answer,
        decision: 'deny',
        allowed: false,
        opState: 'terminated',
        reason: reason === '' ? 'operation is terminated' : reason,
      };
    }
    if (op.state !== 'paused' || op.running) return answer;
    return { ...answer, decision: 'pending', allowed: false, opState: 'paused', reason: 'operation is paused' };
  }

  drop(op: LiveOperation): void {
    op.end();
    if (this.#live.get(op.id) === op) this.#live.delete(op.id);
    if (this.idle) this.#onIdle();
  }

  /** Remembers how an operation ended, whether or not the gateway accepts the report now. */
  ended(id: string, completion: Completion): void {
    this.#ended.delete(id);
    this.#ended.set(id, completion);
    const [oldest] = this.#ended.keys();
    if (oldest !== undefined && this.#ended.size > mostEnded) this.#ended.delete(oldest);
  }

  /** The control, unless it arrived before. */
  take(message: OpControlMessage, shared: boolean): Control | undefined {
    const { sequence } = message;
    const op = this.#live.get(message.opId);
    const ours = op !== undefined || !shared;
    if (sequence <= this.cursor) {
      if (ours) this.#acks.repeat(sequence);
      return undefined;
    }
    this.cursor = sequence;
    const control = controlOf(message);
    if (!ours) return control;
    void this.#acks.tell(sequence, 'received');
    const receipt = this.#receiptFor(sequence);
    if (control === undefined) void receipt.failed('this agent does not know the signal');
    else if (op !== undefined) op.take(control, receipt);
    else void receipt.effective('not running in this process');
    if (control !== undefined && op === undefined) this.#takeLate(control);
    return control;
  }

  /** A stream was reopened. Held operations ask again, because the old stream may have lost their release. */
  askAgain(): void {
    for (const op of this.#live.values()) op.askAgain();
  }

  /** Nothing more will arrive from the gateway. */
  lose(error: Error): void {
    this.lost = error;
    for (const op of this.#live.values()) op.lose(error);
  }

  /** The gateway has ended all operations and wants no report of them. */
  terminateAll(reason: string): void {
    for (const op of [...this.#live.values()]) {
      op.terminate({ opId: op.id, reason, controlId: '' });
      if (!op.run) this.drop(op);
    }
  }

  #receiptFor(sequence: number): ControlReceipt {
    const count = this.#count;
    const tell = async (outcome: 'effective' | 'failed', detail = '', word?: KernelWord) => {
      if (count === this.#count) await this.#acks.tell(sequence, outcome, detail, word);
    };
    return { effective: (detail, word) => tell('effective', detail, word), failed: (detail) => tell('failed', detail) };
  }

  /** A control of an operation that has ended here. A release must be reported, or the operation would stay. */
  #takeLate({ opId, signal }: Control): void {
    const completion = this.#ended.get(opId);
    if (signal === 'terminate') {
      this.#ended.delete(opId);
      this.owed.forget(opId);
    } else if (completion !== undefined && signal !== 'pause') this.owed.add(opId, completion);
  }
}
