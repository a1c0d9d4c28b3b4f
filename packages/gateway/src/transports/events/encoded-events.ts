import type { DomainEvent, EventLog } from '@reeve/core';
import { eventJson } from './event-json.ts';
import type { StreamFormat } from './stream-format.ts';

/** How many encoded events are kept: a power of two, so that a mask finds the index of an id. */
const encodedKept = 4096;
/** The most bytes that are kept. Beyond it, events are encoded again for later clients. */
const mostBytes = 16 * 1024 * 1024;

interface Encoded {
  readonly id: number;
  readonly event: DomainEvent;
  json: string | undefined;
  readonly frames: Partial<Record<StreamFormat['name'], Buffer>>;
}

/** The events of the log as bytes. Each is made into JSON once, and into a frame once per format. */
export class EncodedEvents {
  readonly #log: EventLog;
  #kept: (Encoded | undefined)[] = [];
  #bytes = 0;

  constructor(log: EventLog) {
    this.#log = log;
  }

  event(id: number): DomainEvent | undefined {
    return this.#at(id)?.event;
  }

  frame(id: number, format: StreamFormat): Buffer | undefined {
    const encoded = this.#at(id);
    if (encoded === undefined) return undefined;
    const made = encoded.frames[format.name];
    if (made !== undefined) return made;
    encoded.json ??= JSON.stringify(eventJson(id, encoded.event));
    const frame = format.event(id, encoded.event.type, encoded.json);
    encoded.frames[format.name] = frame;
    // The JSON takes about as much memory as the frame.
    this.#bytes += 2 * frame.length;
    if (this.#bytes > mostBytes) this.clear();
    return frame;
  }

  /** When nobody listens, nothing needs to be kept. */
  clear(): void {
    this.#kept = [];
    this.#bytes = 0;
  }

  #at(id: number): Encoded | undefined {
    const place = id & (encodedKept - 1);
    const kept = this.#kept[place];
    if (kept?.id === id) return kept;
    const event = this.#log.at(id);
    if (event === undefined) return undefined;
    return (this.#kept[place] = { id, event, json: undefined, frames: {} });
  }
}
