import { ConnectionError } from './connection-error.ts';
import {
  defaultFrameSize,
  defaultWindow,
  errorCode,
  flag,
  frameHeaderBytes,
  frameType,
  largestFrameSize,
  largestWindow,
  readUint32,
  settingId,
  writeFrameHeader,
  writeUint32,
} from './frame.ts';

/** What the peer has told us, as far as it is needed. */
export interface PeerSettings {
  initialWindow: number;
  frameSize: number;
  /** How many calls at a time a server takes. */
  streams: number;
}

export function defaultSettings(): PeerSettings {
  return { initialWindow: defaultWindow, frameSize: defaultFrameSize, streams: Number.POSITIVE_INFINITY };
}

/** Reads the payload of SETTINGS (RFC 9113 §6.5.2) into `settings`. */
export function readSettings(settings: PeerSettings, bytes: Uint8Array, start: number, end: number): void {
  if ((end - start) % 6 !== 0) {
    throw new ConnectionError(errorCode.frameSizeError, 'the length of SETTINGS is not a multiple of six');
  }
  for (let at = start; at < end; at += 6) {
    const id = ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
    const value = readUint32(bytes, at + 2);
    if (id === settingId.enablePush && value > 1) {
      throw new ConnectionError(errorCode.protocolError, 'SETTINGS_ENABLE_PUSH is neither 0 nor 1');
    }
    if (id === settingId.maxConcurrentStreams) settings.streams = value;
    if (id === settingId.initialWindowSize) {
      if (value > largestWindow) {
        throw new ConnectionError(errorCode.flowControlError, 'SETTINGS_INITIAL_WINDOW_SIZE is over 2^31-1');
      }
      settings.initialWindow = value;
    }
    if (id === settingId.maxFrameSize) {
      if (value < defaultFrameSize || value > largestFrameSize) {
        throw new ConnectionError(errorCode.protocolError, 'SETTINGS_MAX_FRAME_SIZE is not in 2^14 to 2^24-1');
      }
      settings.frameSize = value;
    }
    // The encoder keeps no table, so SETTINGS_HEADER_TABLE_SIZE changes nothing here.
  }
}

export function settingsFrame(settings: readonly (readonly [id: number, value: number])[]): Buffer {
  const out = Buffer.alloc(frameHeaderBytes + settings.length * 6);
  let at = writeFrameHeader(out, 0, settings.length * 6, frameType.settings, 0, 0);
  for (const [id, value] of settings) {
    out[at + 1] = id;
    writeUint32(out, at + 2, value);
    at += 6;
  }
  return out;
}

export const settingsAck: Buffer = (() => {
  const out = Buffer.alloc(frameHeaderBytes);
  writeFrameHeader(out, 0, 0, frameType.settings, flag.ack, 0);
  return out;
})();
