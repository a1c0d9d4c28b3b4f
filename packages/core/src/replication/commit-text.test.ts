import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { doors } from '../action/index.ts';
import type { Touched } from '../journal/index.ts';
import { agentKey } from '../kernel/index.ts';
import type { OpRecord } from '../ops/index.ts';
import type { Commit } from '../store.ts';
import { agentId } from '../testkit/requests.ts';
import { commitText, parseCommit } from './commit-text.ts';
import { arrived } from './packed-step.ts';

type Steps = Commit['steps'];

const agents = ['acme/red/one', 'acme/red/two', 'umbrella/blue/three'].map(agentId);
const text = fc.oneof(fc.constantFrom('', 'default'), fc.string({ unit: 'binary', maxLength: 20 }));
const at = fc.constantFrom(0, 1_700_000_000_000, 1_700_000_000_001);
const micros = fc.constantFrom(0, 1, 2 ** 53 - 1);

const plain = { noNullPrototype: true };
const tokens = fc.constantFrom(null, 0, 2 ** 31 - 1);

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
    via: fc.option(fc.record({ door: fc.constantFrom(...doors), name: text }, plain)),
    reason: text,
    costMicros: micros,
    reservedMicros: micros,
    usage: fc.option(fc.record({ inputTokens: tokens, outputTokens: tokens, cachedInputTokens: tokens }, plain)),
    policyRule: text,
    digest: text,
    control: fc.constant(null),
    stale: fc.boolean(),
  },
  plain,
);

const step: fc.Arbitrary<Steps[number]> = fc.oneof(
  fc.record({ at, op, booked: fc.option(text) }).map(({ booked, ...event }) => ({
    event: { type: 'ops_change' as const, agent: event.op.agent, ...event, ...(booked === null ? {} : { booked }) },
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
      expect(parseCommit(commitText({ steps, touched: whom }))).toStrictEqual({ steps, touched: whom });
    }),
    { numRuns: 1000 },
  );
});

test('a check that was allowed takes few bytes', () => {
  const [agent = agentId('a/b/c')] = agents;
  const pending = arrived('trace:span', agent, 5);
  const running: OpRecord = { ...pending, state: 'running', reason: 'allowed by default', digest: 'd'.repeat(64) };
  const steps: Steps = [
    { event: { type: 'ops_change', at: 5, agent, op: pending } },
    { event: { type: 'ops_change', at: 5, agent, op: running } },
    { event: { type: 'decision', at: 5, agent, decision: 'allow', reason: '', policyRule: '', opId: 'trace:span' } },
  ];
  const whom = { agents: [agentKey(agent)], orgs: [], everything: false };
  const packed = commitText({ steps, touched: whom });
  expect(packed.length * 3).toBeLessThan(JSON.stringify({ steps, touched: whom }).length);
  expect(parseCommit(packed).steps).toStrictEqual(steps);
});

test('numbers beyond those of JSON arrive as they are', () => {
  const change = { kind: 'balances_saved', sum: 2n ** 70n } as unknown as Extract<
    Steps[number],
    { change: unknown }
  >['change'];
  const steps: Steps = [{ change }];
  const told = { steps, touched: { agents: [], orgs: [], everything: false } };
  expect(parseCommit(commitText(told))).toStrictEqual(told);
});

test('a step of an agent that the commit does not name is refused', () => {
  const damaged = '{"steps":[["new",3,5,"trace:span"]],"touched":{"agents":["a/b/c"],"orgs":[],"everything":false}}';
  expect(() => parseCommit(damaged)).toThrow('names agent 3 of 1');
});
