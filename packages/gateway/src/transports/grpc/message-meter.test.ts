import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { MessageMeter } from './message-meter.ts';

function framed(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

test('however messages are cut into pieces, it tells which are whole and how long the next one is', () => {
  const messages = fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(messages, fc.array(fc.integer({ min: 1, max: 40 })), fc.nat(), (sent, cuts, end) => {
      const whole = Buffer.concat(sent.map(framed));
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
      for (const { length } of sent) {
        if (start + 5 + length > bytes.length) break;
        start += 5 + length;
        finished++;
      }
      const begun = bytes.length - start;
      expect(meter.finished).toBe(finished);
      expect(meter.isUnfinished).toBe(begun > 0);
      expect(meter.declared).toBe(begun >= 5 ? sent[finished]?.length : 0);
    }),
  );
});
