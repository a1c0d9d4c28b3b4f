import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatMailbox, parseAddress, parseMailbox } from './mailbox.ts';

describe('a mailbox', () => {
  test.each([
    ['no-reply@example.com', '', 'no-reply@example.com'],
    [' no-reply@example.com ', '', 'no-reply@example.com'],
    ['<no-reply@example.com>', '', 'no-reply@example.com'],
    ['Reeve <no-reply@localhost>', 'Reeve', 'no-reply@localhost'],
    ['"Reeve, the gateway" <no-reply@example.com>', 'Reeve, the gateway', 'no-reply@example.com'],
    ['"Say \\"hi\\"" <no-reply@example.com>', 'Say "hi"', 'no-reply@example.com'],
    ['Zoë <zoë@bücher.example>', 'Zoë', 'zoë@xn--bcher-kva.example'],
    ["o'brien+tag@sub.example.com", '', "o'brien+tag@sub.example.com"],
    ['ops@[192.0.2.1]', '', 'ops@[192.0.2.1]'],
  ])('is read from %j', (text, name, address) => {
    expect(parseMailbox(text)).toEqual({ name, address });
  });

  test.each([
    '',
    'Reeve',
    '@example.com',
    'no-reply@',
    'a@b@example.com',
    'a b@example.com',
    'a@exa mple.com',
    'a@example.com, b@example.com',
    'a@example.com;b@example.com',
    'Reeve <a@example.com> <b@example.com>',
    'Reeve <a@example.com',
    'Re"eve <a@example.com>',
    '"a b"@example.com',
    'a(comment)@example.com',
    'a@example..com',
    'a@ex%61mple.com',
    'a@bücher%2eexample.com',
    'a@bücher/x.example.com',
    'a@example.com\r\nBcc: b@example.com',
    'Reeve\r\nBcc: b@example.com <a@example.com>',
    '"Reeve\nX: y" <a@example.com>',
    'a\u0000@example.com',
  ])('is not read from %j', (text) => {
    expect(parseMailbox(text)).toBeUndefined();
  });

  test('that is written is read again as the same', () => {
    const name = fc.string().map((text) => text.trim().replace(/[<>]/g, ''));
    fc.assert(
      fc.property(name, (any) => {
        const mailbox = { name: any, address: 'a@example.com' };
        expect(parseMailbox(formatMailbox(mailbox))).toEqual(mailbox);
      }),
    );
  });
});

test('whatever comes out as an address is one word of a command', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.tuple(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' })).map((parts) => parts.join('@')),
  );
  fc.assert(
    fc.property(text, (any) => {
      const address = parseAddress(any);
      if (address !== undefined) expect(address).toMatch(/^[^\s\p{Cc}<>,;]+@[\x21-\x7e]+$/u);
    }),
    { numRuns: 2_000 },
  );
});
