import type { Principal } from '../../access/principal.ts';
import { requireScope } from '../../access/principal.ts';
import type { Governance } from '../../governance.ts';
import { changePolicies } from './change-policies.ts';
import { findPolicy, requireName } from './find-policy.ts';
import { saveVersion } from './store-version.ts';

/** Takes a stored document out of force. Its versions stay. */
export async function deletePolicy(gov: Governance, by: Principal, name: string): Promise<void> {
  requireScope(by, 'admin');
  await changePolicies(gov, () => {
    const { document } = findPolicy(gov, by, name);
    requireName(gov, by, name);
    saveVersion(gov, by, { name, source: null, note: '' }, document.scope, 'deleted');
  });
}
