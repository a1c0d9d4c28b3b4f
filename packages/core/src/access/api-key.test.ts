import { crc32 as zlibCrc32 } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Randomness } from '../kernel/ports.ts';
import { fixedRandomness } from '../testkit/fixed-randomness.ts';
import { sha256 } from '../testkit/test-governance.ts';
import { checksumOf, makeApiKey, newKeyRecord, parseApiKey, crc32 } from './api-key.ts';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const base32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** Contract, section 3: CRC-32 as in zlib, in base62, most significant digit first, zero-padded to six. */
function referenceChecksum(body: string): string {
  let rest = BigInt(bitwiseCrc32(body));
  const digits: string[] = [];
  while (rest > 0n) {
    digits.unshift(base62.charAt(Number(rest % 62n)));
    rest /= 62n;
  }
  return digits.join('').padStart(6, '0');
}

/** The polynomial of IEEE 802.3, bit by bit. */
function bitwiseCrc32(text: string): number {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text, 'latin1')) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

const someKey = fc
  .tuple(
    fc.string({ unit: fc.constantFrom(...base32.split('')), minLength: 12, maxLength: 12 }),
    fc.string({ unit: fc.constantFrom(...base62.split('')), minLength: 40, maxLength: 40 }),
  )
  .map(([id, secret]) => {
    const body = `rvk_${id}_${secret}`;
    return { id, key: body + referenceChecksum(body) };
  });

describe('the checksum', () => {
  test.each([
    ['', 0],
    ['123456789', 0xcbf43926],
    ['The quick brown fox jumps over the lazy dog', 0x414fa339],
  ])('of %j is the well-known one', (text, crc) => {
    expect(crc32(text)).toBe(crc);
    expect(bitwiseCrc32(text)).toBe(crc);
  });

  test('is that of zlib, for any ASCII text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii' }), (text) => {
        expect(crc32(text)).toBe(zlibCrc32(text));
        expect(crc32(text)).toBe(bitwiseCrc32(text));
      }),
    );
  });

  test('is padded and starts with the most significant digit', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii' }), (text) => {
        expect(checksumOf(text)).toBe(referenceChecksum(text));
        expect(checksumOf(text)).toHaveLength(6);
      }),
    );
  });

  test('of a known key is this one', () => {
    expect(checksumOf('rvk_abcdefghijkl_0123456789012345678901234567890123456789')).toBe('1ssRG8');
  });
});

describe('a key', () => {
  test('of the right form is recognised with its id', () => {
    fc.assert(
      fc.property(someKey, ({ id, key }) => {
        expect(parseApiKey(key)).toEqual({ ok: true, id });
      }),
    );
  });

  test('with any one character wrong is not', () => {
    fc.assert(
      fc.property(someKey, fc.nat(), fc.constantFrom(...base62.split(''), '_', '-', ' ', 'é'), ({ key }, at, wrong) => {
        const index = at % key.length;
        fc.pre(key[index] !== wrong);
        const typo = key.slice(0, index) + wrong + key.slice(index + 1);
        expect(parseApiKey(typo)).toMatchObject({ ok: false });
      }),
      { numRuns: 2000 },
    );
  });

  test('with every single place tried with every character is not', () => {
    const key = makeApiKey(fixedRandomness());
    for (let index = 0; index < key.length; index++) {
      for (const wrong of base62) {
        if (wrong === key[index]) continue;
        expect(parseApiKey(key.slice(0, index) + wrong + key.slice(index + 1)).ok).toBe(false);
      }
    }
  });

  test('with two neighbours exchanged, one missing, one more or a blank around it is not', () => {
    fc.assert(
      fc.property(someKey, fc.nat(), ({ key }, at) => {
        const index = at % (key.length - 1);
        const [one = '', two = ''] = [key[index], key[index + 1]];
        if (one !== two) expect(parseApiKey(key.slice(0, index) + two + one + key.slice(index + 2)).ok).toBe(false);
        expect(parseApiKey(key.slice(0, index) + key.slice(index + 1)).ok).toBe(false);
        expect(parseApiKey(key.slice(0, index) + one + key.slice(index)).ok).toBe(false);
        for (const around of [` ${key}`, `${key} `, `${key}\n`, key.toUpperCase()])
          expect(parseApiKey(around).ok).toBe(false);
      }),
    );
  });

  test('that is wrong is told what is: its form, or a character', () => {
    const key = makeApiKey(fixedRandomness());
    expect(parseApiKey('rvk_x')).toEqual({
      ok: false,
      problem: 'an API key is "rvk_", 12 characters of a-z2-7, "_" and 46 of 0-9A-Za-z',
    });
    const typo = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
    expect(parseApiKey(typo)).toEqual({
      ok: false,
      problem: 'the checksum of the API key does not fit: a character is wrong',
    });
  });

  test('that is made is a good one, and another each time', () => {
    const randomness = fixedRandomness();
    const keys = Array.from({ length: 200 }, () => makeApiKey(randomness));
    for (const key of keys) {
      expect(parseApiKey(key).ok).toBe(true);
      expect(key.slice(-6)).toBe(referenceChecksum(key.slice(0, -6)));
    }
    expect(new Set(keys).size).toBe(200);
  });

  test('is made of all characters alike: bytes beyond the alphabet are drawn again', () => {
    const drawn: string[] = [];
    const high: Randomness = {
      hex: (bytes) => {
        const text = (drawn.length < 2 ? 'ff' : '00').repeat(bytes);
        drawn.push(text);
        return text;
      },
      base64url: () => '',
    };
    // 255 is beyond 4 x 62, so it must not become a character of the secret. It is within 8 x 32, so the id uses it.
    expect(makeApiKey(high)).toMatch(/^rvk_7{12}_0{40}/);
  });
});

test('of a key only its hash is kept', () => {
  const key = makeApiKey(fixedRandomness());
  const record = newKeyRecord(key, sha256, 5, {
    label: 'ci',
    scopes: ['read'],
    orgId: null,
    teamId: null,
    expiresAt: null,
    madeBy: null,
    rotatedFrom: null,
  });
  expect(record).toMatchObject({
    id: key.slice(4, 16),
    hash: sha256(key),
    createdAt: 5,
    revokedAt: null,
    lastUsedAt: null,
  });
  expect(JSON.stringify(record)).not.toContain(key.slice(17, 57));
  expect(() => newKeyRecord('rvk_no', sha256, 5, record)).toThrow(/an API key is/);
});
