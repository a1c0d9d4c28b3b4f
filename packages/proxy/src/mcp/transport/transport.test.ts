import { array, assert, json, nat, option, property, record, string, uuid } from 'fast-check';
import { expect, it } from 'vitest';
import { EventReader, eventText } from './event-stream.ts';
import { LineSplitter } from './line-splitter.ts';

const chunked = (bytes: Buffer, cuts: readonly number[]) => {
  const at = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].toSorted((a, b) => a - b);
  return [0, ...at].map((from, index) => bytes.subarray(from, at[index] ?? bytes.length));
};

it('splits lines however the bytes arrive', () => {
  assert(
    property(array(string().filter((line) => !/[\r\n]/.test(line))), array(nat()), (lines, cuts) => {
      const splitter = new LineSplitter(1000);
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
      expect(chunked(bytes, cuts).flatMap((chunk) => splitter.push(chunk))).toEqual(lines);
    }),
  );
});

it('says that a line is too long, once, and goes on with the next', () => {
  const splitter = new LineSplitter(4);
  const lines = ['ab', 'cdef', 'gh\nok\n', '12345\n1234\n'].flatMap((text) => splitter.push(Buffer.from(text)));
  expect(lines).toEqual([undefined, 'ok', undefined, '1234']);
});

it('reads events as it writes them', () => {
  assert(
    property(array(record({ data: json(), id: option(uuid(), { nil: undefined }) })), array(nat()), (events, cuts) => {
      const reader = new EventReader(10_000);
      const bytes = Buffer.from(events.map(({ data, ...mark }) => eventText(data, mark)).join(''));
      const read = chunked(bytes, cuts).flatMap((chunk) => reader.push(chunk));
      expect(read).toEqual(events.map((event) => ({ ...event, retry: undefined })));
    }),
  );
});

it('reads positions without a message, several lines of data, and other kinds of events', () => {
  const reader = new EventReader(100);
  const text = ': hello\nid: 7\nretry: 500\ndata:\n\nevent: other\ndata: x\n\ndata: {\r\ndata: }\r\n\r\n\n';
  expect(reader.push(Buffer.from(text))).toEqual([
    { data: '', id: '7', retry: 500 },
    { data: '', id: undefined, retry: undefined },
    { data: '{\n}', id: undefined, retry: undefined },
  ]);
  expect(() => reader.push(Buffer.from(`data: ${'x'.repeat(60)}\ndata: ${'x'.repeat(60)}\n`))).toThrow('too long');
});

it('takes no position that would be a message to another reader', () => {
  const text = 'id: 7\rdata: {"id":1,"result":{}}\r\rid: 8\ndata: {}\n\n';
  const [event] = new EventReader(1000).push(Buffer.from(text));
  expect(event).toEqual({ data: '{}', id: undefined, retry: undefined });
});
