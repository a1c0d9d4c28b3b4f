import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HpackDecoder } from './decoder.ts';
import { encodeFields } from './encoder.ts';
import { HpackBomb, HpackError } from './hpack-error.ts';
import { decodeHuffman, encodeHuffman } from './huffman.ts';
import { staticTable } from './static-table.ts';

function decoderOf(tableSize = 4096, largestList = 16_384): HpackDecoder {
  return new HpackDecoder(tableSize, largestList);
}

function decode(decoder: HpackDecoder, hex: string): string[] {
  const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex');
  return decoder.decode(bytes, 0, bytes.length).fields.map(({ name, value }) => `${name}: ${value}`);
}

const get = [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com'];
const getHttps = [':method: GET', ':scheme: https', ':path: /index.html', ':authority: www.example.com'];

describe('the examples of RFC 7541 Appendix C', () => {
  test.each([
    ['C.2.1', '400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572', ['custom-key: custom-header']],
    ['C.2.2', '040c 2f73 616d 706c 652f 7061 7468', [':path: /sample/path']],
    ['C.2.3', '1008 7061 7373 776f 7264 0673 6563 7265 74', ['password: secret']],
    ['C.2.4', '82', [':method: GET']],
  ])('%s', (_name, hex, fields) => {
    expect(decode(decoderOf(), hex)).toEqual(fields);
  });

  test.each([
    [
      'C.3, plain strings',
      [
        '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
        '8286 84be 5808 6e6f 2d63 6163 6865',
        '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65',
      ],
    ],
    [
      'C.4, Huffman code',
      [
        '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
        '8286 84be 5886 a8eb 1064 9cbf',
        '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
      ],
    ],
  ])('requests of %s', (_name, [first = '', second = '', third = '']) => {
    const decoder = decoderOf();
    expect(decode(decoder, first)).toEqual(get);
    expect(decode(decoder, second)).toEqual([...get, 'cache-control: no-cache']);
    expect(decode(decoder, third)).toEqual([...getHttps, 'custom-key: custom-value']);
  });

  test.each([
    [
      'C.5, plain strings',
      [
        '4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
        '4803 3330 37c1 c0bf',
        '88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31',
      ],
    ],
    [
      'C.6, Huffman code',
      [
        '4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3',
        '4883 640e ffc1 c0bf',
        '88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07',
      ],
    ],
  ])('responses of %s, in a table of 256 bytes', (_name, [first = '', second = '', third = '']) => {
    const decoder = decoderOf(256);
    const at = (seconds: number) => `date: Mon, 21 Oct 2013 20:13:${seconds} GMT`;
    const rest = (status: number) => [
      `:status: ${status}`,
      'cache-control: private',
      at(21),
      'location: https://www.example.com',
    ];
    expect(decode(decoder, first)).toEqual(rest(302));
    expect(decode(decoder, second)).toEqual(rest(307));
    expect(decode(decoder, third)).toEqual([
      ':status: 200',
      'cache-control: private',
      at(22),
      'location: https://www.example.com',
      'content-encoding: gzip',
      'set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1',
    ]);
  });
});

describe('what cannot be decoded', () => {
  test.each([
    ['index 0', '80'],
    ['an index beyond both tables', 'bf'],
    ['an integer that is cut off', 'ff'],
    ['an integer that is too large', 'ff ffff ffff ff7f'],
    ['a string that is cut off', '0003 6162'],
    ['a missing value', '0001 61'],
    ['a table size update after a field', '8220'],
    ['a table size update over the limit', '3fe2 1f'],
    ['EOS in a Huffman string', '0084 ffff ffff 00'],
    ['padding of more than seven bits', '0082 1fff 00'],
    ['padding that is not of ones', '0081 1800'],
  ])('is %s', (_name, hex) => {
    expect(() => decode(decoderOf(), hex)).toThrow(HpackError);
  });

  test('is random bytes, which never fail in any other way', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 5 }), (blocks) => {
        const decoder = decoderOf();
        try {
          for (const block of blocks) decoder.decode(Buffer.from(block), 0, block.length);
        } catch (error) {
          expect(error).toBeInstanceOf(HpackError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe('a header list over the limit', () => {
  test('is only counted, and the table stays right', () => {
    const decoder = decoderOf(4096, 200);
    const field = Buffer.concat([Buffer.from('4001610a', 'hex'), Buffer.from('0123456789')]);
    const block = Buffer.concat([field, ...Array.from({ length: 30 }, () => Buffer.from([0xbe]))]);
    const list = decoder.decode(block, 0, block.length);
    expect(list).toEqual({ fields: [], size: 43 * 31, isTooLarge: true });
    expect(decode(decoder, 'be')).toEqual(['a: 0123456789']);
  });

  test('is read no further once it is over it many times', () => {
    const decoder = decoderOf(4096, 200);
    const field = Buffer.concat([Buffer.from('4001610a', 'hex'), Buffer.from('0123456789')]);
    const block = Buffer.concat([field, Buffer.alloc(10_000, 0xbe)]);
    expect(() => decoder.decode(block, 0, block.length)).toThrow(HpackBomb);
  });

  test('may be one string, plain or coded', () => {
    const decoder = decoderOf(4096, 5000);
    const long = Buffer.alloc(20_000, 'a');
    const coded = encodeHuffman(long);
    for (const [bytes, mark] of [
      [long, 0],
      [coded, 0x80],
    ] as const) {
      const length = bytes.length - 127;
      const prefix = Buffer.from([
        0x40,
        1,
        0x62,
        mark | 127,
        (length & 127) | 128,
        ((length >> 7) & 127) | 128,
        length >> 14,
      ]);
      const block = Buffer.concat([prefix, bytes]);
      expect(decoder.decode(block, 0, block.length)).toMatchObject({ isTooLarge: true, fields: [] });
    }
    expect(() => decode(decoder, 'be')).toThrow(HpackError);
  });
});

test('the static table is that of Appendix A', () => {
  expect(staticTable).toHaveLength(61);
  expect(staticTable[15]).toMatchObject({ name: 'accept-encoding', value: 'gzip, deflate' });
  expect(staticTable[30]).toMatchObject({ name: 'content-type', value: '' });
  expect(staticTable[60]).toMatchObject({ name: 'www-authenticate', value: '' });
});

test('what is encoded is decoded', () => {
  const text = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)) });
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { maxLength: 20 }), (fields) => {
      const block = encodeFields(fields);
      const list = decoderOf(4096, 1 << 20).decode(block, 0, block.length);
      expect(list.fields.map(({ name, value }) => [name, value])).toEqual(fields);
    }),
  );
});

test('Huffman code gives back what it was given', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const coded = encodeHuffman(bytes);
      const out = new Uint8Array(bytes.length);
      expect(decodeHuffman(coded, 0, coded.length, out)).toBe(bytes.length);
      expect(out).toEqual(bytes);
    }),
  );
});

test('literals that come again mean the same, in any mixture', () => {
  const text = fc.constantFrom('', 'a', 'ab', '/t/Echo', 'Bearer token', 'Bearer tokem');
  const literal = fc
    .record({
      index: fc.constantFrom(0, 4, 5, 23, 31, 62),
      name: text,
      value: text,
      isCoded: fc.boolean(),
      mark: fc.constantFrom(0, 0x10),
    })
    .map(({ index, name, value, isCoded, mark }) => {
      const string = (plain: string) => {
        const bytes = isCoded ? encodeHuffman(Buffer.from(plain)) : Buffer.from(plain);
        return Buffer.concat([Buffer.from([bytes.length | (isCoded ? 0x80 : 0)]), bytes]);
      };
      const head = index < 15 ? [mark | index] : [mark | 15, index - 15];
      return Buffer.concat([Buffer.from(head), ...(index === 0 ? [string(name)] : []), string(value)]);
    });
  fc.assert(
    fc.property(fc.array(literal, { maxLength: 30 }), fc.nat(5), (literals, change) => {
      // Index 62 is an entry of the dynamic table, whose name changes on the way.
      const adds = (name: string) =>
        Buffer.concat([Buffer.from([0x40, name.length]), Buffer.from(name), Buffer.from([0])]);
      const decoder = decoderOf();
      decoder.decode(adds('x'), 0, adds('x').length);
      literals.forEach((bytes, at) => {
        if (at === change) decoder.decode(adds('y'), 0, adds('y').length);
        const fresh = decoderOf();
        const prior = adds(at >= change ? 'y' : 'x');
        fresh.decode(prior, 0, prior.length);
        expect(decoder.decode(bytes, 0, bytes.length)).toEqual(fresh.decode(bytes, 0, bytes.length));
      });
    }),
  );
});
