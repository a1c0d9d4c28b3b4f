import { describe, expect, it } from 'vitest';
import { asNotification, asRequest, asResponse, edited, keyOf, parseMessage, partsOf } from './message.ts';

const parsed = (text: string) => {
  const message = parseMessage(text);
  if (message === undefined) throw new Error('no message');
  return message;
};

describe('a message', () => {
  it.each(['', 'nonsense', '7', '"text"', 'null', '{"a":', `${'['.repeat(1e6)}${']'.repeat(1e6)}`])(
    'is no message: %#',
    (text) => expect(parseMessage(text)).toBeUndefined(),
  );

  it('may be nested, and may hold brackets in its texts', () => {
    const nested = `${'['.repeat(900)}${']'.repeat(900)}`;
    expect(parsed(nested).text).toBe(nested);
    const text = JSON.stringify({ a: `"\\${'['.repeat(5000)}` });
    expect(parsed(text).text).toBe(text);
  });

  it('is sent on as it was read, in one line', () => {
    expect(parsed('{ "id": 1,\n "method":"a",\t"method":"b" }').text).toBe('{"id":1,"method":"b"}');
    expect(parsed('{"__proto__":{"a":1},"constructor":2}').text).toBe('{"__proto__":{"a":1},"constructor":2}');
  });

  it('keeps the digits of its numbers', () => {
    const text = '{"n":[12345678901234567890,1.0,1e400,-0.10,3],"s":"1.0"}';
    expect(parsed(text).text).toBe(text);
    const changed = edited(parsed(text), (value) => ({ ...value, id: 1 }));
    expect(changed.text).toBe(`${text.slice(0, -1)},"id":1}`);
    expect(changed.value).toMatchObject({ id: 1, s: '1.0' });
  });

  it.each([
    ['{"id":1,"method":"m"}', 'request'],
    ['{"id":null,"method":"m"}', 'request'],
    ['{"id":1,"method":"m","result":{}}', 'request'],
    ['{"method":"m"}', 'notification'],
    ['{"id":1,"result":{}}', 'response'],
    ['{"id":1,"error":{}}', 'response'],
    ['{"id":1}', 'nothing'],
    ['[]', 'nothing'],
  ])('%s is a %s', (text, kind) => {
    const message = parsed(text);
    const is = { request: asRequest(message), notification: asNotification(message), response: asResponse(message) };
    const kinds = Object.entries(is).filter(([, found]) => found !== undefined);
    expect(kinds.map(([name]) => name)).toEqual(kind === 'nothing' ? [] : [kind]);
  });

  it('has parts if it is a batch', () => {
    expect(partsOf(parsed('[{"id":1},7,{"id":2}]')).map(({ text }) => text)).toEqual(['{"id":1}', '{"id":2}']);
    expect(partsOf(parsed('{"id":1}'))).toHaveLength(1);
    const digits = '{"id":12345678901234567890}';
    expect(partsOf(parsed(`[1.0,${digits}]`)).map(({ text }) => text)).toEqual([digits]);
  });
});

it('tells ids of different types apart', () => {
  expect(new Set([1, '1', null, undefined, 1.5].map(keyOf)).size).toBe(5);
});
