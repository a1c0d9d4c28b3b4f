import type { JsonId, Message } from '../protocol/message.ts';
import type { Exchange } from './exchange.ts';
import type { ServerCommand } from './stdio-child.ts';
import { StdioChild } from './stdio-child.ts';
import type { Upstream, UpstreamEvents } from './upstream.ts';
import { inTime } from './upstream.ts';

/** A server of its own for one session, on standard input and output. */
export class StdioUpstream implements Upstream {
  readonly hasExchanges = false;
  readonly #child: StdioChild;

  constructor(command: ServerCommand, events: UpstreamEvents, noise: () => void) {
    this.#child = new StdioChild(command, {
      message: (message) => events.message(message),
      gone: (why) => events.gone(why),
      noise,
    });
  }

  async send(message: Message): Promise<void> {
    await this.#child.send(message);
  }

  async cancel(_id: JsonId, notification: Message): Promise<void> {
    await inTime(this.#child.send(notification));
  }

  listen(exchange: Exchange): void {
    exchange.accept();
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  close(): Promise<void> {
    return this.#child.close();
  }
}
