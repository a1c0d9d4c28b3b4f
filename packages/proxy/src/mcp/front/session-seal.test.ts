import { randomBytes } from 'node:crypto';
import { afterEach, expect, it, vi } from 'vitest';
import type { SealedSession } from './session-seal.ts';
import { SessionSeal } from './session-seal.ts';

const [key, next] = [randomBytes(32), randomBytes(32)];
const session: SealedSession = {
  id: 'an-id',
  server: 'files',
  caller: 'a digest',
  expiresAt: Date.now() + 60_000,
  upstream: { id: 'theirs', version: '2025-06-18' },
  hello: undefined,
};

afterEach(() => {
  vi.useRealTimers();
});

it('opens what a replica with the same key has sealed, and shows nothing of it', () => {
  const id = new SessionSeal([key]).seal(session) ?? '';
  expect(new SessionSeal([key]).open(id)).toEqual(session);
  expect(id).toMatch(/^[\x21-\x7e]+$/);
  expect(Buffer.from(id, 'base64url').toString('latin1')).not.toMatch(/an-id|theirs|digest/);
});

it('opens with every key, and seals with the first', () => {
  const old = new SessionSeal([key]).seal(session) ?? '';
  const changing = new SessionSeal([next, key]);
  expect(changing.open(old)).toEqual(session);
  expect(new SessionSeal([next]).open(changing.seal(session) ?? '')).toEqual(session);
  expect(new SessionSeal([next]).open(old)).toBeUndefined();
});

it('opens nothing that was changed at any place, cut or made up', () => {
  const seal = new SessionSeal([key]);
  const bytes = Buffer.from(seal.seal(session) ?? '', 'base64url');
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(seal.open(changed.toString('base64url'))).toBeUndefined();
    expect(seal.open(bytes.subarray(0, at).toString('base64url'))).toBeUndefined();
  }
  for (const id of ['', 'x', '../../etc', 'é'.repeat(50), 'A'.repeat(1_000_000)]) expect(seal.open(id)).toBeUndefined();
});

it('opens nothing that is over, and seals nothing that is too long for a header', () => {
  const seal = new SessionSeal([key]);
  const id = seal.seal(session) ?? '';
  vi.useFakeTimers({ toFake: ['Date'], now: session.expiresAt });
  expect(seal.open(id)).toBeUndefined();
  expect(seal.seal({ ...session, hello: { long: 'x'.repeat(10_000) } })).toBeUndefined();
});
