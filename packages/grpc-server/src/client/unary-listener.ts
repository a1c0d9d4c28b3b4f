import { statusCode } from '../status.ts';
import type { CallListener, CallStatus } from './call-listener.ts';
import type { ClientCall } from './client-call.ts';

/** Hears the one message of a unary call, and its status. */
export class UnaryListener implements CallListener {
  call: ClientCall | undefined;
  readonly #done: (status: CallStatus, answer: Buffer | undefined) => void;
  #answer: Buffer | undefined;

  constructor(done: (status: CallStatus, answer: Buffer | undefined) => void) {
    this.#done = done;
  }

  message(message: Buffer): void {
    if (this.#answer === undefined) this.#answer = message;
    else this.call?.cancel({ code: statusCode.unimplemented, message: 'Too many responses received' });
  }

  ended(status: CallStatus): void {
    if (status.code !== statusCode.ok) this.#done(status, undefined);
    else if (this.#answer !== undefined) this.#done(status, this.#answer);
    else this.#done({ ...status, code: statusCode.unimplemented, message: 'No message received' }, undefined);
  }
}
