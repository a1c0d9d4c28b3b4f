import { expect, test } from 'vitest';
import { ApprovalLinks } from './approval-links.ts';

const links = new ApprovalLinks('a secret that signs', 'ada@example.com');
const verdict = { approvalId: 'apr_0a', verdict: 'approve', expiresAt: 1_800_000_000_000 } as const;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

test('a token is read as it was signed, and by no other last character', () => {
  const token = links.tokenFor(verdict);
  expect(links.read(token)).toEqual(verdict);
  // The last character has bits that decoding throws away.
  const others = alphabet
    .split('')
    .map((last) => token.slice(0, -1) + last)
    .filter((other) => other !== token);
  expect(others).toHaveLength(63);
  for (const other of others) expect(links.read(other), other).toBeUndefined();
});
