import { describe, expect, test } from 'vitest';
import type { Evidence } from './check.ts';
import type { Draft } from './sample-log.ts';
import { asked, calm, completed, decided, faults, moved, replayed, told } from './sample-log.ts';

// What clients, followers and gateways say must agree with the log.

const allowed = [decided('t:1', 'allow')];
const op = 'acme/red/a t:1';
test.each<[string, Draft[], Partial<Evidence['told']>, string]>([
  ['a decision that is lost', [], { checks: [asked('t:1', 1, 'allow')] }, 'is decided 0 times'],
  ['a decision that was another', allowed, { checks: [asked('t:1', 1, 'deny')] }, 'told "deny: it is deny"'],
  [
    'more entries than questions',
    [...allowed, replayed('t:1', 'allow', 'running')],
    { checks: [asked('t:1', 1)] },
    '2',
  ],
  ['a refused agent without an entry', [], { checks: [{ ...asked('t:1', 1), answers: [refusal()] }] }, 'log says []'],
  ['a completion that is lost', allowed, { completed: [{ op, costMicros: 5 }] }, 'completed at 5'],
  [
    'a completion at another cost',
    [...allowed, completed('t:1', 0, 4)],
    { completed: [{ op, costMicros: 5 }] },
    'the log says [4]',
  ],
  [
    'an operation that is forgotten',
    allowed,
    { refused: [{ op, attempts: 1, says: 'no operation is known' }] },
    'could not be',
  ],
  [
    'an end that never was',
    allowed,
    { refused: [{ op, attempts: 1, says: 'cannot complete an operation that is terminated' }] },
    'could not be completed',
  ],
  [
    'a completion that is refused for itself',
    [...allowed, completed('t:1', 0, 5)],
    { refused: [{ op, attempts: 1, says: 'cannot complete an operation that is completing' }] },
    'by nobody else',
  ],
  [
    'an operation that is not known yet',
    allowed,
    { reads: [{ op, known: [], state: undefined, by: 'one' }] },
    'unknown',
  ],
  [
    'a state that was over',
    [...allowed, completed('t:1', 0, 0)],
    { reads: [{ op, known: ['running', 'completing'], state: 'running', by: 'one' }] },
    'called acme/red/a t:1 running, after [running, completing] was known',
  ],
  ['a state that never was', allowed, { reads: [{ op, known: [], state: 'paused', by: 'one' }] }, 'paused'],
  ['a control that is lost', [], { controls: ['ctl'] }, 'the control ctl was confirmed'],
  ['a verdict that is lost', [], { verdicts: [{ approvalId: 'apr', state: 'rejected' }] }, 'the verdict apr rejected'],
  ['an agent that is lost', [], { registered: ['acme/red/b'] }, 'no such agent'],
])('what was told: %s', (_what, log, what, says) => {
  expect(faults(log, told(what)).join()).toContain(says);
});

function refusal() {
  return { decision: 'deny', reason: 'agent is suspended', opId: '', approvalId: '' };
}

test('what was told: a termination that came in between is no fault', () => {
  const log = [...allowed, moved('t:1', 'running', 'terminate', 'terminated')];
  const answers = [{ decision: 'deny', reason: 'operation is terminated', opId: 't:1', approvalId: '' }];
  expect(faults(log, told({ checks: [{ ...asked('t:1', 1), answers }] }))).toEqual([]);
  expect(faults(allowed, told({ checks: [{ ...asked('t:1', 1), answers }] }))).toHaveLength(1);
});

describe('a follower', () => {
  const follower = { name: 'f', seesAll: false, cursor: 5, gaps: 0 };
  const seen = (...events: [id: number, state: string][]) => ({
    followers: [{ ...follower, events: events.map(([id, state]) => ({ id, transition: { op, state } })) }],
  });

  test.each<[string, Partial<Evidence>, string]>([
    ['misses the first', seen([7, 'running']), 'transition 0'],
    ['misses the last', seen([6, 'pending']), 'saw nothing'],
    ['sees one twice', seen([6, 'pending'], [6, 'pending'], [7, 'running']), 'event 6 after event 6'],
    ['sees one again under another id', seen([6, 'pending'], [7, 'running'], [8, 'running']), 'not in the log'],
    ['sees another order', seen([6, 'running'], [7, 'pending']), 'it saw acme/red/a t:1 running'],
    ['sees an id again after a hop', seen([9, 'pending'], [8, 'running']), 'event 8 after event 9'],
    ['sees one that was before its start', seen([5, 'pending'], [6, 'running']), 'event 5 after event 5'],
    ['is told of a gap', { followers: [{ ...follower, gaps: 1, events: [] }] }, 'events are gone'],
    ['misses an id', { followers: [{ ...follower, seesAll: true, events: [{ id: 7 }] }] }, 'missed'],
  ])('%s', (_what, evidence, says) => {
    expect(faults(allowed, evidence).join()).toContain(says);
  });
});

describe('the gateways', () => {
  const budget = {
    tier: 'global',
    org_id: null,
    team_id: null,
    agent_id: null,
    spent_usd: '0.00',
    reserved_usd: '0.00',
  };
  test.each<[string, Partial<typeof calm> | object, string]>([
    ['an operation is left', { ops: [{ op_id: 't:1', state: 'paused' }] }, 'is still paused'],
    ['an approval is left', { approvals: [{ id: 'apr', state: 'open' }] }, 'is still open'],
    ['a reservation is left', { budgets: [{ ...budget, reserved_usd: '0.01' }] }, 'still reserves 0.01'],
    ['more is spent than logged', { budgets: [{ ...budget, spent_usd: '0.000007' }] }, 'has spent 7, and by the log 0'],
    ['the books are wrong', { verified: { consistent: false } }, 'the books are wrong'],
    ['nobody is oneself', { members: [{ id: 'g1', self: false }] }, 'listed 0 times'],
  ])('%s', (_what, seen, says) => {
    expect(faults([], { gateways: [{ ...calm, ...seen }] }).join()).toContain(says);
  });

  test.each(['ops', 'agents', 'approvals', 'budgets', 'members'])('they list other %s', (list) => {
    const item = { ...budget, id: 'x', self: true, last_seen_at: 'now' };
    const one = { ...calm, [list]: [item] };
    const other = (change: object) => ({ ...calm, name: 'two', [list]: [{ ...item, ...change }] });
    const differ = `${list} of one and two differ`;
    expect(faults([], { gateways: [one, other({ last_seen_at: 'later' })] })).toEqual([]);
    expect(faults([], { gateways: [one, other({ id: 'y' })] }).join()).toContain(differ);
    expect(faults([], { gateways: [one, { ...calm, name: 'two', [list]: [] }] }).join()).toContain(differ);
  });
});
