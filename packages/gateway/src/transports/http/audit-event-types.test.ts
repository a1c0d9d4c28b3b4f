import { auditEventTypes as told } from '@reeve/contract/audit';
import { auditEventTypes as written } from '@reeve/core';
import { expect, test } from 'vitest';

test('the contract tells clients of every type of entry that is written, and of no other', () => {
  expect(told).toEqual(written);
});
