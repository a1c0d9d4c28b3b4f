import type { OpState } from '@reeve/contract/names';
import type { Control } from './control.ts';
import { OperationTerminatedError } from './errors.ts';
import type { ProcessHold } from './process-hold.ts';

/** Tells the gateway what became of a control. The promises wait until it knows, or is out of reach. */
export interface ControlReceipt {
  effective(detail?: string, word?: KernelWord): Promise<void>;
  failed(detail: string): Promise<void>;
}

/** State that an agent's operations share. */
export interface ControlLine {
  readonly hold: ProcessHold;
  /** Set once nothing more can arrive from the gateway. Says why. */
  readonly lost: Error | undefined;
}

/** What the kernel says of the work. It counts if the check said `floor`. */
export interface KernelWord {
  /** How many processes are frozen, go on, or were ended. */
  readonly processes: number;
}

/** Carries out a control that signal and checkpoints cannot. */
export type ControlHook = (control: Control) => void | KernelWord | Promise<void | KernelWord>;

type Wake = 'changed' | 'ask_again';

interface Waiter {
  readonly wake: (why: Wake) => void;
  readonly fail: (error: Error) => void;
}

interface OpenControl {
  readonly control: Control;
  readonly receipt: ControlReceipt;
  carriedOut: boolean;
  word: KernelWord | undefined;
}

const longestDetail = 500;

/**
 * One operation as this process knows it: its controls, whether its work is running, and the calls that wait. It knows
 * when a control is effective: a termination once no work is running, a pause once the work waits or is not running.
 */
export class LiveOperation {
  readonly id: string;
  /** The number of calls that concern the operation. */
  claims = 0;
  /** Whether `run` runs the operation, and so knows when the work ends. */
  run = false;
  hook: ControlHook | undefined;
  readonly #line: ControlLine;
  #phase: 'asking' | 'running' | 'over' = 'asking';
  #paused = false;
  #releasedBy: Control | undefined;
  #terminated: OperationTerminatedError | undefined;
  #abort: AbortController | undefined;
  #open: OpenControl[] = [];
  readonly #waiters = new Set<Waiter>();
  readonly #telling = new Set<Promise<void>>();

  constructor(id: string, line: ControlLine) {
    this.id = id;
    this.#line = line;
  }

  get state(): OpState {
    if (this.#terminated !== undefined) return 'terminated';
    if (this.#paused) return 'paused';
    return this.#phase === 'asking' ? 'pending' : this.#phase === 'running' ? 'running' : 'completing';
  }

  get terminated(): OperationTerminatedError | undefined {
    return this.#terminated;
  }

  /** Whether the work is running, as far as the SDK can know. */
  get running(): boolean {
    return this.#phase === 'running';
  }

  /** The `allow` or `resume` that arrived since the last check, unless a pause followed. */
  get releasedBy(): Control | undefined {
    return this.#releasedBy;
  }

  /** Created on first use: most operations are never aborted. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#terminated !== undefined) this.#abort.abort(this.#terminated);
    }
    return this.#abort.signal;
  }

  take(control: Control, receipt: ControlReceipt): void {
    const open: OpenControl = { control, receipt, carriedOut: false, word: undefined };
    switch (control.signal) {
      case 'terminate':
        this.#open.push(open);
        this.terminate(control);
        break;
      case 'pause':
        this.#open.push(open);
        this.#paused = this.#terminated === undefined;
        this.#releasedBy = undefined;
        this.#wakeAll('changed');
        break;
      case 'resume':
      case 'allow':
        // A pause that was not yet effective never will be.
        this.#open = this.#open.filter((each) => each.control.signal !== 'pause');
        this.#paused = false;
        this.#releasedBy = control;
        this.#wakeAll('changed');
        if (this.hook === undefined || !this.running) this.#tell(receipt.effective());
        break;
    }
    if (this.hook !== undefined && this.running) void this.#carryOut(this.hook, open);
    this.#settle();
  }

  /** Stops the operation here, no matter who decided that. */
  terminate(why: Pick<Control, 'opId' | 'reason' | 'controlId'>): void {
    this.#paused = false;
    this.#terminated ??= new OperationTerminatedError(why);
    this.#abort?.abort(this.#terminated);
    for (const { fail } of this.#waiters) fail(this.#terminated);
  }

  /** A check goes out. Controls heard before are older than its answer. */
  asked(): void {
    this.#releasedBy = undefined;
  }

  begin(): void {
    this.#phase = 'running';
  }

  /** The work is over, or it never starts. */
  end(): void {
    this.#phase = 'over';
    this.#settle();
  }

  /** Passes at once, or waits while the operation is paused. */
  async checkpoint(): Promise<void> {
    for (;;) {
      if (this.#terminated !== undefined) throw this.#terminated;
      if (this.#line.lost !== undefined) throw this.#line.lost;
      if (!this.#paused) return;
      await this.#wait();
    }
  }

  /** Waits while the operation is paused and its end can still be heard of. Never throws. */
  async unpaused(): Promise<void> {
    try {
      await this.checkpoint();
    } catch {
      // Terminated, or lost. The caller finds out which.
    }
  }

  /** Waits for the next event. Throws if the operation is terminated. If the signal fires, throws its reason. */
  async next(signal: AbortSignal): Promise<Wake> {
    // It may have been heard while the check was under way, whose answer is older.
    if (this.#terminated !== undefined) throw this.#terminated;
    return await this.#wait(signal);
  }

  /** A message of the gateway may be lost. Calls that wait before the work ask again. */
  askAgain(): void {
    if (this.#phase === 'asking') this.#wakeAll('ask_again');
  }

  lose(error: Error): void {
    for (const { fail } of this.#waiters) fail(error);
  }

  /** Waits until the gateway knows all that was told so far, or is out of reach. */
  async told(): Promise<void> {
    await Promise.all(this.#telling);
  }

  #wait(signal?: AbortSignal): Promise<Wake> {
    const release = this.#line.hold.take();
    let tidyUp = release;
    const woken = new Promise<Wake>((wake, fail) => {
      const waiter: Waiter = { wake, fail };
      const abort = () => fail(signal?.reason);
      tidyUp = () => {
        release();
        this.#waiters.delete(waiter);
        signal?.removeEventListener('abort', abort);
      };
      if (signal?.aborted === true) abort();
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiters.add(waiter);
      this.#settle();
    });
    return woken.finally(() => tidyUp());
  }

  #wakeAll(why: Wake): void {
    for (const { wake } of this.#waiters) wake(why);
    this.#waiters.clear();
  }

  async #carryOut(hook: ControlHook, open: OpenControl): Promise<void> {
    const { control, receipt } = open;
    try {
      open.word = (await hook(control)) ?? undefined;
    } catch (error) {
      return this.#tell(receipt.failed(detailOf(error)));
    }
    open.carriedOut = true;
    if (control.signal === 'resume' || control.signal === 'allow') this.#tell(receipt.effective('', open.word));
    this.#settle();
  }

  #settle(): void {
    const still: OpenControl[] = [];
    for (const open of this.#open) {
      if (this.#isEffective(open)) this.#tell(open.receipt.effective(this.#howSo(), open.word));
      else still.push(open);
    }
    this.#open = still;
  }

  /** Text for the operator who reads the receipt. */
  #howSo(): string {
    if (this.#phase === 'asking') return 'the work had not begun';
    if (this.#phase === 'over') return 'the work has ended';
    return this.#waiters.size > 0 ? 'the work waits at a checkpoint' : 'carried out';
  }

  #isEffective({ control, carriedOut }: OpenControl): boolean {
    if (!this.running) return true;
    return control.signal === 'pause' && (this.#waiters.size > 0 || carriedOut);
  }

  #tell(telling: Promise<void>): void {
    this.#telling.add(telling);
    void telling.then(() => this.#telling.delete(telling));
  }
}

function detailOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, longestDetail);
}
