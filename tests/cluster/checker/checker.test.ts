import { describe, expect, test } from 'vitest';
import type { Evidence } from './check.ts';
import { faultsOf } from './check.ts';
import type { Entry, Row } from './log.ts';
import { hashOf } from './log.ts';

// The checker decides about storms, so it must notice each kind of violation in a log of a few entries.

type Draft = Partial<Omit<Entry, 'seq' | 'prev_hash'>>;

const lineage = { org_id: 'acme', team_id: 'red', agent_id: 'a' };
const caps = { global: 100, org: 100, team: 100, agent: 100 };

/** Seals entries into a chain, as a gateway does. */
function sealed(drafts: readonly Draft[]): Row[] {
  let prev_hash = '0'.repeat(64);
  return drafts.map((draft, nth) => {
    const none = { op_id: null, trace_id: null, span_id: null, decision: null, reason: null, policy_rule: null };
    const entry = { event_type: 'Other', lineage, ...none, payload: {}, ...draft, seq: nth + 1, prev_hash };
    prev_hash = hashOf(entry);
    return { seq: entry.seq, hash: prev_hash, canonical: JSON.stringify(entry) };
  });
}

function decided(op: string, decision: string, cost = 0, more: Draft = {}): Draft {
  const op_state = { allow: 'running', deny: 'terminated' }[decision] ?? 'pending';
  const [trace_id = '', span_id = ''] = op.split(':');
  const payload = { op_state, cost_micros: cost, ...more.payload };
  return {
    event_type: 'Action',
    op_id: op,
    trace_id,
    span_id,
    decision,
    reason: `it is ${decision}`,
    ...more,
    payload,
  };
}

function moved(op: string, from: string, trigger: string, to: string, payload: Entry['payload'] = {}): Draft {
  return { event_type: 'OpStateChanged', op_id: op, payload: { from, trigger, to, ...payload } };
}

function completed(op: string, reserved: number, cost: number): Draft {
  return moved(op, 'running', 'complete', 'completing', { cost_micros: cost, reserved_micros: reserved });
}

const replayed = (op: string, decision: string, op_state: string) =>
  decided(op, decision, 0, { payload: { op_state, replay: true } });
const suspended: Draft = { event_type: 'AgentSuspended' };
const asksApproval: Draft = { event_type: 'ApprovalRequested', payload: { approval_id: 'apr' } };
const granted: Draft = { event_type: 'ApprovalGranted', payload: { approval_id: 'apr' } };

const nothingTold = { checks: [], completed: [], refused: [], controls: [], verdicts: [], registered: [], reads: [] };

/** A gateway where nothing ever happened. */
const calm = {
  name: 'one',
  ops: [],
  agents: [],
  approvals: [],
  budgets: [],
  members: [{ id: 'g1', state: 'active', self: true }],
  verified: { consistent: true },
};

function faults(drafts: readonly Draft[], evidence: Partial<Evidence> = {}): string[] {
  const rows = evidence.rows ?? sealed(drafts);
  const { seq = 0, hash = '0'.repeat(64) } = rows.at(-1) ?? {};
  return faultsOf({ rows, head: { seq, hash }, caps, told: nothingTold, followers: [], gateways: [calm], ...evidence });
}

function asked(op: string, attempts: number, ...words: string[]) {
  const [traceId = '', spanId = ''] = op.split(':');
  const answers = words.map((decision) => ({ decision, reason: `it is ${decision}`, opId: op, approvalId: '' }));
  return { agent: 'acme/red/a', traceId, spanId, attempts, answers };
}

function told(what: Partial<Evidence['told']>): Partial<Evidence> {
  return { told: { ...nothingTold, ...what } };
}

test('a run that was right has no faults', () => {
  const log = [
    { event_type: 'AgentRegistered' },
    decided('t:1', 'allow', 60),
    replayed('t:1', 'allow', 'running'),
    decided('t:2', 'deny', 50, { policy_rule: 'budget/agent.month' }),
    moved('t:1', 'running', 'pause', 'paused'),
    moved('t:1', 'paused', 'resume', 'running', { control_id: 'ctl' }),
    completed('t:1', 60, 40),
    decided('t:3', 'pending', 60),
    asksApproval,
    moved('t:3', 'pending', 'allow', 'running'),
    granted,
    moved('t:3', 'running', 'terminate', 'terminated'),
  ];
  const states = ['t:1 pending', 't:1 running', 't:2 pending', 't:2 terminated', 't:1 paused', 't:1 running'];
  states.push('t:1 completing', 't:3 pending', 't:3 running', 't:3 terminated');
  const events = states.map((each, nth) => {
    const [op = '', state = ''] = each.split(' ');
    return { id: 8 + nth, transition: { op: `acme/red/a ${op}`, state } };
  });
  const budget = { tier: 'team', org_id: 'acme', team_id: 'red', agent_id: null, spent_usd: '0.00004' };
  const seen = { ...calm, budgets: [{ ...budget, reserved_usd: '0.00' }] };
  expect(
    faults(log, {
      ...told({
        checks: [asked('t:1', 3, 'allow', 'allow'), asked('t:2', 1, 'deny'), asked('t:3', 1, 'pending')],
        completed: [{ op: 'acme/red/a t:1', costMicros: 40 }],
        refused: [{ op: 'acme/red/a t:1', attempts: 1, says: 'cannot complete an operation that is paused' }],
        reads: [
          { op: 'acme/red/a t:1', known: ['running', 'paused'], state: 'running', by: 'one' },
          { op: 'acme/red/a t:1', known: ['running', 'running'], state: 'completing', by: 'two' },
          { op: 'acme/red/a t:2', known: [], state: 'terminated', by: 'two' },
        ],
        verdicts: [{ approvalId: 'apr', state: 'approved' }],
        registered: ['acme/red/a'],
      }),
      followers: [{ name: 'f', org: 'acme', seesAll: true, cursor: 7, gaps: 0, events }],
      gateways: [seen, { ...seen, name: 'two' }],
    }),
  ).toEqual([]);
});

describe('the chain', () => {
  const rows = sealed([{}, { reason: 'second' }, {}]);

  test.each([
    ['a missing entry', rows.toSpliced(1, 1), 'entry 3 comes after entry 1'],
    ['a missing beginning', rows.slice(1), 'entry 2 comes after entry 0'],
    [
      'a changed entry',
      rows.map((row) => ({ ...row, canonical: row.canonical.replace('second', 'other') })),
      'its hash',
    ],
    ['another history', [...rows.slice(0, 1), ...sealed([{}, { reason: 'x' }, {}]).slice(2)], 'comes after'],
    ['a fork', [...rows.slice(0, 2), ...sealed([{}, {}, {}]).slice(2)], 'does not continue'],
  ])('%s', (_what, damaged, says) => {
    expect(faults([], { rows: damaged }).join()).toContain(says);
  });

  test('a missing end', () => {
    const head = { seq: 3, hash: rows[2]?.hash ?? '' };
    expect(faults([], { rows: rows.slice(0, 2), head })).toEqual([
      'the log ends with entry 2, and its head is entry 3',
    ]);
  });
});

test.each<[string, Draft[], string]>([
  ['two decisions', [decided('t:1', 'allow'), decided('t:1', 'allow')], 'is decided again'],
  ['two completions', [decided('t:1', 'allow'), completed('t:1', 0, 0), completed('t:1', 0, 0)], 'it is completing'],
  ['a move from elsewhere', [decided('t:1', 'allow'), moved('t:1', 'paused', 'resume', 'running')], 'it is running'],
  [
    'a move that is not in the table',
    [decided('t:1', 'allow'), moved('t:1', 'running', 'resume', 'running')],
    'cannot',
  ],
  [
    'a move after the end',
    [decided('t:1', 'deny'), moved('t:1', 'terminated', 'terminate', 'terminated')],
    'cannot terminate',
  ],
  ['a move before the decision', [moved('t:1', 'running', 'pause', 'paused')], 'it is undefined'],
  ['a decision that leaves another state', [decided('t:1', 'allow', 0, { payload: { op_state: 'paused' } })], 'after'],
  ['a replay before the decision', [replayed('t:1', 'allow', 'running'), decided('t:1', 'allow')], 'it is undefined'],
  ['a replay of another state', [decided('t:1', 'allow'), replayed('t:1', 'pending', 'paused')], 'it is running'],
  ['a replay that says otherwise', [decided('t:1', 'allow'), replayed('t:1', 'deny', 'running')], 'says deny'],
  ['a decision for a suspended agent', [suspended, decided('t:1', 'allow')], 'its agent is suspended'],
  ['an approval that nobody asked for', [granted], 'was not open'],
  ['two verdicts', [asksApproval, granted, granted], 'was not open'],
  ['an approval that is asked for twice', [asksApproval, granted, asksApproval, granted], 'requested again'],
  ['an approval without an end', [asksApproval], 'never decided'],
  ['a cap that is passed', [decided('t:1', 'allow', 60), decided('t:2', 'allow', 41)], 'global is at 101 of 100'],
  [
    'a cap that is passed for a moment',
    [decided('t:1', 'allow', 60), decided('t:2', 'pending', 41), moved('t:1', 'running', 'terminate', 'terminated')],
    'team acme/red is at 101 of 100',
  ],
  [
    'a refusal of what fits',
    [decided('t:1', 'allow', 60), decided('t:2', 'deny', 40, { policy_rule: 'budget/org.month' })],
    'it fits',
  ],
  ['another reservation at the end', [decided('t:1', 'allow', 60), completed('t:1', 50, 0)], 'had reserved 60'],
])('the log: %s', (_what, log, says) => {
  expect(faults(log).join()).toContain(says);
});

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
