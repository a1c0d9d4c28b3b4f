import type { Carrier } from './carrier.ts';
import type { Refusal, RequestHead } from './request-head.ts';
import { httpErrorBlock, notGrpc } from './response-blocks.ts';
import { ServerCall } from './server-call.ts';

/** A longer body is not worth waiting for. */
const mostDiscarded = 64 * 1024;

/**
 * A request that is not gRPC. It keeps the rules of its stream as a call does, its body is counted and discarded, and at
 * its end it is told what this server is.
 */
export class RefusedCall extends ServerCall {
  readonly #refusal: Refusal;
  #discarded = 0;

  constructor(id: number, connection: Carrier<ServerCall>, head: RequestHead, sendWindow: number, refusal: Refusal) {
    // What is not gRPC has no deadline of gRPC either.
    super(id, connection, { ...head, timeoutMs: undefined }, sendWindow);
    this.#refusal = refusal;
    this.isUseful = false;
    this.since = connection.now;
  }

  protected override get heldBytes(): number {
    return 0;
  }

  protected override get spareWindow(): number {
    return 1024;
  }

  /** Call it once. Who asks for a tunnel sends nothing before the answer. */
  start(): void {
    if (this.#refusal.method === 'CONNECT') this.#answer();
  }

  override stalled(): void {
    this.markStalled();
  }

  override drained(): void {
    this.notStalled();
  }

  protected override begins(): boolean {
    return false;
  }

  protected override read(_bytes: Buffer, start: number, end: number): number {
    this.#discarded += end - start;
    if (this.#discarded > mostDiscarded) this.#answer();
    return end;
  }

  protected override gotMessage(): void {}

  protected override gotEnd(): void {
    this.#answer();
  }

  protected override gone(): void {}

  #answer(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.since = undefined;
    const { method, status } = this.#refusal;
    // An answer to HEAD has no content (RFC 9110 §9.3.2).
    if (method === 'HEAD') this.connection.sender.last(this, httpErrorBlock(status));
    else this.connection.sender.content(this, httpErrorBlock(status), notGrpc);
  }
}
