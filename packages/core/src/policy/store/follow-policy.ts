import type { Policies } from '../policies.ts';
import { rejectPolicies, putInForce } from '../load-policies.ts';
import { parseScope } from '../document.ts';
import { acceptedBefore } from './policy-registry.ts';
import type { StoredVersion } from './policy-version.ts';
import { withWriter } from './writers-from-before.ts';

/**
 * Takes over what another gateway on the same store has made durable of a stored document. Its entry is there already;
 * where it cannot be in force together with the files of this gateway, that is recorded.
 */
export async function followPolicy(gov: Policies, version: StoredVersion): Promise<void> {
  if (gov.policyRegistry.reader !== undefined) await gov.policyRegistry.prepare([withWriter(gov, version)], null);
  followPolicies(gov, [version]);
  const problems = gov.policyRegistry.inForce.setAside.filter(({ name }) => name === version.name);
  if (problems.length > 0) {
    await rejectPolicies(
      gov,
      problems.map(({ problem }) => problem),
    );
  }
  await gov.journal.committed();
  gov.policyRegistry.changed();
}

/** The same of several, as far as they are news. */
export function followPolicies(gov: Policies, versions: readonly StoredVersion[]): void {
  const { policyRegistry } = gov;
  const news = versions.filter(({ name, version }) => version > (policyRegistry.newest(name)?.version ?? 0));
  if (news.length === 0) return;
  const stored = news.map((each) => withWriter(gov, each));
  putInForce(gov, {
    ...policyRegistry.sources,
    stored: policyRegistry.with(stored, acceptedBefore(policyRegistry.features)),
  });
  for (const { name, version, scope, savedAt, source } of news) {
    const document = {
      name,
      version,
      scope: parseScope(scope) ?? { tier: 'global' as const },
      change: changeOf(source),
    };
    gov.journal.publish({ type: 'policy', at: savedAt, version: gov.policies.version, error: null, document });
  }
}

function changeOf(source: string | null): 'put' | 'deleted' {
  return source === null ? 'deleted' : 'put';
}
