import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyFact } from '../facts.ts';
import { restoring } from '../journal/meaning.ts';
import type { Delegation, DelegationChange } from '../tenancy/delegation.ts';
import { storedTenancy } from '../tenancy/tenancy-facts.ts';
import { expectInverses } from '../testkit/expect-inverses.ts';
import { agentId } from '../testkit/requests.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import type { TestGovernance } from '../testkit/test-governance.ts';

const names = ['root', 'one', 'two'];

const delegation: fc.Arbitrary<Delegation> = fc.record({
  id: fc.constantFrom('one', 'two').map((name) => agentId(`acme/red/${name}`)),
  by: fc.constantFrom('root', 'one'),
  grantedAt: fc.constant(1),
  expiresAt: fc.constantFrom(5, 10),
  actions: fc.constant([]),
  tools: fc.constant([]),
  maxCostMicros: fc.constantFrom(null, 7),
  maxChecks: fc.constantFrom(null, 3),
  checks: fc.nat(5),
  settledMicros: fc.nat(5),
  endedAt: fc.constantFrom(null, 4),
});
const change: fc.Arbitrary<DelegationChange> = fc.oneof(
  fc.record({ kind: fc.constantFrom('delegation_saved' as const, 'delegation_used' as const), delegation }),
  fc.record({ kind: fc.constant('delegation_ended' as const), delegation, reason: fc.constant('over') }),
  fc.record({ kind: fc.constant('delegation_removed' as const), id: delegation.map(({ id }) => id) }),
);

function picture({ gov: { directory } }: TestGovernance) {
  const { delegations } = directory;
  const byKey = (a: Delegation, b: Delegation) => (a.id.agentId < b.id.agentId ? -1 : 1);
  return {
    all: [...delegations.all].sort(byKey),
    ended: [...delegations.ended()].sort(byKey),
    under: names.map((name) => [...delegations.under({ key: `acme/red/${name}` as never })].sort()),
  };
}

test('facts of delegations are taken back whole', async () => {
  const g = await testGovernance();
  for (const name of names) await g.register(agentId(`acme/red/${name}`));
  fc.assert(
    fc.property(fc.array(change, { maxLength: 20 }), (facts) => expectInverses(g.gov, facts, () => picture(g))),
  );
});

test('the facts behind the rows leave what is known as it was', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 20 }), async (history) => {
      const [g, restarted] = [await testGovernance(), await testGovernance()];
      for (const fact of history) applyFact(g.gov, fact, restoring);
      const delegations = [...g.gov.directory.delegations.all];
      const stored = storedTenancy({ agents: [], agentUses: [], suspensions: [], delegations });
      for (const fact of stored) applyFact(restarted.gov, fact, restoring);
      expect(picture(restarted)).toEqual(picture(g));
    }),
    { numRuns: 50 },
  );
});
