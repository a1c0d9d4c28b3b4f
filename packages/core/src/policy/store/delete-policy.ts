import type { Principal } from '../../access/principal.ts';
import { requireScope } from '../../access/principal.ts';
import type { Policies } from '../policies.ts';
import { parseScope } from '../policy-scope.ts';
import { changePolicies } from './change-policies.ts';
import { findPolicy, mayReachVersion, nameMeant, requireChange, requireName } from './find-policy.ts';
import { saveVersion } from './store-version.ts';

/** Takes a stored document out of force, also one that a file of the same name has set aside. Its versions stay. */
export async function deletePolicy(gov: Policies, by: Principal, given: string): Promise<void> {
  requireScope(by, 'admin');
  await changePolicies(gov, () => {
    const name = nameMeant(gov, by, given);
    const stored = gov.policyRegistry.newest(name);
    if (stored === undefined || stored.source === null || !mayReachVersion(by, stored)) {
      findPolicy(gov, by, name);
      requireName(gov, by, name);
      return;
    }
    requireChange(by, stored);
    const scope = parseScope(stored.scope) ?? { tier: 'global' };
    saveVersion(gov, by, { name, source: null, note: '' }, scope, 'deleted');
  });
}
