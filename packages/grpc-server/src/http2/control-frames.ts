import type { ErrorCode } from './frame.ts';
import { flag, frameHeaderBytes, frameType, writeFrameHeader, writeUint32 } from './frame.ts';

export const pingBytes = 8;

export function pingFrame(payload: Uint8Array, isAck: boolean): Buffer {
  const out = Buffer.allocUnsafe(frameHeaderBytes + pingBytes);
  out.set(payload, writeFrameHeader(out, 0, pingBytes, frameType.ping, isAck ? flag.ack : 0, 0));
  return out;
}

/** `message` is for whoever looks into it at the other end. */
export function goAwayFrame(lastStream: number, code: ErrorCode, message: string): Buffer {
  const debug = Buffer.from(message);
  const out = Buffer.allocUnsafe(frameHeaderBytes + 8 + debug.length);
  const at = writeFrameHeader(out, 0, 8 + debug.length, frameType.goAway, 0, 0);
  writeUint32(out, at, lastStream);
  writeUint32(out, at + 4, code);
  out.set(debug, at + 8);
  return out;
}
