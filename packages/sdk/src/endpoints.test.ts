import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { endpointsOf } from './endpoints.ts';
import { ReeveInvalidRequest } from './errors.ts';

const tlsTo = (address: string, tls?: boolean) => endpointsOf({ address, tls })[0]?.tls;
const addressesOf = (addresses: readonly string[]) => endpointsOf({ addresses }).map(({ address }) => address);

test.each(['127.0.0.1:1', '127.1.2.3:1', 'localhost:1', 'LOCALHOST:1', '[::1]:1', 'unix:/run/reeve.sock'])(
  '%s is on this machine and needs no TLS',
  (address) => {
    expect(tlsTo(address)).toBeUndefined();
    expect(tlsTo(address, true)).toEqual({});
  },
);

test.each(['reeve.example:443', '10.0.0.1:50051', '127.0.0.1.example:1', 'localhost.example:1', '[::2]:1'])(
  'credentials go to %s by TLS, unless plain text is asked for',
  (address) => {
    expect(tlsTo(address)).toEqual({});
    expect(tlsTo(address, false)).toBeUndefined();
  },
);

test('of several addresses, each counts for itself', () => {
  const addresses = ['127.0.0.1:1', 'reeve.example:443', 'unix:/run/reeve.sock', '10.0.0.1:50051'];
  const plain = undefined;
  expect(endpointsOf({ addresses }).map(({ tls }) => tls)).toEqual([plain, {}, plain, {}]);
  expect(endpointsOf({ addresses, tls: false }).map(({ tls }) => tls)).toEqual([plain, plain, plain, plain]);
  const tls = { ca: 'an authority' };
  expect(endpointsOf({ addresses, tls })).toEqual(addresses.map((address) => ({ address, tls })));
});

const wrong = [
  '',
  ' ',
  '127.0.0.1',
  ':1',
  'a:',
  'a:0',
  'a:65536',
  'a:123456',
  'a:-1',
  'a b:1',
  'a:1:2',
  'a,b:1',
  'a:1,b:2',
  '::1:1',
  '[::1]',
  'http://127.0.0.1:8080',
  'a:1/path',
];

test.each(wrong)('the address "%s" is refused, alone and among others', (address) => {
  const message = 'must be host:port, without a scheme, as "127.0.0.1:50051"';
  expect(() => endpointsOf({ address })).toThrow(`address: ${message}`);
  expect(() => endpointsOf({ addresses: ['a:1', address] })).toThrow(`addresses[1]: ${message}`);
  expect(() => endpointsOf({ addresses: ['a:1', address] })).toThrow(ReeveInvalidRequest);
});

test('several addresses in one are told where they belong', () => {
  expect(() => endpointsOf({ address: 'a:1,b:2' })).toThrow('; several go into addresses, one by one');
  expect(() => endpointsOf({ addresses: ['a:1,b:2'] })).toThrow('; several go into addresses, one by one');
});

test.each<[readonly unknown[] | string, string]>([
  [[], 'addresses: must be a list of one or more host:port'],
  ['a:1', 'addresses: must be a list of one or more host:port'],
  [['a:1', undefined], 'addresses[1]: must be host:port'],
  [[null], 'addresses[0]: must be host:port'],
  [[50_051], 'addresses[0]: must be host:port'],
  [Array.from({ length: 2 }), 'addresses[0]: must be host:port'],
  [['a:1', 'b:1', 'a:1'], 'addresses[2]: is the same as addresses[0]'],
  [['a:1', ' A:01'], 'addresses[1]: is the same as addresses[0]'],
])('the list %j is refused', (addresses, message) => {
  const options = { addresses: addresses as readonly string[] };
  expect(() => endpointsOf(options)).toThrow(ReeveInvalidRequest);
  expect(() => endpointsOf(options)).toThrow(message);
});

test('one address or several, but not both and not neither', () => {
  expect(() => endpointsOf({ address: 'a:1', addresses: ['b:1'] })).toThrow(
    'addresses: give address or addresses, not both',
  );
  expect(() => endpointsOf({})).toThrow('address: must be host:port');
});

const host = fc.oneof(
  fc.domain(),
  fc.ipV4(),
  fc.ipV6().map((text) => `[${text}]`),
);
const address = fc.tuple(host, fc.integer({ min: 1, max: 65_535 })).map(([name, port]) => `${name}:${port}`);

test('every list of different places is taken as it is, in its order', () => {
  const lists = fc.uniqueArray(address, { minLength: 1, maxLength: 8, selector: (text) => text.toLowerCase() });
  fc.assert(
    fc.property(lists, (addresses) => {
      expect(addressesOf(addresses)).toEqual(addresses);
      expect(addressesOf(addresses.join(', ').split(','))).toEqual(addresses);
    }),
  );
});

test('a list with one place twice is refused, wherever the two are', () => {
  fc.assert(
    fc.property(fc.uniqueArray(address, { minLength: 1, maxLength: 5 }), fc.nat(), fc.nat(), (addresses, from, to) => {
      const again = (addresses[from % addresses.length] ?? '').toUpperCase();
      const list = addresses.toSpliced(to % (addresses.length + 1), 0, again);
      expect(() => addressesOf(list)).toThrow(/^addresses\[\d\]: is the same as addresses\[\d\]$/);
    }),
  );
});

test('no text makes anything but a list or an error that names its option', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string(), fc.string({ unit: 'binary' }), address), { maxLength: 4 }), (texts) => {
      try {
        for (const each of addressesOf(texts)) expect(each).toMatch(/^unix:|:\d{1,5}$/);
      } catch (error) {
        expect(error).toBeInstanceOf(ReeveInvalidRequest);
        expect((error as Error).message).toMatch(/^addresses(\[\d\])?: /);
      }
    }),
  );
});
