import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { clusterOf, envelopeBytes, Opener, Sealer } from './envelope.ts';

const secret = Buffer.alloc(32, 7);
const text = (any: string) => Buffer.from(any);

describe('an envelope', () => {
  let sealer: Sealer;
  let opener: Opener;
  beforeEach(() => {
    sealer = new Sealer(secret);
    opener = new Opener(secret, randomBytes(16));
  });

  test('opens to what was put into it, whatever that was', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2000 }), fc.string(), (payload, topic) => {
        const envelope = sealer.seal(topic, payload);
        expect(envelope).toHaveLength(payload.length + envelopeBytes);
        expect(opener.open(topic, envelope)).toEqual({ payload: Buffer.from(payload) });
      }),
    );
  });

  test('hides what is in it', () => {
    const payload = text('the records of a tenant');
    const [one, other] = [sealer.seal('t', payload), sealer.seal('t', payload)];
    expect(Buffer.from(one).includes(payload)).toBe(false);
    expect(one.subarray(25)).not.toEqual(other.subarray(25));
  });

  test('opens once, and not after a newer one of its sender', () => {
    const [first, second, third] = ['1', '2', '3'].map((any) => sealer.seal('t', text(any)));
    expect(opener.open('t', first ?? text(''))).toMatchObject({ payload: text('1') });
    expect(opener.open('t', first ?? text(''))).toBe('refused');
    expect(opener.open('t', third ?? text(''))).toMatchObject({ payload: text('3') });
    expect(opener.open('t', second ?? text(''))).toBe('refused');
    expect(opener.open('t', new Sealer(secret).seal('t', text('1')))).toMatchObject({ payload: text('1') });
  });

  test('does not open for its own sender, under another topic or with another secret', () => {
    const envelope = sealer.seal('t', text('x'));
    expect(new Opener(secret, sealer.sender).open('t', envelope)).toBe('refused');
    expect(opener.open('u', envelope)).toBe('refused');
    expect(new Opener(Buffer.alloc(32, 8), randomBytes(16)).open('t', envelope)).toBe('refused');
    expect(opener.open('t', envelope)).toMatchObject({ payload: text('x') });
  });

  test('that is refused uses up no number: what was really sent still opens', () => {
    const [first, second] = [sealer.seal('t', text('1')), sealer.seal('t', text('2'))];
    const forged = Buffer.from(first);
    forged.writeBigUInt64BE(1_000_000n, 17);
    expect(opener.open('t', first)).toMatchObject({ payload: text('1') });
    expect(opener.open('t', forged)).toBe('refused');
    expect(opener.open('t', second)).toMatchObject({ payload: text('2') });
  });

  test('with any bit changed, or cut anywhere, does not open', () => {
    const envelope = sealer.seal('topic', text('payload'));
    for (let bit = 0; bit < envelope.length * 8; bit++) {
      const changed = Buffer.from(envelope);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(opener.open('topic', changed)).toBe(bit < 8 ? 'foreign' : 'refused');
    }
    for (let length = 0; length < envelope.length; length++) {
      expect(opener.open('topic', envelope.subarray(0, length))).toBe('refused');
    }
    expect(opener.open('topic', Buffer.concat([envelope, text('x')]))).toBe('refused');
  });

  test('of another version is of another release', () => {
    const envelope = sealer.seal('t', text('x'));
    envelope[0] = 2;
    expect(opener.open('t', envelope)).toBe('foreign');
    expect(opener.open('t', Buffer.of(9))).toBe('foreign');
  });

  test('made of random bytes never opens and never throws', () => {
    const ours = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.concat([Buffer.of(1), bytes]));
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), ours), fc.string(), (bytes, topic) => {
        expect(['foreign', 'refused']).toContain(opener.open(topic, bytes));
      }),
      { numRuns: 2_000 },
    );
  });
});

test('a cluster is named after its secret, and does not tell it', () => {
  expect(clusterOf(secret)).toMatch(/^[0-9a-f]{16}$/);
  expect(clusterOf(secret)).toBe(clusterOf(Buffer.alloc(32, 7)));
  expect(clusterOf(secret)).not.toBe(clusterOf(Buffer.alloc(32, 8)));
});
