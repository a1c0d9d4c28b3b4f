import type { Mark } from './exchange.ts';
import { LineSplitter } from './line-splitter.ts';

/** An event of a server-sent event stream, as far as MCP uses them. */
export interface StreamEvent extends Mark {
  readonly data: string;
}

/** Reads server-sent events from bytes (WHATWG HTML, 9.2.6). Throws if an event is too long. */
export class EventReader {
  readonly #lines: LineSplitter;
  readonly #longest: number;
  #data: string[] = [];
  #size = 0;
  #id: string | undefined;
  #retry: number | undefined;
  #isMessage = true;

  constructor(longest: number) {
    this.#lines = new LineSplitter(longest);
    this.#longest = longest;
  }

  push(chunk: Buffer): StreamEvent[] {
    const events: StreamEvent[] = [];
    for (const line of this.#lines.push(chunk)) {
      if (line === undefined) throw new Error('an event is too long');
      if (line !== '') this.#field(line);
      else if (this.#data.length > 0 || this.#id !== undefined || this.#retry !== undefined) events.push(this.#event());
    }
    return events;
  }

  #field(line: string): void {
    const at = line.indexOf(':');
    const name = at === -1 ? line : line.slice(0, at);
    const value = at === -1 ? '' : line.slice(line[at + 1] === ' ' ? at + 2 : at + 1);
    if (name === 'data') {
      this.#size += value.length;
      if (this.#size > this.#longest) throw new Error('an event is too long');
      this.#data.push(value);
    }
    // To others a carriage return ends the line, so what follows it would be a message that nobody has looked at.
    else if (name === 'id' && !/[\0\r]/.test(value)) this.#id = value;
    else if (name === 'retry' && /^\d{1,9}$/.test(value)) this.#retry = Number(value);
    else if (name === 'event') this.#isMessage = value === '' || value === 'message';
  }

  #event(): StreamEvent {
    const event = { data: this.#isMessage ? this.#data.join('\n') : '', id: this.#id, retry: this.#retry };
    this.#data = [];
    this.#size = 0;
    this.#id = undefined;
    this.#retry = undefined;
    this.#isMessage = true;
    return event;
  }
}

/** Writes an event. The data is one line. */
export function eventText(data: string, { id, retry }: Mark = {}): string {
  const lines = [
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...(retry === undefined ? [] : [`retry: ${retry}`]),
    ...(data === '' ? [] : ['event: message']),
    `data: ${data}`,
  ];
  return `${lines.join('\n')}\n\n`;
}
