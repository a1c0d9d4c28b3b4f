import type { Message } from '../protocol/message.ts';
import { edited, notificationMessage } from '../protocol/message.ts';
import { isObject } from '../protocol/written-json.ts';

const everyMs = 5000;

/**
 * The progress of one call as the client sees it. The proxy reports while the call is held; the server's own reports
 * then go on above that, so that the numbers never fall (MCP, progress: the value must increase).
 */
export class CallProgress {
  readonly #token: unknown;
  readonly #send: (message: Message) => void;
  #last = 0;
  #ownReports = 0;
  #offset: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(token: unknown, send: (message: Message) => void) {
    this.#token = token;
    this.#send = send;
  }

  /** Reports now and then that the call is held, until `release`. */
  hold(text: string): void {
    if (this.#token === undefined || this.#timer !== undefined) return;
    this.#report(text);
    this.#timer = setInterval(() => this.#report(text), everyMs);
    this.#timer.unref();
  }

  release(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** The server's own report, as the client gets it. */
  relay(message: Message): Message {
    const value =
      isObject(message.value) && isObject(message.value['params']) ? message.value['params']['progress'] : 0;
    const progress = typeof value === 'number' && Number.isFinite(value) ? value : 0;
    if (this.#ownReports === 0) {
      this.#last = Math.max(this.#last, progress);
      return message;
    }
    this.#offset ??= progress > 0 ? this.#last : this.#last + 1 - progress;
    const offset = this.#offset;
    this.#last = Math.max(this.#last, progress + offset);
    return edited(message, (whole) => ({ ...whole, params: shifted(whole['params'], progress, offset) }));
  }

  #report(text: string): void {
    this.#ownReports++;
    this.#last = Math.floor(this.#last) + 1;
    // What the server reports after this must be higher still.
    this.#offset = undefined;
    this.#send(notificationMessage('notifications/progress', this.#params(text)));
  }

  #params(text: string): Record<string, unknown> {
    return { progressToken: this.#token, progress: this.#last, message: text };
  }
}

function shifted(params: unknown, progress: number, offset: number): unknown {
  if (!isObject(params)) return params;
  const { total } = params;
  return {
    ...params,
    progress: progress + offset,
    ...(typeof total === 'number' ? { total: total + offset } : {}),
  };
}
