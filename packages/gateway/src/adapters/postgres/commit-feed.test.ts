import { expect, test } from 'vitest';
import { CommitFeed } from './commit-feed.ts';

const rows = Array.from({ length: 450 }, (_, nth) => ({
  version: nth + 1,
  gateway: 'other',
  seq: nth + 1,
  hash: `hash ${nth + 1}`,
  facts: '{"steps":[],"touched":{"agents":[],"orgs":[],"everything":false}}',
}));

test('a read that fails after its first page hands out nothing, and the next one everything', async () => {
  let questions = 0;
  const head = { version: 450, seq: 450, hash: 'hash 450' };
  let isAway = true;
  const sql = {
    all: (asked: string, ...[, from]: unknown[]) => {
      if (asked.includes('FROM chain')) return Promise.resolve([head]);
      if (++questions === 2 && isAway) return Promise.reject(new Error('the connection was lost'));
      return Promise.resolve(rows.filter(({ version }) => version >= Number(from)).slice(0, 200));
    },
  };
  const feed = new CommitFeed(sql, 'me', () => undefined);
  await expect(feed.read()).rejects.toThrow('the connection was lost');
  expect(feed.version).toBe(0);
  isAway = false;
  const commits = await feed.read();
  expect(commits.map(({ head }) => head.seq)).toEqual(rows.map(({ seq }) => seq));
  expect(feed.version).toBe(450);
});
