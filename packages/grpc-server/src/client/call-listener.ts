import type { Metadata } from '../metadata.ts';
import type { Status } from '../status.ts';

/** How a call ended, with the metadata of its trailers. */
export interface CallStatus extends Status {
  readonly metadata: Metadata;
}

/** The events of a call. The last is `ended`, and it comes once. */
export interface CallListener {
  /** The server has begun to answer. */
  opened?(metadata: Metadata): void;
  /** The message is a view of what was read. Copy it to keep it for long. */
  message(message: Buffer): void;
  ended(status: CallStatus): void;
}

export function tellOpened(listener: CallListener, metadata: Metadata): void {
  try {
    listener.opened?.(metadata);
  } catch (error) {
    surface(error);
  }
}

export function tellMessage(listener: CallListener, message: Buffer): void {
  try {
    listener.message(message);
  } catch (error) {
    surface(error);
  }
}

export function tellEnded(listener: CallListener, { code, message }: Status, metadata: Metadata): void {
  try {
    listener.ended({ code, message, metadata });
  } catch (error) {
    surface(error);
  }
}

/** What a listener throws surfaces as an error of the process, and breaks no other call. */
function surface(error: unknown): void {
  process.nextTick(() => {
    throw error;
  });
}
