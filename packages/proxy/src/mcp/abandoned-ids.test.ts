import { expect, it } from 'vitest';
import { AbandonedIds } from './abandoned-ids.ts';
import { toolsAlone } from './govern/governed-methods.ts';
import { noRoomFor, PendingRequests } from './pending-requests.ts';

const request = (id: unknown) => [{ id, method: 'tools/call', params: {} }];

it('a result that is held back stays so, however many other requests are abandoned after it', () => {
  const abandoned = new AbandonedIds();
  abandoned.withhold('stopped');
  for (let id = 0; id < 30_000; id++) abandoned.cancel(id);
  expect(abandoned.isWithheld('stopped')).toBe(true);
  for (let id = 0; id < 30_000; id++) abandoned.withhold(`more-${id}`);
  expect(abandoned.isWithheld('stopped')).toBe(true);
});

it('a session with too many results that are held back takes no further requests', () => {
  const abandoned = new AbandonedIds();
  const pending = new PendingRequests();
  for (let id = 0; id < 9999; id++) abandoned.withhold(`text-${id}`);
  expect(noRoomFor(request('next'), pending, abandoned, toolsAlone)).toBeUndefined();
  abandoned.withhold('last');
  expect(noRoomFor(request('next'), pending, abandoned, toolsAlone)).toMatch('begin another session');
  abandoned.answered('last');
  expect(noRoomFor(request('next'), pending, abandoned, toolsAlone)).toBeUndefined();
});

it('a client that counts its requests up never comes to an end, and gets no id again', () => {
  const abandoned = new AbandonedIds();
  const pending = new PendingRequests();
  for (let id = 1; id <= 50_000; id++) {
    expect(noRoomFor(request(id), pending, abandoned, toolsAlone)).toBeUndefined();
    abandoned.withhold(id);
  }
  for (const id of [1, 10_000, 25_000, 50_000]) {
    expect(abandoned.isWithheld(id)).toBe(true);
    expect(noRoomFor(request(id), pending, abandoned, toolsAlone)).toMatch('the id is the one of another request');
  }
  expect(abandoned.isWithheld('1')).toBe(false);
});
