import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Answer } from '../decision/answer.ts';
import { checkAction } from '../decision/check-action.ts';
import { ownWork } from '../journal/warrant.ts';
import type { EpochMs, ReeveError } from '../kernel/index.ts';
import { agentKey } from '../kernel/index.ts';
import type { DelegateRequest } from '../tenancy/delegate-agent.ts';
import { endLapsedDelegations } from '../tenancy/end-delegation.ts';
import { completeAction, controlOp, delegateAgent, registerAgent } from '../testkit/commands.ts';
import { resumeAgent, revokeDelegation, suspendAgent } from '../testkit/commands.ts';
import type { LoggedEntry } from '../testkit/logged-entry.ts';
import { agentId, checkOf, operator, registration } from '../testkit/requests.ts';
import { Cluster, ticks } from '../testkit/shared-cluster.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { twoGateways } from '../testkit/two-gateways.ts';

const policy = 'name: all\ndefault: allow\nbudget: {agent_daily_limit_usd: 0.00002}\n';
const limits = { middle: { maxChecks: 12, maxCostMicros: 8 }, one: { maxChecks: 6, maxCostMicros: 6 } };
const boss: TestAgent = { id: agentId('acme/red/boss'), token: 'token of the boss, which is long enough' };
const names = ['boss', 'middle', 'one', 'two'] as const;
type Name = (typeof names)[number];
const delegatorOf: Readonly<Record<Name, Name | undefined>> = {
  boss: undefined,
  middle: 'boss',
  one: 'middle',
  two: 'middle',
};

interface Deed {
  readonly at: number;
  readonly agent: number;
  readonly op: number;
  readonly cost: number;
  readonly kind: string;
}

/** What clients know: the tokens that they got last. */
type Tokens = Map<Name, TestAgent>;

async function deed({ gov }: TestGovernance, tokens: Tokens, { agent, kind, op, cost }: Deed): Promise<unknown> {
  const name = names[agent % names.length] ?? 'boss';
  const { id, token } = tokens.get(name) ?? boss;
  const ids = { traceId: `t${op}`, spanId: 's' };
  const above = delegatorOf[name];
  const delegator = above === undefined ? undefined : tokens.get(above);
  const ignore = () => undefined;
  switch (kind) {
    case 'check':
      return checkAction(gov, checkOf({ agentId: id, token, ...ids, estimatedCostMicros: cost }));
    case 'complete': {
      const completion = { actualCostMicros: cost, outcome: 'succeeded', detail: '' } as const;
      return completeAction(gov, { agentId: id, token, opId: `t${op}:s`, ...completion }).catch(ignore);
    }
    case 'delegate': {
      if (delegator === undefined) return undefined;
      const granted = delegateAgent(gov, delegator, name, {
        ...limits[name === 'one' ? 'one' : 'middle'],
        ttlSecs: 100,
      });
      return granted.then((child) => tokens.set(name, { id: child.agentId, token: child.token }), ignore);
    }
    case 'revoke':
      return delegator === undefined ? undefined : revokeDelegation(gov, delegator, name).catch(ignore);
    case 'suspend':
      return suspendAgent(gov, operator, id, '').catch(ignore);
    case 'resume':
      return resumeAgent(gov, operator, id, '').catch(ignore);
    default:
      return gov.journal.turn(ownWork, () => endLapsedDelegations(gov, 10));
  }
}

interface Counted {
  checks: number;
  settled: number;
  readonly expiresAt: EpochMs;
  readonly maxChecks: number;
  readonly maxCost: number;
}

/** Reads the log by itself: who may do what at each entry, and how much. */
function requireBounds(entries: readonly LoggedEntry[]): void {
  const live = new Map<string, Counted>();
  const suspended = new Set<string>();
  const reserved = new Map<string, { readonly cost: number; readonly chain: readonly string[] }>();
  for (const { at, event_type: type, lineage, payload, decision, op_id: opId } of entries) {
    const name = lineage.agent_id;
    const chain = (payload['delegators'] as string[] | undefined) ?? [];
    const below = chain.length === 0 ? [] : [name, ...chain.slice(0, -1)];
    const op = `${name} ${opId}`;
    if (type === 'AgentDelegated') {
      const known = payload['again'] === true ? live.get(name) : undefined;
      live.set(name, {
        checks: known?.checks ?? 0,
        settled: known?.settled ?? 0,
        expiresAt: Date.parse(payload['expires_at'] as string),
        maxChecks: Number(payload['max_checks']),
        maxCost: Math.round(Number(payload['max_cost_usd']) * 1_000_000),
      });
    } else if (type === 'DelegationEnded') {
      expect(payload['checks']).toBe(live.get(name)?.checks);
      live.delete(name);
    } else if (type === 'AgentSuspended') suspended.add(name);
    else if (type === 'AgentResumed') suspended.delete(name);
    // What a delegate is refused before policy counts, too.
    if (decision !== null && (opId !== null || chain.length > 0) && payload['replay'] !== true) {
      const fits = below.every((each) => (live.get(each)?.checks ?? 0) < (live.get(each)?.maxChecks ?? 0));
      for (const each of below) {
        const counted = live.get(each);
        // It would have been refused before anything was counted.
        expect(counted, `${name} acts by the delegation of ${each}, which has ended`).toBeDefined();
        if (counted !== undefined && fits) counted.checks++;
      }
      if (decision === 'allow') {
        expect(fits).toBe(true);
        expect([name, ...chain].some((each) => suspended.has(each))).toBe(false);
        for (const each of below) expect(Date.parse(at)).toBeLessThan(live.get(each)?.expiresAt ?? 0);
        reserved.set(op, { cost: Number(payload['cost_micros']), chain: below });
      }
    }
    if (type === 'OpStateChanged' && (payload['trigger'] === 'complete' || payload['trigger'] === 'terminate')) {
      const known = reserved.get(op);
      reserved.delete(op);
      const cost = payload['trigger'] === 'complete' ? Number(payload['cost_micros']) : 0;
      for (const each of known?.chain ?? []) {
        const counted = live.get(each);
        if (counted !== undefined) counted.settled += cost;
      }
    }
    if (decision !== 'allow' || payload['replay'] === true) continue;
    for (const [each, { settled, maxCost }] of live) {
      const inFlight = [...reserved.values()].filter(({ chain: of }) => of.includes(each));
      const held = inFlight.reduce((sum, { cost }) => sum + cost, 0);
      // Only what is charged now is held against it: an action may have cost more than it was to.
      if (held > 0 && below.includes(each) && Number(payload['cost_micros']) > 0) {
        expect(settled + held, each).toBeLessThanOrEqual(maxCost);
      }
    }
  }
}

const kinds = [...Array.from({ length: 24 }, () => 'check'), ...Array.from({ length: 8 }, () => 'complete')];
const rare = ['delegate', 'delegate', 'revoke', 'suspend', 'resume', 'resume', 'resume', 'sweep'];
const moves = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      at: fc.nat(2),
      agent: fc.nat(names.length - 1),
      op: fc.nat(12),
      cost: fc.nat(4),
      kind: fc.constantFrom(...kinds, ...rare),
    }),
  },
  { weight: 3, arbitrary: fc.record({ turn: fc.nat(2) }) },
  { weight: 3, arbitrary: fc.record({ work: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ follow: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ wait: fc.constantFrom(0, 0, 1000, 30_000) }) },
);

describe('at two gateways at once', () => {
  async function chained(middle: Partial<DelegateRequest> = {}) {
    const world = await twoGateways('name: all\ndefault: allow\n');
    const { one, two, settled } = world;
    const root = await world.register('acme/red/boss');
    const child = async (by: TestAgent, name: string, members: Partial<DelegateRequest> = {}): Promise<TestAgent> => {
      const { agentId: id, token } = await settled(delegateAgent(one.gov, by, name, members));
      return { id, token };
    };
    const between = await child(root, 'middle', middle);
    const leaves = [await child(between, 'left'), await child(between, 'right')] as const;
    await world.follow();
    const checkAt = ({ gov }: TestGovernance, { id, token }: TestAgent, cost = 0, ids = {}) =>
      checkAction(gov, checkOf({ agentId: id, token, estimatedCostMicros: cost, ...ids }));
    const bothAt = async (first: Promise<Answer>, second: Promise<Answer>) => {
      await world.settle();
      return (await Promise.all([first, second])).map(({ decision }) => decision).sort();
    };
    return { ...world, root, between, leaves, checkAt, bothAt, one, two };
  }

  test('two delegates of one never pass the number of its checks', async () => {
    const { one, two, leaves, checkAt, bothAt } = await chained({ maxChecks: 1 });
    expect(await bothAt(checkAt(one, leaves[0]), checkAt(two, leaves[1]))).toEqual(['allow', 'deny']);
  });

  test('two delegates of one never pass what it may cost', async () => {
    const { one, two, leaves, checkAt, bothAt } = await chained({ maxCostMicros: 5 });
    expect(await bothAt(checkAt(one, leaves[0], 3), checkAt(two, leaves[1], 3))).toEqual(['allow', 'deny']);
  });

  test('no more agents act below a delegation than it says, whoever of them delegates where', async () => {
    const { one, two, between, leaves, settle } = await chained({ maxDelegates: 3 });
    const heard = ({ code }: ReeveError) => code;
    const [first, second] = [
      delegateAgent(one.gov, leaves[0], 'below-left').then(() => 'delegated', heard),
      delegateAgent(two.gov, between, 'third').then(() => 'delegated', heard),
    ];
    await settle();
    expect((await Promise.all([first, second])).sort()).toEqual(['delegated', 'too_many_agents']);
  });

  test('nothing is allowed by what another gateway has settled meanwhile', async () => {
    const { one, two, leaves, checkAt, bothAt, settled, settle } = await chained({ maxCostMicros: 5 });
    const { opId } = await settled(checkAt(one, leaves[0], 1));
    await settle();
    const { id, token } = leaves[0];
    const completion = { actualCostMicros: 4, outcome: 'succeeded', detail: '' } as const;
    const completing = completeAction(one.gov, { agentId: id, token, opId, ...completion });
    const checking = checkAt(two, leaves[1], 3);
    await settled(completing);
    expect((await checking).decision).toBe('deny');
    expect(await bothAt(checkAt(one, leaves[0], 1), checkAt(two, leaves[1], 1))).toEqual(['allow', 'deny']);
  });

  test('nothing is denied by what another gateway has released meanwhile', async () => {
    const { one, two, leaves, checkAt, settled, follow } = await chained({ maxCostMicros: 5 });
    const { opId } = await settled(checkAt(one, leaves[0], 3));
    await follow();
    const { id, token } = leaves[0];
    const completion = { actualCostMicros: 0, outcome: 'failed', detail: '' } as const;
    await settled(completeAction(one.gov, { agentId: id, token, opId, ...completion }), [one]);
    expect(await settled(checkAt(two, leaves[1], 3))).toMatchObject({ decision: 'allow' });
  });

  test('nothing is denied by an operation that another gateway has terminated meanwhile', async () => {
    const { one, two, leaves, checkAt, settled, follow } = await chained({ maxCostMicros: 5 });
    const { opId } = await settled(checkAt(one, leaves[0], 3));
    await follow();
    const op = one.gov.ops.get(one.known(leaves[0].id), opId);
    await settled(controlOp(one.gov, operator, op, 'terminate', ''), [one]);
    expect(await settled(checkAt(two, leaves[1], 3))).toMatchObject({ decision: 'allow' });
  });

  test('nothing begins once a delegator is suspended, a repeated check included', async () => {
    const { one, two, root, leaves, checkAt, settled, settle } = await chained();
    const again = { traceId: 't', spanId: 's' };
    await settled(checkAt(one, leaves[0], 0, again));
    await settle();
    const suspending = suspendAgent(one.gov, operator, root.id, '');
    one.turn();
    const checks = [checkAt(two, leaves[0]), checkAt(two, leaves[1], 0, again), checkAt(two, leaves[0], 0, again)];
    await settled(suspending);
    for (const check of checks) expect(await check).toMatchObject({ decision: 'deny' });
    expect((await one.audit()).filter(({ decision }) => decision === 'allow')).toHaveLength(1);
  });

  test('a delegation and the suspension of whoever delegates come one after the other', async () => {
    const { one, two, between, settled } = await chained();
    const suspending = suspendAgent(one.gov, operator, between.id, '');
    one.turn();
    const delegating = delegateAgent(two.gov, between, 'late').then(
      () => 'delegated',
      ({ code }: ReeveError) => code,
    );
    await settled(suspending);
    expect(await delegating).toBe('suspended');
    expect(one.gov.directory.find(agentId('acme/red/late'))).toBeUndefined();
  });

  test('a token that was replaced at one stops at the other', async () => {
    const { one, two, between, leaves, checkAt, settled } = await chained();
    const replacing = delegateAgent(one.gov, between, 'left');
    one.turn();
    const checking = checkAt(two, leaves[0]);
    await settled(replacing);
    expect(await checking).toMatchObject({ decision: 'deny', reason: 'credential token mismatch' });
  });
});

test('a delegation bounds what happens by it at all gateways, at every entry of the log', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(moves, { minLength: 60, maxLength: 160, size: 'max' }), async (plan) => {
      const cluster = new Cluster(policy);
      await cluster.start(3);
      const tokens: Tokens = new Map([['boss', boss]]);
      const begin = async (work: Promise<unknown>) => {
        await cluster.settle();
        await work;
      };
      await begin(registerAgent(cluster.at(0).gov, operator, registration(boss.id, { token: boss.token })));
      for (const agent of [1, 2, 3]) {
        await begin(deed(cluster.at(agent), tokens, { at: 0, agent, op: 0, cost: 0, kind: 'delegate' }));
      }
      const answers: Promise<unknown>[] = [];
      for (const move of plan) {
        if ('turn' in move) cluster.at(move.turn).turn();
        else if ('work' in move) cluster.log.work(Math.min(move.work, Math.max(0, cluster.log.waiting - 1)));
        else if ('follow' in move) cluster.at(move.follow).gov.journal.followReady();
        else if ('wait' in move) cluster.clock.advance(move.wait);
        else answers.push(deed(cluster.at(move.at), tokens, move));
        await ticks();
      }
      await cluster.settle();
      await Promise.all(answers);
      await cluster.settle();
      requireBounds(await cluster.at(0).audit());
      const { delegations } = await cluster.at(0).store.load();
      const byName = (a: { id: { agentId: string } }, b: { id: { agentId: string } }) =>
        a.id.agentId < b.id.agentId ? -1 : 1;
      const balances = ({ gov }: TestGovernance) =>
        names.map((agent) => gov.ledger.read({ tier: 'agent', ...boss.id, agentId: agent }));
      const restarted = await cluster.restart(2);
      for (const member of [cluster.at(0), cluster.at(1), restarted]) {
        expect([...member.gov.directory.delegations.all].sort(byName)).toEqual(delegations.toSorted(byName));
        expect(balances(member).map(({ reserved, spent }) => [reserved, spent])).toEqual(
          balances(cluster.at(0)).map(({ reserved, spent }) => [reserved, spent]),
        );
      }
    }),
    { numRuns: 60 },
  );
});

test('a gateway that could not read all of a delegate leaves its delegation to others', async () => {
  const { one, two, clock, settled, register, follow } = await twoGateways(policy);
  const delegator = await register('acme/red/boss');
  const granted = await settled(delegateAgent(one.gov, delegator, 'one', { ttlSecs: 10 }));
  await follow();
  two.gov.directory.outOfService.add({ agents: ['acme/red/one'], orgs: [], everything: false });
  const revoking = revokeDelegation(two.gov, delegator, 'one').then(() => 'revoked', String);
  expect(await settled(revoking)).toContain('out of service');
  clock.advance(11_000);
  const lapsed = ({ gov }: TestGovernance) => settled(gov.journal.turn(ownWork, () => endLapsedDelegations(gov, 10)));
  expect([await lapsed(two), await lapsed(one)]).toEqual([0, 1]);
  expect(one.gov.directory.delegations.find(agentKey(granted.agentId))?.endedAt).not.toBeNull();
});

test('a gateway that could not read all of a delegate counts no check for it that it refuses below', async () => {
  const { one, two, settled, register, follow } = await twoGateways(policy);
  const delegator = await register('acme/red/boss');
  const { agentId: id, token } = await settled(delegateAgent(one.gov, delegator, 'one', { maxChecks: 5 }));
  const below = await settled(delegateAgent(one.gov, { id, token }, 'two', {}));
  await follow();
  two.gov.directory.outOfService.add({ agents: ['acme/red/one'], orgs: [], everything: false });
  const refused = checkOf({ agentId: below.agentId, token: below.token, traceId: 'b', spanId: 's' });
  expect(await settled(checkAction(two.gov, refused))).toMatchObject({ decision: 'deny', policyRule: 'identity' });
  await follow();
  const used = ({ gov }: TestGovernance) => gov.directory.delegations.find(agentKey(id))?.checks;
  expect([used(one), used(two)]).toEqual([0, 0]);
  expect((await one.audit()).at(-1)?.payload).not.toHaveProperty('delegators');
});
