import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { sseFormat, webSocketFormat } from './stream-format.ts';

/** The text of a single frame, read by RFC 6455, section 5.2. */
function textIn(frame: Buffer): string {
  expect(frame[0], 'the whole of a text message').toBe(0b1000_0001);
  const short = frame[1] ?? 0;
  expect(short & 0b1000_0000, 'not masked').toBe(0);
  if (short < 126) return payload(frame, 2, short);
  if (short === 126) {
    const length = frame.readUInt16BE(2);
    expect(length, 'in as few bytes as possible').toBeGreaterThan(125);
    return payload(frame, 4, length);
  }
  const length = Number(frame.readBigUInt64BE(2));
  expect(length, 'in as few bytes as possible').toBeGreaterThan(65_535);
  return payload(frame, 10, length);
}

function payload(frame: Buffer, start: number, length: number): string {
  expect(frame.length).toBe(start + length);
  return frame.toString('utf8', start);
}

test.each([0, 1, 125, 126, 127, 65_535, 65_536, 70_000])('a text of %i bytes is one frame', (length) => {
  const text = 'x'.repeat(length);
  expect(textIn(webSocketFormat.event(1, 'decision', text))).toBe(text);
});

test('texts of any characters are frames, measured in bytes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
      expect(textIn(webSocketFormat.notice('hello', text))).toBe(text);
    }),
  );
});

test('Server-Sent Events have an id and a type, and notices have no id', () => {
  expect(sseFormat.event(7, 'agent', '{"ü":1}').toString()).toBe('id: 7\nevent: agent\ndata: {"ü":1}\n\n');
  expect(sseFormat.notice('gap', '{}').toString()).toBe('event: gap\ndata: {}\n\n');
});
