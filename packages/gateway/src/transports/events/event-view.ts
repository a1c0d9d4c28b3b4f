import type { DomainEvent, EventLog } from '@reeve/core';
import type { EncodedEvents } from './encoded-events.ts';
import type { StreamFormat } from './stream-format.ts';

/** Events that go out in one write. */
export interface Piece {
  readonly from: number;
  /** Where to continue: the id after the last one examined. */
  readonly next: number;
  readonly events: number;
  readonly bytes: Uint8Array;
}

/** A piece ends with the event that takes it past this size. */
export const pieceBytes = 64 * 1024;
/** The most events to examine for one piece, so that none takes long. */
const pieceEvents = 1024;

/** What all clients with the same tenant and filter see. They share the encoded bytes. */
export class EventView {
  readonly #log: EventLog;
  readonly #encoded: EncodedEvents;
  readonly wants: (event: DomainEvent) => boolean;
  readonly #last: Partial<Record<StreamFormat['name'], Piece>> = {};
  clients = 0;

  constructor(log: EventLog, encoded: EncodedEvents, wants: (event: DomainEvent) => boolean) {
    this.#log = log;
    this.#encoded = encoded;
    this.wants = wants;
  }

  /** The piece that starts at `from`. Most clients are at the same place and get the same piece. */
  piece(format: StreamFormat, from: number): Piece {
    const last = this.#last[format.name];
    return last?.from === from ? last : (this.#last[format.name] = this.#build(format, from));
  }

  #build(format: StreamFormat, from: number): Piece {
    const end = Math.min(this.#log.newest, from + pieceEvents - 1);
    const frames: Buffer[] = [];
    let size = 0;
    let id = from;
    for (; id <= end && size < pieceBytes; id++) {
      const event = this.#encoded.event(id);
      const frame = event !== undefined && this.wants(event) ? this.#encoded.frame(id, format) : undefined;
      if (frame === undefined) continue;
      frames.push(frame);
      size += frame.length;
    }
    return { from, next: id, events: frames.length, bytes: Buffer.concat(frames, size) };
  }
}
