import type { Principal } from '../../access/principal.ts';
import { requireScope } from '../../access/principal.ts';
import type { Policies } from '../policies.ts';
import { mayReachScope } from '../policy-scope.ts';
import { findStored, mayReachVersion } from './find-policy.ts';
import type { PlacedPolicy } from './policy-registry.ts';
import type { StoredVersion } from './policy-version.ts';

/** The documents in force that the caller may see, by name; of one org, where one is asked for. */
export function listPolicies(gov: Policies, by: Principal, orgId?: string): readonly PlacedPolicy[] {
  requireScope(by, 'read');
  return gov.policyRegistry.all().filter(({ document: { scope } }) => {
    if (orgId !== undefined && (scope.tier === 'global' || scope.orgId !== orgId)) return false;
    return mayReachScope(by, scope);
  });
}

export interface VersionPage {
  /** The newest first. */
  readonly versions: readonly StoredVersion[];
  /** The oldest version of this page, where there are older ones. */
  readonly next: number | null;
  readonly total: number;
  /** The version in force; null where the document was taken away. */
  readonly current: number | null;
}

/** A page ends early when it has become this long: texts may be large. */
const mostCharacters = 4 * 1024 * 1024;
const readAtOnce = 8;

/** Versions of a stored document before `before`, as far as the caller may see them. */
export async function policyVersions(
  gov: Policies,
  by: Principal,
  given: string,
  page: { readonly before?: number | undefined; readonly limit: number },
): Promise<VersionPage> {
  requireScope(by, 'read');
  const newest = findStored(gov, by, given);
  const { store } = gov.policyRegistry;
  const { name } = newest;
  const visible = (await store.outline(name)).filter((each) => mayReachVersion(by, each));
  const asked = visible.map(({ version }) => version).filter((version) => version < (page.before ?? Infinity));
  const versions: StoredVersion[] = [];
  let characters = 0;
  while (versions.length < Math.min(page.limit, asked.length) && characters < mostCharacters) {
    const wanted = asked.slice(versions.length, Math.min(versions.length + readAtOnce, page.limit));
    const read = await store.versions(name, wanted);
    if (read.length === 0) break;
    versions.push(...read);
    for (const { source } of read) characters += source?.length ?? 0;
  }
  const goesOn = versions.length < asked.length;
  return {
    versions,
    next: goesOn ? (versions.at(-1)?.version ?? null) : null,
    total: visible.length,
    current: newest.source === null ? null : newest.version,
  };
}
