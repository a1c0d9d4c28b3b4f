import type { IncomingMessage } from 'node:http';
import type { SharedRoom } from '@reeve/grpc-server';

/**
 * Bodies of requests that have not come in whole. They are gathered in memory. So they count as long as they may become,
 * together with what the same tenant leaves unfinished over gRPC; callers without a credential share one bound.
 */
export class UnfinishedBodies {
  readonly #room: SharedRoom;
  readonly #largest: number;

  constructor(room: SharedRoom, largest: number) {
    this.#room = room;
    this.#largest = largest;
  }

  /** Counts a body until it has come, or its connection has ended. Without an owner, it is a stranger's. */
  hold(owner: string | undefined, request: IncomingMessage): void {
    const bytes = this.#longestBody(request);
    if (bytes === 0 || request.readableEnded) return;
    const share = this.#room.join(() => request.destroy());
    if (owner !== undefined) share.belongTo(owner);
    const leave = () => share.leave();
    request.once('end', leave).once('close', leave);
    share.hold(bytes);
  }

  #longestBody({ headers }: IncomingMessage): number {
    if (headers['transfer-encoding'] !== undefined) return this.#largest;
    return Math.min(this.#largest, Number(headers['content-length'] ?? 0));
  }
}
