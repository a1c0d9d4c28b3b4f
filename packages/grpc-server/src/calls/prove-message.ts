import type { Call } from '../handlers.ts';
import { defaultWindow } from '../http2/frame.ts';
import type { Limits } from '../limits.ts';
import type { Status } from '../status.ts';
import { tooLargeYet } from './call-faults.ts';
import type { PartialMessage } from './partial-message.ts';

interface Peer {
  /** Whose connection it is; undefined until it has shown a credential. */
  readonly account: string | undefined;
  readonly limits: Limits;
  statusOf(error: unknown): Status;
}

/** A call whose message is too large for a peer that has shown no credential. */
interface Proving extends Call {
  readonly connection: Peer;
  /** How much more the peer may send. */
  readonly receiveWindow: number;
  /** Somebody looks whether the message shows a credential. */
  isProving: boolean;
  finish(status: Status): void;
}

/** Whether more of a message comes only once a credential is found in its beginning. */
export function isUnproven({ account, limits }: Peer, partial: PartialMessage | undefined): boolean {
  return account === undefined && (partial?.length ?? 0) > limits.messageBytes;
}

/** How long a message may become that has begun. */
export function mayGrowTo(peer: Peer, partial: PartialMessage): number {
  return isUnproven(peer, partial) ? defaultWindow : (partial.length ?? 0);
}

/** Looks for a credential in what has come of a message. Where there is none, the call is refused. */
export function prove(call: Proving, partial: PartialMessage | undefined): void {
  if (call.isProving || partial === undefined || !isUnproven(call.connection, partial)) return;
  const { limits } = call.connection;
  const refuse = () => call.finish(tooLargeYet(partial.length ?? 0, limits.messageBytes));
  // A credential that does not count is told as everywhere else, so that its owner can renew it.
  const fail = (error: unknown) => call.finish(call.connection.statusOf(error));
  try {
    const found = limits.findCredential.get(call.path)?.(partial.message, call);
    if (found instanceof Promise) {
      call.isProving = true;
      // Whoever is trusted by then goes on.
      found.then((isShown) => isShown || refuse(), fail);
    } else if (found === false || (found === undefined && call.receiveWindow === 0)) {
      refuse();
    }
  } catch (error) {
    fail(error);
  }
}
