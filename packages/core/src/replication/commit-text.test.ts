import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { doors } from '../action/index.ts';
import type { TierOf } from '../budget/index.ts';
import type { Touched } from '../journal/index.ts';
import { agentKey } from '../kernel/index.ts';
import type { OpRecord } from '../ops/index.ts';
import { bareRecord, checksShown } from '../ops/index.ts';
import type { Commit } from '../store.ts';
import { unregisteredAgent } from '../tenancy/index.ts';
import { agentId } from '../testkit/requests.ts';
import { commitText, parseCommit } from './commit-text.ts';

type Steps = Commit['steps'];

const agents = ['acme/red/one', 'acme/red/two', 'umbrella/blue/three'].map(agentId);
const text = fc.oneof(fc.constantFrom('', 'default'), fc.string({ unit: 'binary', maxLength: 20 }));
const at = fc.constantFrom(0, 1_700_000_000_000, 1_700_000_000_001);
const micros = fc.constantFrom(0, 1, 2 ** 53 - 1);

const plain = { noNullPrototype: true };
const tokens = fc.constantFrom(null, 0, 2 ** 31 - 1);

const resultDuty: fc.Arbitrary<OpRecord['resultDuty']> = fc.option(
  fc.record(
    {
      judged: fc.boolean(),
      unjudged: fc.array(fc.record({ name: text, of: fc.constantFrom('run', 'agent'), policyRule: text }, plain), {
        maxLength: 2,
      }),
    },
    plain,
  ),
);

const op: fc.Arbitrary<OpRecord> = fc.record(
  {
    opId: text,
    agent: fc.constantFrom(...agents),
    state: fc.constantFrom('pending', 'running', 'paused', 'terminated'),
    registeredAt: at,
    updatedAt: at,
    actionType: fc.constantFrom(null, 'tool_call'),
    resource: text,
    summary: text,
    runId: text,
    delegators: fc.array(fc.constantFrom('boss', 'root'), { maxLength: 2 }),
    via: fc.option(fc.record({ door: fc.constantFrom(...doors), name: text }, plain)),
    reason: text,
    costMicros: micros,
    reservedMicros: micros,
    usage: fc.option(fc.record({ inputTokens: tokens, outputTokens: tokens, cachedInputTokens: tokens }, plain)),
    policyRule: text,
    digest: text,
    rewrite: fc.option(fc.record({ digest: text, changes: fc.option(text) }, plain)),
    control: fc.constant(null),
    stale: fc.boolean(),
    floor: fc.boolean(),
    resultDuty,
    owedLabels: fc.array(fc.record({ name: text, of: fc.constantFrom('run', 'agent'), policyRule: text }, plain), {
      maxLength: 2,
    }),
  },
  plain,
);

const step: fc.Arbitrary<Steps[number]> = fc.oneof(
  fc
    .record({ at, op, booked: fc.option(text), shows: fc.option(fc.constantFrom(...checksShown)) })
    .map(({ booked, shows, ...event }) => ({
      event: {
        type: 'ops_change' as const,
        agent: event.op.agent,
        ...event,
        ...(booked === null ? {} : { booked }),
        ...(shows === null ? {} : { checked: true as const, shows }),
      },
    })),
  fc
    .record({ at, agent: fc.constantFrom(...agents), reason: text, policyRule: text, opId: text })
    .map((event) => ({ event: { type: 'decision' as const, decision: 'deny' as const, ...event } })),
  fc
    .record({ id: fc.constantFrom(...agents), opId: text })
    .map((id) => ({ change: { kind: 'op_removed' as const, ...id } })),
);

/** Some commits do not name the agent of a step: a refusal touches nobody. */
const touched: fc.Arbitrary<Touched> = fc.record(
  {
    agents: fc.subarray(agents.map(agentKey)),
    orgs: fc.subarray(['acme']),
    everything: fc.boolean(),
  },
  plain,
);

test('other gateways read exactly what happened', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), touched, (steps, whom) => {
      expect(parseCommit(commitText({ steps, touched: whom }))).toStrictEqual({ steps, touched: whom, unread: [] });
    }),
    { numRuns: 1000 },
  );
});

test('a check that was allowed takes few bytes', () => {
  const [agent = agentId('a/b/c')] = agents;
  const arrived = bareRecord(agent, 'trace:span', 5);
  const op: OpRecord = { ...arrived, state: 'running', reason: 'allowed by default', digest: 'd'.repeat(64) };
  const steps: Steps = [
    { event: { type: 'ops_change', at: 5, agent, op, checked: true, shows: 'arrival and decision' } },
  ];
  const whom = { agents: [agentKey(agent)], orgs: [], everything: false };
  const packed = commitText({ steps, touched: whom });
  expect(packed.length * 3).toBeLessThan(JSON.stringify({ steps, touched: whom }).length);
  expect(parseCommit(packed).steps).toStrictEqual(steps);
});

const untouched: Touched = { agents: [], orgs: [], everything: false };
const total = fc.oneof(fc.integer(), fc.bigInt({ min: 2n ** 53n }), fc.bigInt({ max: -(2n ** 53n) }));

/** Names and texts that mean something to a codec, a language or a store, but nothing here. */
const hostile = fc.oneof(
  fc.constantFrom('$big', '__proto__', 'constructor', 'toJSON', 'toString', 'steps', 'touched', 'spent', 'kind', '0'),
  fc.constantFrom(
    '12',
    'x',
    '-1',
    '{"$big":"1"}',
    '\ud800',
    '\udc00x',
    '\u0000',
    '\u0001',
    '\u2028',
    '',
    '9'.repeat(40),
  ),
  fc.string({ unit: 'binary', maxLength: 8 }),
);

test('whatever a caller chose arrives as it was', () => {
  const metadata = fc.array(fc.tuple(hostile, hostile), { maxLength: 6 }).map((members) => Object.fromEntries(members));
  fc.assert(
    fc.property(metadata, fc.array(hostile, { maxLength: 4 }), hostile, (chosen, toolNames, name) => {
      const record = { ...unregisteredAgent(agentId('acme/red/one')), name, metadata: chosen, toolNames };
      const steps: Steps = [{ change: { kind: 'agent_saved', agent: record } }];
      const read = parseCommit(commitText({ steps, touched: untouched }));
      expect(read).toStrictEqual({ steps, touched: untouched, unread: [] });
    }),
    { numRuns: 2000 },
  );
});

test('details of an alert, which have any form, arrive as they were', () => {
  const any = fc.jsonValue().map((value) => JSON.parse(JSON.stringify({ $big: value, in: [value] })) as object);
  fc.assert(
    fc.property(fc.oneof(any, fc.constantFrom({ $big: 'x' }, { $big: '12' })), (details) => {
      const event = { type: 'audit_alert', at: 1, agent: null, alert: 'impersonation', details } as const;
      const steps = [{ event }] as unknown as Steps;
      expect(parseCommit(commitText({ steps, touched: untouched })).steps).toStrictEqual(steps);
    }),
    { numRuns: 1000 },
  );
});

test('sums beyond the numbers of JSON arrive exactly', () => {
  const of: TierOf = { tier: 'org', orgId: '$big', teamId: '', agentId: '' };
  const windows = fc.array(fc.record({ id: text, spent: total, noticed: fc.nat() }, plain), { maxLength: 2 });
  const both = <Item>(item: fc.Arbitrary<Item>) => fc.record({ day: item, month: item }, plain);
  const balance = fc.record(
    { of: fc.constant(of), spent: both(total), window: both(text), noticed: both(fc.nat()), earlier: both(windows) },
    plain,
  );
  fc.assert(
    fc.property(balance, total, total, (saved, spentMicros, totalMicros) => {
      const period = {
        of,
        period: 'day',
        id: '2026-01-01',
        startsAt: 0,
        endsAt: 1,
        spentMicros,
        limitMicros: 5,
      } as const;
      const rest = { kind: 'balances_saved', over: [of], closedBefore: null, asOf: null } as const;
      const { earlier, ...bare } = { ...saved, seq: 1 };
      const event = { type: 'budget', at: 1, of, change: 'corrected', period: 'day', percent: null } as const;
      const steps: Steps = [
        { change: { ...rest, saved: [{ ...bare, earlier }, bare], closed: [period] } },
        { event: { ...event, limitMicros: null, totalMicros, amountMicros: spentMicros } },
        { event: { ...event, limitMicros: 1, totalMicros } },
      ];
      const read = parseCommit(commitText({ steps, touched: untouched }));
      expect(read).toStrictEqual({ steps, touched: untouched, unread: [] });
    }),
  );
});

test('a commit of the first release is read, with its large sums where only sums stand', () => {
  const sums = '"spent":{"day":{"$big":"9007199254740993"},"month":7},"window":{"day":"d","month":"m"}';
  const saved = `{"of":{"tier":"org","orgId":"a","teamId":"","agentId":""},${sums},"noticed":{"day":0,"month":0},"seq":4}`;
  const change = `{"kind":"balances_saved","saved":[${saved}],"over":[],"closed":[],"closedBefore":null,"asOf":null}`;
  const read = parseCommit(`{"steps":[{"change":${change}}],"touched":{"agents":[],"orgs":[],"everything":false}}`);
  expect(read.steps).toMatchObject([{ change: { saved: [{ spent: { day: 9_007_199_254_740_993n, month: 7 } }] } }]);
});

test('an operation in a commit of the first release is whole', () => {
  const bare = bareRecord(agentId('acme/red/one'), 't:s', 5);
  const later = new Set(['via', 'delegators', 'floor', 'resultDuty', 'owedLabels', 'rewrite']);
  const op = JSON.stringify(bare, (name, value: unknown) => (later.has(name) ? undefined : value));
  const event = `{"type":"ops_change","at":5,"agent":${JSON.stringify(bare.agent)},"op":${op}}`;
  const read = parseCommit(`{"steps":[{"event":${event}}],"touched":{"agents":[],"orgs":[],"everything":false}}`);
  expect(read.steps).toEqual([{ event: { type: 'ops_change', at: 5, agent: bare.agent, op: bare } }]);
});

test('a commit that an earlier gateway has packed is read', () => {
  const [agent = agentId('a/b/c')] = agents;
  const op =
    '"t:s","running",5,7,"tool_call","search","look it up","run-1","allowed by rule fine",1500,1400,"fine","d1g","2023-11-14"';
  const rare = '{"delegators":["boss"],"via":{"door":"mcp","name":"files"}}';
  const text = `{"steps":[["new",0,5,"t:s"],["op",0,7,${op}],["op",0,7,${op},${rare}],["op",0,7,${op.replace('"2023-11-14"', 'null')}],["check",0,7,"t:s","allow","allowed by rule fine","fine"]],"touched":{"agents":["acme/red/one"],"orgs":[],"everything":false}}`;
  const moved: OpRecord = {
    ...bareRecord(agent, 't:s', 5),
    state: 'running',
    updatedAt: 7,
    actionType: 'tool_call',
    resource: 'search',
    summary: 'look it up',
    runId: 'run-1',
    reason: 'allowed by rule fine',
    costMicros: 1500,
    reservedMicros: 1400,
    policyRule: 'fine',
    digest: 'd1g',
    rewrite: null,
  };
  const event = { type: 'ops_change', at: 7, agent, op: moved, booked: '2023-11-14' } as const;
  const { booked: _, ...unbooked } = event;
  const decided = { decision: 'allow', reason: 'allowed by rule fine', policyRule: 'fine', opId: 't:s' } as const;
  expect(parseCommit(text)).toStrictEqual({
    steps: [
      { event: { type: 'ops_change', at: 5, agent, op: bareRecord(agent, 't:s', 5) } },
      { event },
      { event: { ...event, op: { ...moved, delegators: ['boss'], via: { door: 'mcp', name: 'files' } } } },
      { event: unbooked },
      { event: { type: 'decision', at: 7, agent, ...decided } },
    ],
    touched: { agents: ['acme/red/one'], orgs: [], everything: false },
    unread: [],
  });
});

describe('what cannot be read is told, and the rest is read', () => {
  const [agent = agentId('a/b/c')] = agents;
  const whom = { agents: [agentKey(agent)], orgs: [], everything: false };
  const known = { change: { kind: 'op_removed', id: agent, opId: 'x' } };
  const unread = (steps: readonly unknown[]) => parseCommit(JSON.stringify({ steps, touched: whom }));

  test.each<[string, unknown]>([
    ['a packed step of an agent that the commit does not name', ['new', 3, 5, 'trace:span']],
    ['a packed step of another kind', ['newer', 0, 5]],
    ['a change of another release', { change: { kind: 'newer' } }],
    ['a change named like a member of every object', { change: { kind: 'constructor' } }],
    ['an event of another release', { event: { type: 'newer' } }],
    ['a change of nobody', { change: { kind: 'agent_saved' } }],
    ['an event of nobody', { event: { type: 'ops_change' } }],
    ['a sum that is none', { event: { type: 'budget', totalMicros: { $big: 'x' } } }],
    ['nothing', null],
    ['a text', 'step'],
  ])('%s', (_, step) => {
    const read = unread([known, step, known]);
    expect(read.steps).toEqual([known, known]);
    expect(read.unread).toMatchObject([{ touched: whom, why: expect.stringContaining('step 2 of 3') }]);
  });

  test.each([
    '',
    '{',
    '5',
    'null',
    '{}',
    '{"steps":[]}',
    '{"steps":5,"touched":{}}',
    '[]',
    '{"steps":[],"touched":{"agents":[1],"orgs":[],"everything":true}}',
  ])('the text %s, and nothing of it is quoted', (damaged) => {
    const read = parseCommit(damaged);
    expect(read).toMatchObject({ steps: [], touched: { everything: true }, unread: [{ touched: null }] });
  });

  test('a text whose reason would quote a secret', () => {
    expect(JSON.stringify(parseCommit('{"steps": secret }'))).not.toContain('secret');
  });
});
