import { assert, array, nat, property } from 'fast-check';
import { expect, test } from 'vitest';
import { SseParser } from './parse-sse.ts';

const stream = 'event: hello\ndata: {"a":1}\n\n: \n\nid: 7\ndata: {"b":\ndata:2}\n\ndata: last\r\n\r\ndata: cut off';

test('events are the same however the stream is cut into pieces', () => {
  assert(
    property(array(nat({ max: stream.length })), (cuts) => {
      const parser = new SseParser();
      const places = [0, ...cuts.toSorted((a, b) => a - b), stream.length];
      const pieces = places.slice(1).map((end, at) => stream.slice(places[at], end));
      expect(pieces.flatMap((piece) => parser.take(piece))).toEqual(['{"a":1}', '{"b":\n2}', 'last']);
    }),
  );
});

test('a line without an end is not kept for ever', () => {
  const parser = new SseParser();
  expect(() => {
    for (;;) parser.take('x'.repeat(1024 * 1024));
  }).toThrow('too large');
});
