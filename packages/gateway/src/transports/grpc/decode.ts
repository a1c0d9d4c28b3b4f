import { messageOf, ReeveError } from '@reeve/core';

interface Codec<Message> {
  decode(bytes: Uint8Array): Message;
}

/** Reads a message; bytes that are none are the caller's mistake. */
export function decode<Message>(codec: Codec<Message>, bytes: Uint8Array): Message {
  try {
    return codec.decode(bytes);
  } catch (error) {
    const problem = messageOf(error).includes('SAFE_INTEGER')
      ? `a 64-bit number in it is beyond ${Number.MAX_SAFE_INTEGER}`
      : 'it does not fit the proto';
    throw new ReeveError('invalid_argument', `the message cannot be read: ${problem}`);
  }
}
