import { ReeveError } from '@reeve/core';

interface Codec<Message> {
  decode(bytes: Uint8Array): Message;
}

/** Reads a message; bytes that are none are the caller's mistake. */
export function decode<Message>(codec: Codec<Message>, bytes: Uint8Array): Message {
  try {
    return codec.decode(bytes);
  } catch {
    throw new ReeveError('invalid_argument', 'the message cannot be decoded: it does not fit the proto');
  }
}
