import type { Principal } from '../../access/principal.ts';
import { requireScope } from '../../access/principal.ts';
import type { Policies } from '../policies.ts';
import { ReeveError } from '../../kernel/errors.ts';
import { changePolicies } from './change-policies.ts';
import { findPolicy, findStored, mayReachVersion, nameMeant } from './find-policy.ts';
import type { PlacedPolicy } from './policy-registry.ts';
import { storeVersion, widthAfter } from './store-version.ts';

export interface Rollback {
  readonly name: string;
  readonly version: number;
  readonly note: string;
}

/** Puts what an earlier version says in force again, as a new version. */
export async function rollbackPolicy(gov: Policies, by: Principal, rollback: Rollback): Promise<PlacedPolicy> {
  requireScope(by, 'admin');
  const { version, note } = rollback;
  const name = nameMeant(gov, by, rollback.name);
  const found = (await gov.policyRegistry.store.versions(name, [version]))[0];
  findStored(gov, by, name);
  if (found !== undefined && mayReachVersion(by, found)) {
    await gov.policyRegistry.prepare([{ ...found, width: widthAfter(gov, by, name) }], by);
  }
  return await changePolicies(gov, () => {
    findStored(gov, by, name);
    if (found === undefined || !mayReachVersion(by, found)) throw versionNotFound(name, version);
    if (found.source === null) {
      throw versionNotFound(name, version, 'it took the document away; delete the document instead');
    }
    const said = note === '' ? `back to version ${version}` : note;
    storeVersion(gov, by, { name, source: found.source, note: said, change: 'rolled_back' });
    return findPolicy(gov, by, name);
  });
}

function versionNotFound(name: string, version: number, why = 'versions are listed under …/versions'): ReeveError {
  return new ReeveError(
    'policy_version_not_found',
    `there is no version ${version} of "${name}" to go back to: ${why}`,
  );
}
