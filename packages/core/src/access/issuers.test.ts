import { expect, test } from 'vitest';
import type { IssuerSettings, TokenCheck, TrustedIssuer } from './issuers.ts';
import { proveBy } from './issuers.ts';

const accepted: TokenCheck = { ok: true, claims: { sub: 'ada' }, expiresAt: 1000 };
const foreign: TokenCheck = { ok: false, why: 'is of another issuer', isForeign: true };

function entry(name: string, check: TokenCheck | Promise<TokenCheck>): TrustedIssuer<IssuerSettings> {
  return { settings: { issuer: name, audiences: [] }, verifier: { verify: () => check } };
}

const never = new Promise<TokenCheck>(() => {});
const named = ({ issuer }: IssuerSettings) => issuer;

test('the first entry counts that proves something, and nobody waits for those after it', async () => {
  const proven = (...trusted: TrustedIssuer<IssuerSettings>[]) => proveBy({ trusted }, 'x', 0, named);
  expect(proven(entry('one', accepted), entry('two', never))).toEqual({ ok: true, proof: 'one', expiresAt: 1000 });
  expect(await proven(entry('one', foreign), entry('two', Promise.resolve(accepted)), entry('three', never))).toEqual({
    ok: true,
    proof: 'two',
    expiresAt: 1000,
  });
  const later = Promise.resolve<TokenCheck>({ ok: false, why: 'has expired' });
  expect(await proven(entry('one', later), entry('two', accepted), entry('three', never))).toMatchObject({
    proof: 'two',
  });
});

test('where none does, the first that is concerned says why', async () => {
  const wrong: TokenCheck = { ok: false, why: 'has a wrong signature' };
  const late = Promise.resolve<TokenCheck>({ ok: false, why: 'has expired' });
  const why = async (...trusted: TrustedIssuer<IssuerSettings>[]) =>
    await proveBy({ trusted }, 'x', 0, () => undefined);
  expect(await why(entry('one', foreign))).toEqual({ ok: false, why: 'is of no configured issuer' });
  expect(await why(entry('one', foreign), entry('two', late), entry('three', wrong))).toMatchObject({
    why: 'has expired',
  });
  expect(await why(entry('one', wrong), entry('two', accepted))).toEqual({ ok: false, why: 'matches no entry' });
});
