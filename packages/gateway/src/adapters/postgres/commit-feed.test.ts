import type { AgentId } from '@reeve/core';
import { commitText } from '@reeve/core';
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

test('commits name agents by the ids that memory has, and others by their own', () => {
  const known: AgentId = { orgId: 'acme', teamId: 'core', agentId: 'known' };
  const stranger: AgentId = { orgId: 'acme', teamId: 'core', agentId: 'stranger' };
  const feed = new CommitFeed({ all: () => Promise.resolve([]) }, 'me', () => undefined);
  feed.know({ text: (text) => text, agent: (key) => (key === 'acme/core/known' ? known : undefined) });
  const steps = [known, stranger].map((id) => ({ change: { kind: 'op_removed', id, opId: 'op' } }) as const);
  const touched = { agents: ['acme/core/known', 'acme/core/stranger'], orgs: [], everything: false };
  const place = { version: 1, gateway: 'other/1', before: null, seq: 1, hash: 'h' };
  feed.receive({ ...place, facts: commitText({ steps, touched }) });
  const ids = feed.ready()[0]?.steps.map((step) => ('change' in step && 'id' in step.change ? step.change.id : null));
  expect(ids).toEqual([known, stranger]);
  expect(ids?.[0]).toBe(known);
});
