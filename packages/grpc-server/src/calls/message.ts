import { writeUint32 } from '../http2/frame.ts';
import { prefixBytes } from './partial-message.ts';

/** The overhead of each message, so that empty ones count as well. */
export const besideEach = 256;

/** A message of which the last bytes never change. Those are not copied, however many peers are slow to take them. */
export class SplitMessage {
  readonly own: Uint8Array;
  readonly constant: Uint8Array;
  readonly length: number;

  constructor(own: Uint8Array, constant: Uint8Array) {
    this.own = own;
    this.constant = constant;
    this.length = own.length + constant.length;
  }
}

export type Message = Uint8Array | SplitMessage;

/** The message with bytes of its own. */
export function kept(message: Message): Message {
  if (message instanceof SplitMessage) return new SplitMessage(new Uint8Array(message.own), message.constant);
  return new Uint8Array(message);
}

/** What keeping the message costs. */
export function memoryOf(message: Message): number {
  return besideEach + (message instanceof SplitMessage ? message.own.length : message.length);
}

/** Writes a part of a message with its prefix, which begins before the message does. */
export function writePart(message: Message, from: number, size: number, out: Uint8Array, at: number): void {
  if (from === 0 && size >= prefixBytes) writePrefix(out, at, message.length);
  else for (let i = from; i < Math.min(prefixBytes, from + size); i++) out[at + i - from] = prefixByte(message, i);
  const start = Math.max(0, from - prefixBytes);
  // Behind the prefix there may be no place in the buffer, not even for nothing.
  const end = Math.max(start, from + size - prefixBytes);
  const place = at + Math.max(0, prefixBytes - from);
  if (!(message instanceof SplitMessage)) {
    if (end > start) out.set(message.subarray(start, end), place);
    return;
  }
  const { own, constant } = message;
  const ownEnd = Math.min(end, own.length);
  if (ownEnd > start) out.set(own.subarray(start, ownEnd), place);
  const constantStart = Math.max(start, own.length);
  if (end > constantStart) {
    out.set(constant.subarray(constantStart - own.length, end - own.length), place + constantStart - start);
  }
}

export function writePrefix(out: Uint8Array, at: number, length: number): void {
  out[at] = 0;
  writeUint32(out, at + 1, length);
}

function prefixByte(message: Message, index: number): number {
  return index === 0 ? 0 : (message.length >>> (8 * (4 - index))) & 255;
}
