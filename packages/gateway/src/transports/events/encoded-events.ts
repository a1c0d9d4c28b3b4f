import type { DomainEvent, EventLog } from '@reeve/core';
import { eventJson } from './event-json.ts';
import type { StreamFormat } from './stream-format.ts';

/** How many encoded events are kept: a power of two, so that the place of an id is found by a mask. */
const encodedKept = 4096;

interface Encoded {
  readonly id: number;
  readonly event: DomainEvent;
  json: string | undefined;
  readonly frames: Partial<Record<StreamFormat['name'], Buffer>>;
}

/** The events of the log as bytes. Each is made into JSON once, and into a frame once for each format. */
export class EncodedEvents {
  readonly #log: EventLog;
  #kept: (Encoded | undefined)[] = [];

  constructor(log: EventLog) {
    this.#log = log;
  }

  event(id: number): DomainEvent | undefined {
    return this.#at(id)?.event;
  }

  frame(id: number, format: StreamFormat): Buffer | undefined {
    const encoded = this.#at(id);
    if (encoded === undefined) return undefined;
    encoded.json ??= JSON.stringify(eventJson(id, encoded.event));
    return (encoded.frames[format.name] ??= format.event(id, encoded.event.type, encoded.json));
  }

  /** When nobody listens, nothing needs to be kept. */
  clear(): void {
    this.#kept = [];
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
