import { describe, expect, test } from 'vitest';
import type { Draft } from './sample-log.ts';
import {
  asked,
  asksApproval,
  calm,
  completed,
  decided,
  faults,
  gated,
  granted,
  moved,
  reloaded,
  replayed,
  sealed,
  suspended,
  told,
} from './sample-log.ts';

// The checker decides about storms, so it must notice each kind of violation in a log of a few entries.

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
    reloaded('put', 1, 'with'),
    { event_type: 'PolicyReloaded', policy_version: 'with', payload: { documents: ['gate'] } },
    gated('t:4', 'deny', 'with', 'gate/closed'),
    reloaded('deleted', 2, 'without'),
    gated('t:5', 'deny', 'without', 'default'),
  ];
  const states = ['t:1 pending', 't:1 running', 't:2 pending', 't:2 terminated', 't:1 paused', 't:1 running'];
  states.push('t:1 completing', 't:3 pending', 't:3 running', 't:3 terminated');
  states.push('t:4 pending', 't:4 terminated', 't:5 pending', 't:5 terminated');
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
  [
    'a lost version of a policy',
    [reloaded('put', 1, 'a'), reloaded('deleted', 3, 'b')],
    'version 3 of a policy comes after 1',
  ],
  [
    'a decision by a policy that is over',
    [reloaded('put', 1, 'a'), reloaded('deleted', 2, 'b'), decided('t:1', 'allow', 0, { policy_version: 'a' })],
    'by policy a, and b is in force',
  ],
  [
    'a rule that is not applied',
    [reloaded('put', 1, 'a'), gated('t:1', 'allow', 'a', 'default')],
    'the gate is closed',
  ],
  ['a rule that is gone', [gated('t:1', 'deny', 'a', 'gate/closed')], 'the gate is open'],
  ['another reservation at the end', [decided('t:1', 'allow', 60), completed('t:1', 50, 0)], 'had reserved 60'],
])('the log: %s', (_what, log, says) => {
  expect(faults(log).join()).toContain(says);
});
