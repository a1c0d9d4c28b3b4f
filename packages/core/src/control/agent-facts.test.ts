import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyFact } from '../facts.ts';
import type { NameOf } from '../journal/meaning.ts';
import { restoring } from '../journal/meaning.ts';
import type { AgentRecord } from '../tenancy/agent.ts';
import { unregisteredAgent } from '../tenancy/agent.ts';
import type { AgentUsage } from '../tenancy/agent-coverage.ts';
import type { ScopeSuspension } from '../tenancy/scope-suspensions.ts';
import type { SuspensionChange } from '../tenancy/suspensions-slice.ts';
import { storedTenancy } from '../tenancy/tenancy-facts.ts';
import type { AgentChange, AgentUseChange } from '../tenancy/tenancy-slice.ts';
import { expectInverses } from '../testkit/expect-inverses.ts';
import { agentId, operator } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';

type Change = AgentChange | AgentUseChange | SuspensionChange;

const ids = ['acme/red/one', 'acme/red/two', 'acme/blue/three', 'umbrella/red/four'].map(agentId);
const nth = fc.nat({ max: ids.length - 1 });
const id = nth.map((at) => ids[at] ?? agentId('acme/red/one'));
const width = fc.constantFrom('team' as const, 'org' as const, 'unbound' as const);
const time = fc.integer({ min: 1, max: 9 });
const imposed = fc.record({ at: time, reason: fc.constantFrom('', 'odd'), width });

/** A parent comes before its children, so there are no circles. No token belongs to two agents. */
const agent: fc.Arbitrary<AgentRecord> = fc
  .record({ at: nth, parent: nth, tokenHash: fc.constantFrom('x', 'y'), many: fc.boolean(), registeredAt: time })
  .map(({ at, parent, tokenHash, many, registeredAt }) => {
    const [own = agentId('acme/red/one'), above] = [ids[at], ids[parent]];
    return {
      ...unregisteredAgent(own),
      tokenHash: `${at}${tokenHash}`,
      parent: parent < at && above?.orgId === own.orgId ? above : null,
      toolNames: many ? Array.from({ length: 20 }, (_, tool) => `tool-${tool}`) : [],
      registeredAt,
      registeredWith: [`key_${registeredAt}`],
    };
  });

const use = fc.record({ firstAt: time, lastAt: time });
const usage: fc.Arbitrary<AgentUsage> = fc.record({
  doors: fc.record({ sdk: use.map((times) => ({ ...times, names: [`server-${times.firstAt}`] })) }),
  families: fc.record({ tools: use }, { requiredKeys: [] }),
});

const suspension: fc.Arbitrary<ScopeSuspension> = fc
  .record({ name: fc.constantFrom('a', 'b', 'c'), isLifted: fc.boolean(), since: time, isSettled: fc.boolean() })
  .map(({ name, isLifted, ...rest }) => ({
    ...rest,
    ...(name === 'a' ? { orgId: null, teamId: null } : { orgId: 'acme', teamId: name === 'b' ? null : 'red' }),
    id: `sus_${name}`,
    action: 'pause',
    actor: operator.actor,
    credentialId: operator.credentialId,
    imposedBy: operator,
    reason: '',
    operations: { matched: 0, changed: 0, skipped: 0, controlId: '' },
    lifted: isLifted ? { actor: operator.actor, imposedBy: operator, reason: '', at: 9 } : null,
  }));

/** A missing kind does not compile. */
const changes: { readonly [Kind in NameOf<Change>]: fc.Arbitrary<Omit<Extract<Change, { kind: Kind }>, 'kind'>> } = {
  agent_saved: fc.record({ agent }),
  agent_controlled: fc.record({ id, tokenHash: fc.constantFrom('0x', '1y', '2x', '3y') }),
  agent_suspended: fc.record({ agent, suspension: imposed }),
  agent_resumed: fc.record({ id, width }),
  agent_removed: fc.record({ id, isKept: fc.boolean() }),
  agent_used: fc.record({ use: fc.record({ id, usage }) }),
  agent_uses_removed: fc.record({ id }),
  suspension_saved: fc.record({ suspension }),
  suspension_removed: fc.record({ suspension }),
};
const change = fc.oneof(
  ...Object.entries(changes).map(([kind, members]) => members.map((made) => ({ kind, ...made }) as Change)),
);

async function busy(): Promise<TestGovernance> {
  const test = await testGovernance();
  await test.policies('default: allow');
  const agents: TestAgent[] = [];
  for (const each of ids.slice(1)) agents.push(await test.register(each));
  for (const each of agents) await test.check(each, { traceId: each.id.agentId, spanId: 's' });
  return test;
}

/** All that facts about agents and scopes change, without what was merely heard of an agent. */
function picture({ gov: { directory, ops } }: TestGovernance) {
  const agents = [...directory.all()].map((each) => {
    const { key, record, bytes, lineage, blocked, coverage } = each;
    const waits = directory.used.delete(each);
    if (waits) directory.used.add(each);
    const flying = [...ops.of(each)].map(({ opId, state }) => `${opId} ${state}`).sort();
    const children = [...directory.childrenOf(each)].map((child) => child.key).sort();
    const owner = record.tokenHash === null ? null : directory.ownerOf(record.tokenHash)?.key;
    const hold = directory.suspensions.over(record.id)?.suspension.id;
    return { key, record, bytes, lineage, blocked, usage: coverage?.usage, waits, flying, children, owner, hold };
  });
  const orgs = [...directory.orgs()].map(([name, { tally, teams }]) => ({
    name,
    tally: { ...tally, byDepth: new Map(tally.byDepth) },
    teams: Object.fromEntries([...teams].map(([team, members]) => [team, [...members].map(({ key }) => key).sort()])),
    use: directory.useOf(name),
  }));
  return {
    agents: agents.sort((a, b) => (a.key < b.key ? -1 : 1)),
    orgs: orgs.sort((a, b) => (a.name < b.name ? -1 : 1)),
    running: ops.count('running'),
    suspensions: [...directory.suspensions.all()].sort((a, b) => (a.id < b.id ? -1 : 1)),
  };
}

test('whatever happens to agents and scopes can be taken back, newest first', async () => {
  const test = await busy();
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30, size: 'max' }), (facts) => {
      const before = picture(test);
      expectInverses(test.gov, facts, () => picture(test));
      expect(picture(test)).toEqual(before);
    }),
    { numRuns: 200 },
  );
});

test('a fact that comes twice changes nothing more', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 10, size: 'max' }), change, async (history, last) => {
      // Whoever left and is remembered for its suspension or its stop leaves once.
      fc.pre(last.kind !== 'agent_removed');
      const test = await testGovernance();
      for (const fact of [...history, last]) applyFact(test.gov, fact, restoring);
      const once = picture(test);
      applyFact(test.gov, last, restoring);
      expect(picture(test)).toEqual(once);
    }),
    { numRuns: 100 },
  );
});

test('the facts behind the rows of a store leave what is known as it was', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 30, size: 'max' }), async (history) => {
      const [test, restarted] = [await testGovernance(), await testGovernance()];
      for (const fact of history) applyFact(test.gov, fact, restoring);
      const all = [...test.gov.directory.all()];
      const stored = {
        agents: all.map(({ record }) => record),
        agentUses: all.flatMap(({ record, coverage }) =>
          coverage === null ? [] : [{ id: record.id, usage: coverage.usage }],
        ),
        delegations: [...test.gov.directory.delegations.all],
        suspensions: [...test.gov.directory.suspensions.all()],
      };
      for (const fact of storedTenancy(stored)) applyFact(restarted.gov, fact, restoring);
      expect(picture(restarted)).toEqual(picture(test));
    }),
    { numRuns: 100 },
  );
});
