import type { ClosedStreams } from '../http2/closed-streams.ts';
import type { ErrorCode } from '../http2/frame.ts';
import { errorCode } from '../http2/frame.ts';
import type { PeerBudget } from '../limits/peer-budget.ts';
import type { Status } from '../status.ts';
import type { HeadFault } from './request-head.ts';
import { trailerBlock } from './response-blocks.ts';
import type { Sender } from './sender.ts';

/** Ends streams that become no call, and wants nothing of what their clients still send. */
export class TurnedAway {
  readonly #sender: Sender;
  readonly #budget: PeerBudget;
  readonly #closed: ClosedStreams;

  constructor(sender: Sender, budget: PeerBudget, closed: ClosedStreams) {
    this.#sender = sender;
    this.#budget = budget;
    this.#closed = closed;
  }

  /** The client may try again at once. */
  refuse(id: number, now: number): void {
    this.#reset(id, errorCode.refusedStream);
    this.#budget.refused(now);
  }

  /** The client hears why, and may try again later. */
  tell(id: number, isLast: boolean, status: Status, now: number): void {
    this.#answer(id, isLast, trailerBlock(status, false));
    this.#budget.refused(now);
  }

  /** The request was not one that can be handled. */
  fault(id: number, isLast: boolean, fault: Exclude<HeadFault, { kind: 'http' }>, now: number): void {
    if (fault.kind === 'malformed') {
      this.#reset(id, errorCode.protocolError);
      this.#budget.fault(now);
    } else {
      this.#answer(id, isLast, fault.block);
      this.#budget.unhandled(now);
    }
  }

  #answer(id: number, isLast: boolean, block: Buffer): void {
    this.#sender.headers(id, block, true);
    if (!isLast) this.#sender.reset(id, errorCode.noError);
    this.#closed.add(id, !isLast);
  }

  #reset(id: number, code: ErrorCode): void {
    this.#sender.reset(id, code);
    this.#closed.add(id, true);
  }
}
