/** How messages are written on the wire. Bytes that are the same for all clients are made once. */
export interface StreamFormat {
  readonly name: 'websocket' | 'sse';
  event(id: number, type: string, json: string): Buffer;
  /** A message that is not an event and has no id. */
  notice(type: 'hello' | 'gap', json: string): Buffer;
}

export const webSocketFormat: StreamFormat = {
  name: 'websocket',
  event: (_id, _type, json) => textFrame(json),
  notice: (_type, json) => textFrame(json),
};

export const sseFormat: StreamFormat = {
  name: 'sse',
  event: (id, type, json) => Buffer.from(`id: ${id}\nevent: ${type}\ndata: ${json}\n\n`),
  notice: (type, json) => Buffer.from(`event: ${type}\ndata: ${json}\n\n`),
};

/** A whole text message in one frame, by RFC 6455. Servers do not mask frames, so the bytes serve every client. */
function textFrame(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const headLength = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const frame = Buffer.allocUnsafe(headLength + length);
  frame[0] = 0x81;
  if (headLength === 2) {
    frame[1] = length;
  } else if (headLength === 4) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = 127;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  frame.write(text, headLength);
  return frame;
}
