/** The parts of HTTP/2 (RFC 9113) and HPACK (RFC 7541) that a gRPC client must write. */
export const frameType = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goAway: 7, windowUpdate: 8 } as const;
export const flag = { endStream: 1, ack: 1, endHeaders: 4, padded: 8 } as const;
export const frameHeaderBytes = 9;
export const largestFrame = 16_384;
export const largestWindow = 0x7fff_ffff;
export const defaultWindow = 65_535;
export const settingId = { enablePush: 2, initialWindowSize: 4 } as const;

export const preface: Buffer = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

export function writeFrameHeader(
  out: Buffer,
  at: number,
  length: number,
  type: number,
  flags: number,
  stream: number,
): void {
  out.writeUIntBE(length, at, 3);
  out[at + 3] = type;
  out[at + 4] = flags;
  out.writeUInt32BE(stream, at + 5);
}

export function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const out = Buffer.alloc(frameHeaderBytes + payload.length);
  writeFrameHeader(out, 0, payload.length, type, flags, stream);
  out.set(payload, frameHeaderBytes);
  return out;
}

export function settingsFrame(settings: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = Buffer.alloc(settings.length * 6);
  settings.forEach(([id, value], index) => {
    payload.writeUInt16BE(id, index * 6);
    payload.writeUInt32BE(value, index * 6 + 2);
  });
  return frame(frameType.settings, 0, 0, payload);
}

export function windowUpdateFrame(stream: number, increment: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(increment, 0);
  return frame(frameType.windowUpdate, 0, stream, payload);
}

/** The header block of a gRPC request, as literals without indexing. */
export function requestHead(authority: string, path: string, extra: Readonly<Record<string, string>> = {}): Buffer {
  const postOverHttp = Buffer.from([0x83, 0x86]);
  const fields = { te: 'trailers', 'content-type': 'application/grpc', 'user-agent': 'reeve-bench', ...extra };
  return Buffer.concat([
    postOverHttp,
    Buffer.from([0x04]),
    text(path),
    Buffer.from([0x01]),
    text(authority),
    ...Object.entries(fields).flatMap(([name, value]) => [Buffer.from([0x00]), text(name), text(value)]),
  ]);
}

/** A gRPC message with its prefix of five bytes. */
export function framedMessage(message: Uint8Array): Buffer {
  const out = Buffer.alloc(5 + message.length);
  out.writeUInt32BE(message.length, 1);
  out.set(message, 5);
  return out;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const rest = bytes.length - 127;
  if (rest > 127) throw new Error(`a header value of ${bytes.length} bytes is not supported`);
  return Buffer.concat([Buffer.from([127, rest]), bytes]);
}
