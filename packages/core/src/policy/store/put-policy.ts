import type { Principal } from '../../access/principal.ts';
import { requireScope } from '../../access/principal.ts';
import type { Policies } from '../policies.ts';
import { ReeveError } from '../../kernel/errors.ts';
import { changePolicies } from './change-policies.ts';
import { findPolicy, nameMeant, requireName } from './find-policy.ts';
import type { PlacedPolicy } from './policy-registry.ts';
import { storeVersion, widthAfter } from './store-version.ts';

export interface PutPolicy {
  readonly name: string;
  readonly source: string;
  readonly note: string;
  /** The version that was edited, 0 for none; where another is in force, nothing changes. */
  readonly baseVersion?: number | undefined;
}

/** Stores a document as its next version and puts it in force at once. */
export async function putPolicy(gov: Policies, by: Principal, put: PutPolicy): Promise<PlacedPolicy> {
  requireScope(by, 'admin');
  const { source, note, baseVersion } = put;
  // Another gateway may have stored more than is known here: whether it may be put is asked once that is known.
  const meant = nameMeant(gov, by, put.name);
  await gov.policyRegistry.prepare([{ name: meant, source, width: widthAfter(gov, by, meant) }], by);
  return await changePolicies(gov, () => {
    const name = nameMeant(gov, by, put.name);
    requireName(gov, by, name);
    if (baseVersion !== undefined) requireBase(gov, name, baseVersion);
    storeVersion(gov, by, { name, source, note, change: 'put' });
    return findPolicy(gov, by, name);
  });
}

function requireBase(gov: Policies, name: string, base: number): void {
  const newest = gov.policyRegistry.newest(name);
  const version = newest?.version ?? 0;
  if (base === version || (base === 0 && newest?.source === null)) return;
  const is = version === 0 ? 'there is none' : `version ${version} is the newest`;
  throw new ReeveError('policy_changed', `the edit is based on version ${base} of "${name}", and ${is}`, { version });
}
