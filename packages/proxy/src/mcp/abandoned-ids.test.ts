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
  for (let id = 0; id < 9999; id++) abandoned.withhold(id);
  expect(noRoomFor(request('next'), pending, abandoned, toolsAlone)).toBeUndefined();
  abandoned.withhold('last');
  expect(noRoomFor(request('next'), pending, abandoned, toolsAlone)).toMatch('begin another session');
  abandoned.answered('last');
  expect(noRoomFor(request('next'), pending, abandoned, toolsAlone)).toBeUndefined();
});
