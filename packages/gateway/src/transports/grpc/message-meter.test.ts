import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { MessageMeter } from './message-meter.ts';

function framed(message: Uint8Array, flag = 0): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = flag;
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

test('however messages are cut into pieces, it tells which are whole and how long the next one is', () => {
  const messages = fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(messages, fc.array(fc.integer({ min: 1, max: 40 })), fc.nat(), (sent, cuts, end) => {
      const whole = Buffer.concat(sent.map((message) => framed(message)));
      const bytes = whole.subarray(0, end % (whole.length + 1));
      const meter = new MessageMeter();
      let at = 0;
      for (const cut of cuts) {
        meter.take(bytes.subarray(at, at + cut));
        at += cut;
      }
      meter.take(bytes.subarray(at));
      let start = 0;
      let finished = 0;
      let together = 0;
      for (const { length } of sent) {
        if (start + 5 + length > bytes.length) break;
        start += 5 + length;
        finished++;
        together += length;
      }
      const begun = bytes.length - start;
      expect(meter.finished).toBe(finished);
      expect(meter.length).toBe(together);
      expect(meter.begun).toBe(begun > 0 ? finished + 1 : finished);
      expect(meter.isCompressed).toBe(false);
      expect(meter.isUnfinished).toBe(begun > 0);
      expect(meter.declared).toBe(begun >= 5 ? sent[finished]?.length : 0);
    }),
  );
});

test('whichever message says that it is compressed, it is told at its first byte', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 20 })), fc.integer({ min: 1, max: 255 }), (before, flag) => {
      const meter = new MessageMeter();
      for (const message of before) meter.take(framed(message));
      expect(meter.isCompressed).toBe(false);
      meter.take(framed(Buffer.alloc(3), flag).subarray(0, 1));
      expect(meter.isCompressed).toBe(true);
    }),
  );
});
