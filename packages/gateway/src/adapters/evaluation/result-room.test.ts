import { expect, test } from 'vitest';
import { ResultRoom } from './result-room.ts';

const large = 16 * 1024 * 1024;

test('a tenant has a few large results waiting, and leaves room for others', async () => {
  const room = new ResultRoom();
  const judging = Array.from({ length: 4 }, () => Promise.withResolvers<string>());
  const waiting = judging.map(({ promise }) => room.during('org:a', large, () => promise));
  await expect(room.during('org:a', large, () => Promise.resolve(''))).rejects.toMatchObject({
    code: 'too_many_evaluations',
  });
  expect(await room.during('org:b', large, () => Promise.resolve('judged'))).toBe('judged');
  for (const { resolve } of judging) resolve('judged');
  expect(await Promise.all(waiting)).toEqual(['judged', 'judged', 'judged', 'judged']);
  expect(await room.during('org:a', large, () => Promise.resolve('again'))).toBe('again');
});

test('many tenants together fill no memory, and what fails gives its room back', async () => {
  const room = new ResultRoom();
  const judging = Promise.withResolvers<string>();
  const waiting = Array.from({ length: 16 }, (_, nth) => room.during(`org:${nth}`, large, () => judging.promise));
  await expect(room.during('org:z', 1, () => Promise.resolve(''))).rejects.toMatchObject({
    code: 'too_many_evaluations',
  });
  judging.reject(new Error('it failed'));
  await Promise.allSettled(waiting);
  expect(await room.during('org:z', large, () => Promise.resolve('judged'))).toBe('judged');
});
