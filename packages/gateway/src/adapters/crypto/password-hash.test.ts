import { argon2Sync } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { currentParameters, formatHash, parseHash, sameParameters } from './password-hash.ts';

const salt = Uint8Array.from({ length: 16 }, (_, at) => at);
const tag = Uint8Array.from({ length: 32 }, (_, at) => 255 - at);
const text = '$argon2id$v=19$m=19456,t=2,p=1$AAECAwQFBgcICQoLDA0ODw$//79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eA';

test('a hash is written in the PHC string format, in base64 without padding', () => {
  expect(formatHash({ parameters: currentParameters, salt, tag })).toBe(text);
});

test('and read again', () => {
  expect(parseHash(text)).toEqual({ parameters: currentParameters, salt, tag });
});

test('the parameters are those that OWASP recommends: 19 MiB, two passes, one lane', () => {
  expect(currentParameters).toEqual({ memoryKib: 19_456, passes: 2, lanes: 1, saltBytes: 16, tagBytes: 32 });
});

test('the argon2id of Node gives the tag of RFC 9106, section 5.3', () => {
  const found = argon2Sync('argon2id', {
    message: Buffer.alloc(32, 1),
    nonce: Buffer.alloc(16, 2),
    secret: Buffer.alloc(8, 3),
    associatedData: Buffer.alloc(12, 4),
    parallelism: 4,
    tagLength: 32,
    memory: 32,
    passes: 3,
  });
  expect(found.toString('hex')).toBe('0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659');
});

const someHash = fc.record({
  parameters: fc.record({
    memoryKib: fc.integer({ min: 64, max: 262_144 }),
    passes: fc.integer({ min: 1, max: 16 }),
    lanes: fc.integer({ min: 1, max: 8 }),
  }),
  salt: fc.uint8Array({ minLength: 8, maxLength: 64 }),
  tag: fc.uint8Array({ minLength: 16, maxLength: 64 }),
});

test('what is written is read as it was, whatever the parameters', () => {
  fc.assert(
    fc.property(someHash, ({ parameters, salt, tag }) => {
      const all = { ...parameters, saltBytes: salt.length, tagBytes: tag.length };
      expect(parseHash(formatHash({ parameters: all, salt, tag }))).toEqual({ parameters: all, salt, tag });
    }),
  );
});

describe('no hash', () => {
  test.each([
    ['nothing', ''],
    ['words', 'not a hash'],
    ['another algorithm', text.replace('argon2id', 'argon2i')],
    ['another version', text.replace('v=19', 'v=16')],
    ['no version', text.replace('$v=19', '')],
    ['something before it', ` ${text}`],
    ['something after it', `${text}\n`],
    ['a part too many', `${text}$AAAA`],
    ['no tag', text.slice(0, text.lastIndexOf('$') + 1)],
    ['a salt of seven bytes', text.replace('AAECAwQFBgcICQoLDA0ODw', 'AAECAwQFBg')],
    ['a tag of four bytes', `${text.slice(0, text.lastIndexOf('$'))}$AAAAAA`],
    ['padding', `${text}=`],
    ['the alphabet of URLs', text.replaceAll('/', '_')],
    ['base64 with bits left over', `${text.slice(0, -1)}B`],
    ['a leading zero', text.replace('t=2', 't=02')],
    ['no passes', text.replace('t=2', 't=0')],
    ['a sign', text.replace('t=2', 't=+2')],
    ['less memory than its lanes need', text.replace('m=19456,t=2,p=1', 'm=15,t=2,p=2')],
    ['more memory than a login may take', text.replace('m=19456', 'm=262145')],
    ['more passes than a login may take', text.replace('t=2', 't=17')],
    ['more lanes than a login may take', text.replace('p=1', 'p=9')],
    ['numbers without end', text.replace('m=19456', `m=${'9'.repeat(100)}`)],
    ['a salt without end', text.replace('AAECAwQFBgcICQoLDA0ODw', 'A'.repeat(100_000))],
  ])('is read from %s', (_, hash) => {
    expect(hash).not.toBe(text);
    expect(parseHash(hash)).toBeUndefined();
  });

  test('makes reading throw', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), fc.nat(text.length), (noise, at) => {
        expect(() => parseHash(noise)).not.toThrow();
        expect(() => parseHash(text.slice(0, at) + noise)).not.toThrow();
      }),
    );
  });
});

test('a difference in any parameter is noticed', () => {
  expect(sameParameters(currentParameters, { ...currentParameters })).toBe(true);
  for (const [name, value] of Object.entries(currentParameters)) {
    expect(sameParameters(currentParameters, { ...currentParameters, [name]: value + 1 })).toBe(false);
  }
});
