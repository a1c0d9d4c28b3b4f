import { joined } from '../kernel/index.ts';
import { expectProportional } from '../testkit/cpu-time.ts';
import { describe, expect, test } from 'vitest';
import type { DetectorName } from './detectors.ts';
import { detect, detectorNames } from './detectors.ts';

function found(name: DetectorName, text: string): string[] {
  return joined([...detect(name, text)]).map(({ start, end }) => text.slice(start, end));
}

/** What each detector finds. The numbers are those that networks, banks and registries publish for tests and examples. */
const findings: Readonly<Record<DetectorName, readonly (readonly [text: string, ...found: string[]])[]>> = {
  email: [
    ['write to ann@example.com.', 'ann@example.com'],
    ['<bob.o+tag@mail.example.co.uk>', 'bob.o+tag@mail.example.co.uk'],
    ['mailto:ann_1%25@example.org?subject=x', 'ann_1%25@example.org'],
    ['https://x.example/?to=ann%40example.com&x=1', 'ann%40example.com'],
    ['"from":"müller@bücher.example"', 'müller@bücher.example'],
    ['a@xn--bcher-kva.example, b@example.xn--p1ai', 'a@xn--bcher-kva.example', 'b@example.xn--p1ai'],
    ['*ann@example.com*', 'ann@example.com'],
    ['a@b.example;c@d.example', 'a@b.example', 'c@d.example'],
  ],
  phone: [
    ['call +49 30 901820', '+49 30 901820'],
    ['+1-202-555-0143 or 202-555-0143', '+1-202-555-0143', '202-555-0143'],
    ['(202) 555-0143', '(202) 555-0143'],
    ['1 202 555 0143', '1 202 555 0143'],
    ['+442079460958', '+442079460958'],
    ['020 7946 0958', '020 7946 0958'],
    ['0171/1234567', '0171/1234567'],
    ['01 23 45 67 89', '01 23 45 67 89'],
    ['0049 30 901820', '0049 30 901820'],
    ['Tel: (030) 901820-12', '(030) 901820-12'],
    ['2024-01-15 202-555-0143', '202-555-0143'],
    ['01.02.2024 030 901820', '030 901820'],
    ['202-555-0143 2024-01-15', '202-555-0143'],
  ],
  card: [
    ['4111111111111111', '4111111111111111'],
    ['pay with 4111 1111 1111 1111, please', '4111 1111 1111 1111'],
    ['5555-5555-5555-4444', '5555-5555-5555-4444'],
    ['378282246310005', '378282246310005'],
    ['3782 822463 10005', '3782 822463 10005'],
    ['6011111111111117 30569309025904', '6011111111111117', '30569309025904'],
    ['4111 1111 1111 1111 123 12/29', '4111 1111 1111 1111'],
    ['2223003122003222', '2223003122003222'],
    ['4222222222222', '4222222222222'],
    ['No.4111111111111111', '4111111111111111'],
    ['card_4111111111111111_x', '4111111111111111'],
  ],
  iban: [
    ['DE89370400440532013000', 'DE89370400440532013000'],
    ['to GB29 NWBK 6016 1331 9268 19 today', 'GB29 NWBK 6016 1331 9268 19'],
    ['fr1420041010050500013m02606', 'fr1420041010050500013m02606'],
    ['NO93 8601 1117 947', 'NO93 8601 1117 947'],
    ['MT84MALT011000012345MTLCAST001S', 'MT84MALT011000012345MTLCAST001S'],
  ],
  us_ssn: [
    ['SSN 078-05-1120', '078-05-1120'],
    ['219 09 9999', '219 09 9999'],
  ],
  ip: [
    ['from 192.0.2.1:443', '192.0.2.1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['::1 and fe80::1', '::1', 'fe80::1'],
    ['::ffff:192.0.2.128', '::ffff:192.0.2.128'],
    ['2001:0db8:0000:0000:0000:ff00:0042:8329', '2001:0db8:0000:0000:0000:ff00:0042:8329'],
    ['203.0.113.7, 198.51.100.2.', '203.0.113.7', '198.51.100.2'],
    ['192.0.2.1-192.0.2.9', '192.0.2.1', '192.0.2.9'],
    ['10.0.0.0/8', '10.0.0.0'],
  ],
  secret: [
    ['AKIAIOSFODNN7EXAMPLE', 'AKIAIOSFODNN7EXAMPLE'],
    ['password: hunter22', 'hunter22'],
    ['postgres://me:hunter22@db/app', 'hunter22'],
    ['{"token": "abc def"}', 'abc def'],
  ],
};

/** What each detector must leave alone. */
const innocents: Readonly<Record<DetectorName, readonly string[]>> = {
  email: ['a@b', '@example.com', 'ann@', 'git@host:repo', 'x @ y.com', '@types/node@20.1.0', 'a@b.1', 'user@localhost'],
  phone: [
    ...['2024-01-02', '01.02.2024', '2024-01-02 03:04:05', '1.2.3.4', '192.168.100.200', '1234567', '123456789012'],
    ...['01-02-2024 10', '12345 67890', 'v0.12.345-678', '3.14159265358979', '123e4567-e89b-12d3-a456-426614174000'],
    ...[
      '$1,234,567.89',
      '0.00123456789',
      '555-0143',
      '10-20-30-40-50',
      '1700000000000',
      '2024-01-15 2024-02-16',
      '2024-01-15 1234567',
    ],
  ],
  card: [
    ...['4111111111111112', '1234567890123456', '1700000000000', '0.4111111111111111', '41111111111111111111111'],
    ...['4111-1111 1111-1111', 'a4111111111111111', '4111111111111111a', '123e4567-e89b-12d3-a456-426614174000'],
  ],
  iban: ['DE89370400440532013001', 'GB29NWBK60161331926819X', 'AB12 3456', 'XX89370400440532013000', 'DE89', 'ES6'],
  us_ssn: [
    ...['000-12-3456', '666-12-3456', '900-12-3456', '123-00-4567', '123-45-0000', '123456789', '123-45-67890'],
    ...['1-123-45-6789', '123-45 6789', '2024-01-0234'],
  ],
  ip: [
    ...[
      '1.2.3',
      '1.2.3.4.5',
      '256.1.1.1',
      '01.2.3.4',
      'v1.2.3.4',
      '12:34:56',
      'aa:bb:cc:dd:ee:ff',
      'std::vector',
      '::',
    ],
    ...[
      '1:2:3:4:5:6:7',
      '1:2:3:4:5:6:7:8:9',
      'a::b::c',
      'http://x',
      'Foo::bad',
      '12345::1',
      'key: value',
      '1.2.3.4-rc',
    ],
  ],
  secret: ['the token ring', 'max_tokens: 4096', 'https://example.com/a?b=c'],
};

describe.each(detectorNames)('%s', (name) => {
  test.each(findings[name])('is found in %j', (text, ...expected) => {
    expect(found(name, text)).toEqual(expected);
  });

  test.each(innocents[name])('is not in %j', (text) => {
    expect(found(name, text)).toEqual([]);
  });
});

/** Texts that are nearly something, over and over. */
const nearly = [
  ...['a', '1', '1 ', '1-', ':', 'a:', '::', '@', 'a@', 'a@a.', 'a@a', '.', '1.', '1.1.1.', '4111 1111 1111 1112 '],
  ...[
    '4111111111111112 ',
    'DE89 3704 ',
    'DE89',
    'password=',
    'eyJ',
    '(1) ',
    '+1 ',
    '078-05-112 ',
    '%40',
    'a%40b.c',
    'é@é.é',
  ],
];

describe.each(detectorNames)('%s takes time in proportion to a text', (name) => {
  test.each(nearly)('of %j', (unit) => {
    const [small, large] = [20_000, 80_000].map((length) => unit.repeat(length / unit.length));
    expectProportional((text) => [...detect(name, text)], small ?? '', large ?? '');
  });
});
