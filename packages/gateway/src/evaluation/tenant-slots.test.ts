import { describe, expect, test } from 'vitest';
import { readerOf, TenantSlots, tenantOf } from './tenant-slots.ts';

function slotsOf(waitMs: number, waiting = 2) {
  return new TenantSlots({ slots: 2, waitMs, waiting, retryAfterSecs: 7 });
}

const tooMany = expect.objectContaining({ code: 'too_many_evaluations', facts: { retry_after_secs: 7 } });

describe('a tenant', () => {
  test('is an org with all its teams', () => {
    expect(tenantOf({ orgId: null })).toBe('unbound');
    expect(tenantOf({ orgId: 'acme' })).toBe('org:acme');
  });

  test('shares what it may leave unread, while operators stand for themselves', () => {
    expect(readerOf({ orgId: 'acme', credentialId: 'a' })).toBe(readerOf({ orgId: 'acme', credentialId: 'b' }));
    expect(readerOf({ orgId: null, credentialId: 'a' })).not.toBe(readerOf({ orgId: null, credentialId: 'b' }));
  });

  test('has two places, and others have theirs', async () => {
    const slots = slotsOf(0);
    await slots.take('a');
    await slots.take('a');
    await expect(slots.take('a')).rejects.toEqual(tooMany);
    await slots.take('b');
    slots.give('a');
    await slots.take('a');
  });

  test('gets a place that becomes free while it waits, in order', async () => {
    const slots = slotsOf(60_000);
    await slots.take('a');
    await slots.take('a');
    const order: number[] = [];
    const third = slots.take('a').then(() => order.push(3));
    const fourth = slots.take('a').then(() => order.push(4));
    await expect(slots.take('a')).rejects.toEqual(tooMany);
    slots.give('a');
    await third;
    slots.give('a');
    await fourth;
    expect(order).toEqual([3, 4]);
  });

  test('is refused when none becomes free, and its place in the line is given up', async () => {
    const slots = slotsOf(5, 1);
    await slots.take('a');
    await slots.take('a');
    await expect(slots.take('a')).rejects.toEqual(tooMany);
    await expect(slots.take('a')).rejects.toEqual(tooMany);
    slots.give('a');
    await slots.take('a');
  });

  test('gives its place back when the work is over, also where it fails', async () => {
    const slots = slotsOf(0);
    for (let time = 0; time < 5; time++) {
      await expect(slots.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
      expect(await slots.run('a', () => Promise.resolve(time))).toBe(time);
    }
  });
});
