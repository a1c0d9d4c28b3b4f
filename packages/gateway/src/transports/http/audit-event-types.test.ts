import { auditEventTypes as told } from '@reeve/contract/audit';
import { auditEventTypes as written } from '@reeve/core';
import { expect, expectTypeOf, test } from 'vitest';

test('the contract tells clients of every type of entry that is written, and of no other', () => {
  expectTypeOf<(typeof told)[number]>().toEqualTypeOf<(typeof written)[number]>();
  expect(told).toEqual(written);
});
