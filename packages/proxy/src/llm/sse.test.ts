import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { oddText } from '../../test/odd-text.ts';
import { dataOf, SseFramer } from './sse.ts';

/** The stream, fed in parts of these lengths. */
function framed(stream: Buffer, cuts: readonly number[], most?: number) {
  const framer = new SseFramer(most);
  const events = [];
  let from = 0;
  for (const cut of [...cuts, stream.length]) {
    events.push(...framer.push(stream.subarray(from, from + cut)));
    from = Math.min(stream.length, from + cut);
  }
  const rest = framer.flush();
  return rest === undefined ? events : [...events, rest];
}

const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
const line = fc.oneof(
  oddText.map((text) => `data: ${text.replaceAll(/[\r\n]/g, '')}`),
  fc.constantFrom('event: ping', ': comment', 'id: 7', 'data', 'data:x'),
);
const event = fc.tuple(fc.array(line, { minLength: 1, maxLength: 4 }), lineEnd);
const stream = fc.array(event, { maxLength: 8 }).map((events) => ({
  text: events.map(([lines, end]) => lines.map((each) => each + end).join('') + end).join(''),
  data: events.map(([lines]) =>
    lines.filter((each) => each.startsWith('data')).map((each) => each.slice(5).replace(/^ /, '')),
  ),
}));

test('however the stream is cut, its events are the same and their bytes are the stream', () => {
  fc.assert(
    fc.property(stream, fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 30 }), ({ text, data }, cuts) => {
      const bytes = Buffer.from(text);
      const events = framed(bytes, cuts);
      expect(Buffer.concat(events.map((each) => each.bytes)).equals(bytes)).toBe(true);
      const whole = events.filter((each) => each.isWhole).map((each) => dataOf(each.bytes));
      expect(whole).toEqual(data.map((lines) => lines.join('\n')));
    }),
  );
});

test('an event above the limit comes in parts, and the next one is whole again', () => {
  const events = framed(Buffer.from(`data: ${'x'.repeat(100)}\n\ndata: y\n\n`), [20, 20, 20, 20, 20], 50);
  expect(Buffer.concat(events.map((each) => each.bytes)).toString()).toBe(`data: ${'x'.repeat(100)}\n\ndata: y\n\n`);
  expect(events.map((each) => each.isWhole)).toEqual([false, false, true]);
});

test('what a stream breaks off within is passed on as it is', () => {
  const [first, rest] = framed(Buffer.from('data: 1\n\ndata: 2'), [3]);
  expect(first?.isWhole).toBe(true);
  expect(rest).toEqual({ bytes: Buffer.from('data: 2'), isWhole: false });
});
