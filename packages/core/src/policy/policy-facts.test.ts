import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { elsewhere, here } from '../testkit/applying.ts';
import { expectInverses } from '../testkit/expect-inverses.ts';
import { operator } from '../testkit/requests.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { policyFacts } from './policy-facts.ts';
import type { PoliciesChange } from './policy-slice.ts';

const saved = (name: string, version: number, source: string | null) =>
  ({
    kind: 'policy_saved',
    saved: {
      name,
      version,
      source,
      scope: 'global',
      savedAt: 7,
      savedBy: operator.actor,
      note: '',
      width: 'unbound',
    },
  }) satisfies PoliciesChange;

test('whatever is stored and taken back leaves the policies in force as they were', async () => {
  const { gov, policies } = await testGovernance();
  await policies('name: file\ndefault: deny');
  const someFact = fc
    .tuple(
      fc.constantFrom('a', 'b', 'file'),
      fc.integer({ min: 1, max: 9 }),
      fc.constantFrom(null, 'default: allow', 'budget: {daily_limit_usd: 3}', 'not a policy'),
    )
    .map((members) => saved(...members));
  const shown = () => ({
    inForce: gov.policies,
    caps: gov.ledger.policy,
    sources: gov.policyRegistry.sources,
    setAside: gov.policyRegistry.inForce.setAside,
  });
  fc.assert(fc.property(fc.array(someFact, { maxLength: 6 }), (facts) => expectInverses(gov, facts, shown)));
});

test('what another gateway has stored meanwhile stays when a document is taken back here', async () => {
  const { gov } = await testGovernance();
  const undo = policyFacts.policy_saved.apply(gov, saved('ours', 1, 'scope: org:acme'), here);
  policyFacts.policy_saved.apply(gov, saved('theirs', 1, 'scope: org:globex'), elsewhere);
  undo();
  expect(gov.policies.documents.map(({ name }) => name)).toEqual(['theirs']);
  expect([gov.policyRegistry.newest('ours'), gov.policyRegistry.newest('theirs')?.version]).toEqual([undefined, 1]);
});
