import type { UnaryCall, UnaryHandler } from '../handlers.ts';
import type { Status } from '../status.ts';
import { statusCode } from '../status.ts';
import type { Carrier } from './carrier.ts';
import type { RequestHead } from './request-head.ts';
import { besideEach } from './message.ts';
import { ServerCall } from './server-call.ts';

const ok: Status = { code: statusCode.ok, message: '' };

/** A call with one message each way. */
export class UnaryServerCall extends ServerCall implements UnaryCall {
  onCancelled: (() => void) | undefined;
  readonly #handler: UnaryHandler;
  #message: Buffer | undefined;
  /** Whether the message is a view of what was read, which must not outlive the turn. */
  #isLent = false;
  #isAnswered = false;
  #isRunning = false;

  constructor(
    id: number,
    connection: Carrier<ServerCall>,
    head: RequestHead,
    sendWindow: number,
    handler: UnaryHandler,
  ) {
    super(id, connection, head, sendWindow);
    this.#handler = handler;
    this.since = connection.now;
  }

  protected override get heldBytes(): number {
    return this.#message === undefined ? 0 : this.#message.length + besideEach;
  }

  /** Some clients do not even send the empty frame that ends a request while the window is empty. */
  protected override get spareWindow(): number {
    return 1024;
  }

  answer(message: Uint8Array): void {
    this.#done();
    if (!this.isOpen) return;
    this.#isAnswered = true;
    const { sender } = this.connection;
    const isUsual = this.state === 'halfClosedRemote' && !this.hasExtraFields;
    if (isUsual && sender.answerAtOnce(this, message)) {
      this.isOpen = false;
      this.connection.remove(this, false);
      return;
    }
    sender.message(this, message);
    this.finish(ok);
  }

  override fail(error: unknown): void {
    this.#done();
    this.#isAnswered = true;
    super.fail(error);
  }

  override settle(): void {
    if (this.#isLent && this.#message !== undefined) {
      const own = Buffer.allocUnsafeSlow(this.#message.length);
      this.#message.copy(own);
      this.#message = own;
      this.#isLent = false;
    }
    super.settle();
  }

  override stalled(): void {
    this.markStalled();
  }

  override drained(): void {
    this.notStalled();
  }

  protected override begins(): boolean {
    if (this.#message === undefined) return true;
    this.finish({
      code: statusCode.unimplemented,
      message: 'a unary call takes one message, and a second one has begun',
    });
    return false;
  }

  protected override gotMessage(message: Buffer): void {
    this.#message = message;
    this.#isLent = true;
  }

  protected override gotEnd(): void {
    const message = this.#message;
    this.#message = undefined;
    this.since = undefined;
    if (this.held > 0) this.connection.settle(this);
    if (this.partial !== undefined) {
      this.finish({ code: statusCode.internal, message: 'the request ends within a message' });
    } else if (message === undefined) {
      this.finish({ code: statusCode.unimplemented, message: 'a unary call takes one message, and none came' });
    } else {
      this.#isRunning = true;
      this.connection.handling(1);
      try {
        this.#handler(message, this);
      } catch (error) {
        this.fail(error);
      }
    }
  }

  protected override gone(): void {
    if (this.#isAnswered || this.onCancelled === undefined) return;
    this.#done();
    try {
      this.onCancelled();
    } catch (error) {
      // Nobody is left to hear it, but `statusOf` may log it.
      this.connection.statusOf(error);
    }
  }

  /** Its handler runs no more. */
  #done(): void {
    if (!this.#isRunning) return;
    this.#isRunning = false;
    this.connection.handling(-1);
  }
}
