import { expect, test } from 'vitest';
import { ByLineage } from './by-lineage.ts';
import { ReadEntry } from './audit-reader.ts';
import { canonicalJson } from './canonical-json.ts';
import type { LogFollower } from './replay-log.ts';
import { replayLog } from './replay-log.ts';

const lineage = { agent_id: 'bot', depth: 0, org_id: 'acme', parent_agent_id: null, root_agent_id: 'bot', team_id: '' };

function entry(seq: number): ReadEntry {
  const members = { event_type: 'ActionAllowed', lineage, op_id: `t:${seq}`, payload: {} };
  return new ReadEntry(seq, '', canonicalJson({ actor: {}, at: '2026-11-16T14:45:20.057Z', ...members }));
}

class Noted implements LogFollower {
  readonly after: number;
  readonly seen: string[] = [];

  constructor(after: number) {
    this.after = after;
  }

  follow({ seq, opId }: Parameters<LogFollower['follow']>[0]): void {
    this.seen.push(`${seq} ${opId}`);
  }
}

test('the log is read once and no further than asked, and each follower gets what came after its own mark', async () => {
  const entries = Array.from({ length: 2500 }, (_, at) => entry(at + 1));
  const asked: [after: number, limit: number][] = [];
  const log = {
    after: (seq: number, limit: number) => {
      asked.push([seq, limit]);
      return Promise.resolve(entries.filter((each) => each.seq > seq).slice(0, limit));
    },
  };
  const [early, late, beyond] = [new Noted(10), new Noted(2498), new Noted(3000)];
  const unread: number[] = [];
  await replayLog(log, [late, early, beyond], 2500, ({ seq }) => unread.push(seq));
  expect(unread).toEqual([]);
  expect(asked.splice(0)).toEqual([
    [10, 1000],
    [1010, 1000],
    [2010, 490],
  ]);
  expect(early.seen).toEqual(entries.slice(10).map(({ seq }) => `${seq} t:${seq}`));
  expect(late.seen).toEqual(['2499 t:2499', '2500 t:2500']);
  expect(beyond.seen).toEqual([]);
  const first = new Noted(0);
  await replayLog(log, [first], 2, () => undefined);
  expect(first.seen).toEqual(['1 t:1', '2 t:2']);
  await replayLog(log, [first], 0, () => undefined);
  expect(asked).toEqual([[0, 2]]);
});

test('an entry that cannot be read is told, and those after it are followed', async () => {
  const entries = [entry(1), new ReadEntry(2, '', 'damaged'), new ReadEntry(3, '', '{}'), entry(4)];
  const log = { after: (seq: number) => Promise.resolve(entries.filter((each) => each.seq > seq)) };
  const agents = new ByLineage((id) => id);
  const seen: number[] = [];
  const unread: number[] = [];
  const follower = {
    after: 0,
    follow: ({ seq, lineage: of }: Parameters<LogFollower['follow']>[0]) => {
      agents.of(of);
      seen.push(seq);
    },
  };
  await replayLog(log, [follower], 4, ({ seq }) => unread.push(seq));
  expect([seen, unread]).toEqual([
    [1, 4],
    [2, 3],
  ]);
});

test('an agent is looked up once for all its entries, however many other agents there are', () => {
  const asked: string[] = [];
  const agents = new ByLineage(({ orgId, teamId, agentId }) => {
    asked.push(`${orgId}/${teamId}/${agentId}`);
    return asked.length === 1 ? undefined : asked.length;
  });
  const textOf = (agentId: string, orgId: string | null) =>
    canonicalJson({ ...lineage, agent_id: agentId, org_id: orgId });
  for (let time = 0; time < 3; time++) expect(agents.of(textOf('a', null))).toBeUndefined();
  for (let time = 0; time < 3; time++) expect(agents.of(textOf('b', 'acme'))).toBe(2);
  expect(asked).toEqual(['//a', 'acme//b']);
  for (let number = 0; number < 20_000; number++) expect(agents.of(textOf(`c${number}`, ''))).toBe(number + 3);
  expect(agents.of(textOf('b', 'acme'))).toBe(20_003);
});
