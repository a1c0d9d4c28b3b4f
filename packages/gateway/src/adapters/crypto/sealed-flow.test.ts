import { SigningKeyRing } from '@reeve/core';
import { expect, test } from 'vitest';
import { JoseMint } from './jose-mint.ts';
import { openFlow, sealFlow } from './sealed-flow.ts';

const mint = new JoseMint();
const first = await mint.makeKey(1);
const second = await mint.makeKey(2);

test('any gateway that knows the key opens what was sealed, also after another key has come', () => {
  const sealed = sealFlow('{"state":"ä"}', new SigningKeyRing([first]));
  expect(sealed).not.toContain('state');
  expect(openFlow(sealed, new SigningKeyRing([first, second]))).toBe('{"state":"ä"}');
});

test('nothing else opens: another key, a change of any byte, a key without its private half', () => {
  const keys = new SigningKeyRing([first]);
  const sealed = sealFlow('text', keys);
  expect(openFlow(sealed, new SigningKeyRing([second]))).toBeUndefined();
  expect(openFlow(sealed.replace(first.kid, second.kid), new SigningKeyRing([first, second]))).toBeUndefined();
  expect(openFlow(sealed, new SigningKeyRing([{ ...first, privateJwk: '' }]))).toBeUndefined();
  for (let at = first.kid.length; at < sealed.length - 1; at++) {
    const changed = `${sealed.slice(0, at)}${sealed[at] === 'A' ? 'B' : 'A'}${sealed.slice(at + 1)}`;
    expect(openFlow(changed, keys), String(at)).toBeUndefined();
  }
  for (const junk of ['', '.', `${first.kid}.`, `${first.kid}.AAAA`, 'a'.repeat(100_000)]) {
    expect(openFlow(junk, keys)).toBeUndefined();
  }
});

test('a shorter proof is none', () => {
  const keys = new SigningKeyRing([first]);
  const [kid, body = ''] = sealFlow('', keys).split('.');
  for (const bytes of [16, 20, 24]) {
    const cut = Buffer.from(body, 'base64url').subarray(0, bytes).toString('base64url');
    expect(openFlow(`${kid}.${cut}`, keys), String(bytes)).toBeUndefined();
  }
});

test('two seals of one text differ', () => {
  const keys = new SigningKeyRing([first]);
  expect(sealFlow('text', keys)).not.toBe(sealFlow('text', keys));
});
