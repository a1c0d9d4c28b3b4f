import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseNatsUrls } from './nats-url.ts';

const none = { user: undefined, password: undefined, token: undefined };

describe('a NATS URL', () => {
  test.each([
    ['nats://n', [{ ...none, host: 'n', port: 4222, isTls: false }]],
    ['tls://n.example.com:4333/', [{ ...none, host: 'n.example.com', port: 4333, isTls: true }]],
    ['nats://[fd00::5]:80', [{ ...none, host: 'fd00::5', port: 80, isTls: false }]],
    [
      'nats://re%40eve:p%2Fw%3A%25@n:1',
      [{ host: 'n', port: 1, isTls: false, user: 're@eve', password: 'p/w:%', token: undefined }],
    ],
    ['tls://t%2Ck@n', [{ ...none, host: 'n', port: 4222, isTls: true, token: 't,k' }]],
    [
      'nats://a:1, tls://b:2',
      [
        { ...none, host: 'a', port: 1, isTls: false },
        { ...none, host: 'b', port: 2, isTls: true },
      ],
    ],
  ])('%s', (text, expected) => {
    expect(parseNatsUrls(text)).toEqual(expected);
  });

  test('may differ from the others in user and password, and not in their kind', () => {
    expect(parseNatsUrls('nats://u1:p1@a,nats://u2:p2@b').map(({ user }) => user)).toEqual(['u1', 'u2']);
  });

  test.each([
    ['', 'nats://host:port or tls://host:port'],
    ['nonsense', 'nats://host:port'],
    ['n:4222', 'nats://host:port'],
    ['http://u:secret@n', 'nats://host:port'],
    ['ws://u:secret@n', 'nats://host:port'],
    ['nats://', 'nats://host:port'],
    ['nats://u:secret@', 'nats://host:port'],
    ['nats://u:secret@n:0', 'a port from 1 to 65535'],
    ['nats://u:secret@n:99999', 'nats://host:port'],
    ['nats://u:se/cret@n', 'nats://host:port'],
    ['nats://u:secret@n/path', '%2F %3F %23 %2C'],
    ['nats://u:secret@n?tls=secret', 'nothing after the port'],
    ['nats://u:secret@n#secret', 'nothing after the port'],
    ['nats://u:secret%@n', 'written as %25'],
    ['nats://u:secret@n m', 'nats://host:port'],
    ['nats://u:secret@n,', 'nats://host:port'],
    ['nats://u:secret@n,nats://m', 'all with the same kind of credentials'],
    ['nats://u:secret@n,nats://secret@m', 'all with the same kind of credentials'],
  ])('%s is refused with what is accepted, and without the credentials', (text, accepted) => {
    expect(() => parseNatsUrls(text)).toThrow(accepted);
    expect(() => parseNatsUrls(text)).not.toThrow('secret');
  });

  test('with any user and password is read as it was meant', () => {
    const word = fc.string({ unit: 'binary', minLength: 1 }).filter((any) => any.isWellFormed());
    fc.assert(
      fc.property(word, word, (user, password) => {
        const text = `nats://${encodeURIComponent(user)}:${encodeURIComponent(password)}@n`;
        expect(parseNatsUrls(text)).toMatchObject([{ user, password, host: 'n' }]);
      }),
    );
  });
});
