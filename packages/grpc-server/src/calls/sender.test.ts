import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { frameHeaderBytes, frameType } from '../http2/frame.ts';
import { Outbox } from '../http2/outbox.ts';
import { SharedRoom } from '../limits/shared-room.ts';
import type { Sending } from './sender.ts';
import { Sender } from './sender.ts';

const nothing = () => undefined;
const room = new SharedRoom({ ofStrangers: 1_000_000, ofAccount: 0 });
const text = Buffer.from('what one caller is told');
const framed = Buffer.concat([Buffer.from([0, 0, 0, 0, text.length]), text]);

function world() {
  const written: Buffer[] = [];
  const write = (chunk: Buffer, _: string, done: () => void) => {
    written.push(Buffer.from(chunk));
    done();
  };
  const outbox = new Outbox(new Duplex({ write, read: nothing }) as unknown as Socket, nothing);
  return { written, outbox, sender: new Sender(outbox, nothing, room.join(nothing)) };
}

function sending(sendWindow: number): Sending {
  const from = { id: 1, headFields: undefined, unsent: undefined, lastBlock: undefined };
  return {
    ...from,
    sendWindow,
    hasSentHead: true,
    unsentAt: 0,
    isQueued: false,
    sentLast: nothing,
    stalled: nothing,
    drained: nothing,
  };
}

/** The content of all DATA frames. */
function contentOf(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + frameHeaderBytes + bytes.readUIntBE(at, 3);
    if (bytes[at + 3] === frameType.data) parts.push(bytes.subarray(at + frameHeaderBytes, end));
    at = end;
  }
  return Buffer.concat(parts);
}

/** Wherever the buffer of a turn ends, and however little the peer takes at a time. */
const places = [4096, 65_536].flatMap((end) => Array.from({ length: 40 }, (_, before) => end - before));

test.each([1, 2, 3, 4, 5, 6, 7, 28])(
  'a message that goes %i bytes at a time arrives whole, as it was sent',
  (window) => {
    for (const place of places) {
      const { written, outbox, sender } = world();
      for (let left = place; left > 0; left -= 30_000) outbox.put(Buffer.alloc(Math.min(left, 30_000)));
      const call = sending(window);
      const lent = Buffer.from(text);
      sender.message(call, lent);
      lent.fill('another caller is told this');
      while (call.unsent !== undefined && call.unsent.length > 0) sender.widen(call, window);
      outbox.flush();
      expect(contentOf(Buffer.concat(written).subarray(place)), `at ${place}`).toEqual(framed);
    }
  },
);

test('bytes that were lent are never kept, even if sending them fails', () => {
  const { outbox, sender } = world();
  const call = sending(3);
  const lent = Buffer.from(text);
  outbox.reserve = () => {
    throw new Error('no room');
  };
  expect(() => sender.message(call, lent)).toThrow('no room');
  expect(call.unsent?.[0]).toEqual(new Uint8Array(text));
  expect(call.unsent?.[0]).not.toBe(lent);
});
