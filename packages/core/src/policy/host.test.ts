import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalHost, plainHost, plainHostOf, readHost, unclear } from './host.ts';

describe('what stands for a URL names a host', () => {
  test.each([
    ['http:evil.com', 'evil.com'],
    ['ws:evil.com', 'evil.com'],
    ['FTP:\\/evil.com', 'evil.com'],
    ['evil.com/https://good.com', 'evil.com'],
    ['evil.com/?mailto:a@good.com', 'evil.com'],
    ['evil.com//good.com', 'evil.com'],
    ['\\\\evil.com\\x', 'evil.com'],
    ['/\\evil.com', 'evil.com'],
    ['///evil.com', 'evil.com'],
    ['evil.com\\x', 'evil.com'],
    ['evil.com#x', 'evil.com'],
    [' \u0000evil.com \u001f', 'evil.com'],
    ['e\tv\ti\r\nl.com\n', 'evil.com'],
    ['evil.com:/x', 'evil.com'],
    ['1x://good.com', '1x'],
    ['c:80', 'c'],
    ['ab:\\x', 'ab'],
    ['.a', '.a'],
    ['mail:25', 'mail'],
  ])('%j is %j', (text, host) => {
    expect(readHost(text)).toBe(host);
  });

  test.each([
    ['x://evil.com', 'evil.com'],
    ['git+ssh://git@evil.com:22/repo', 'evil.com'],
    ['S3.a-1://EVIL.com', 'evil.com'],
    ['pg://evil.com?@good.com', 'evil.com'],
    ['pg://evil.com#@good.com', 'evil.com'],
    ['pg://evil.com/a\\b', 'evil.com'],
    ['file://evil.com/share', 'evil.com'],
    ['file://localhost.evil.com/x', 'localhost.evil.com'],
    ['file://evil.localhost/x', 'evil.localhost'],
    ['file://cc:/x', 'cc'],
    ['file://c:80/x', 'c'],
    ['smb://localhost/x', 'localhost'],
  ])('%j, of a scheme of its own, is %j', (text, host) => {
    expect(readHost(text)).toBe(host);
  });

  test.each([
    ['::1', '::1'],
    ['FE80::1', 'fe80::1'],
    ['1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8'],
    ['2001:db8:0::1', '2001:db8::1'],
    ['::1.2.3.4', '::102:304'],
  ])('%j is an address without its brackets', (text, host) => {
    expect(readHost(text)).toBe(host);
  });
});

describe('nothing is a host', () => {
  test.each([
    '',
    ' \t\u0000',
    '/x',
    '\\x',
    '?x',
    '#x',
    '.',
    '..',
    './a',
    '.\\a',
    '../a',
    './a//b',
    'c:/x',
    'C:\\x',
    'about:blank',
    'DATA:,x',
    'file:/etc/passwd',
    'javascript:1',
    'sip:a@b.example',
    'tel:1',
    'urn:x:y',
    'sqlite:///x',
    'pg://?host=x',
    'file:///x',
    'file://LOCALHOST/x',
    'FILE://localhost',
    'file://C:/x',
    'file://c|/x',
  ])('in %j', (text) => {
    expect(readHost(text)).toBeNull();
  });
});

describe('nobody can say which host', () => {
  test.each([
    'https:',
    'https://a b/',
    '//',
    '//a b',
    '...a b',
    'c:x',
    'x:\\\\evil.com',
    'x:/\\evil.com',
    'file:\\\\evil.com',
    'x://good.com\\@evil.com',
    'x://a b',
    'x::1',
    '::g',
    '1:2:3',
  ])('is in %j', (text) => {
    expect(readHost(text)).toBe(unclear);
  });
});

describe('a host has one spelling', () => {
  test.each(['', 'a/b', 'a\\b', 'a?b', 'a#b', 'a b', '[::g]'])('and %j has none', (authority) => {
    expect(canonicalHost(authority)).toBeUndefined();
  });

  test('and none where it is longer than any name', () => {
    expect(canonicalHost('a'.repeat(512))).toBe('a'.repeat(512));
    expect(canonicalHost('a'.repeat(513))).toBeUndefined();
  });

  test('that of an address of four numbers, also where it is wrapped in six', () => {
    const someByte = fc.integer({ min: 0, max: 255 });
    fc.assert(
      fc.property(fc.tuple(someByte, someByte, someByte, someByte), (bytes) => {
        const dotted = bytes.join('.');
        const number = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
        for (const written of [dotted, `[::ffff:${dotted}]`, `[::FFFF:${dotted}]`, `${number}`]) {
          expect([written, canonicalHost(written)]).toEqual([written, dotted]);
        }
      }),
    );
  });

  test.each(['1::ffff:a9fe:a9fe', '::ffff:1:2:3', '64:ff9b::a9fe:a9fe', '::a9fe:a9fe'])(
    'and %j is no address of four numbers',
    (address) => {
      expect(canonicalHost(`[${address}]`)).toBe(address);
    },
  );
});

describe('a plain spelling', () => {
  test.each(['', 'a', 'evil.com', '1.a', 'a_b-c.example', 'xn--mnchen-3ya.example', '0.0.0.0', '255.249.199.99'])(
    'is %j',
    (host) => {
      expect(plainHost(host)).toBe(host);
    },
  );

  test.each([
    'Evil.com',
    'a.',
    '.a',
    'a..b',
    'a.1',
    '1',
    '1.2.3',
    '256.1.1.1',
    '01.2.3.4',
    'a:80',
    'a b',
    'a\n',
    'ü',
    '::1',
  ])('is not %j', (host) => {
    expect(plainHost(host)).toBeUndefined();
  });

  test.each([
    ['https://evil.com', 'evil.com'],
    ['http://evil.com:8443/x', 'evil.com'],
    ['https://10.0.0.1?x', '10.0.0.1'],
    ['https://evil.com#x', 'evil.com'],
    ['https://evil.com:65536', undefined],
    ['https://evil.com\\x', undefined],
    ['https://me@evil.com', undefined],
    ['https://evil.com.', undefined],
    ['https:/evil.com', undefined],
    ['wss://evil.com', undefined],
    [' https://evil.com', undefined],
    ['evil.com', undefined],
  ])('of the URL %j is %j', (url, host) => {
    expect(plainHostOf(url)).toBe(host);
  });

  test('is what reading it would find', () => {
    const part = fc.constantFrom('a', 'xn--a', '1', '255', '256', '0x1', '.', '-', '_', ':', '80', '/', '@', '?', 'A');
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 8 }), (parts) => {
        const host = plainHost(parts.join(''));
        const url = `https://${parts.join('')}`;
        const ofUrl = plainHostOf(url);
        if (host !== undefined) expect(readHost(host)).toBe(host);
        if (ofUrl !== undefined) expect([url, readHost(url)]).toEqual([url, ofUrl]);
      }),
      { numRuns: 3000 },
    );
  });
});
