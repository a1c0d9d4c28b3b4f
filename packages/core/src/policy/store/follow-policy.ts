import type { Governance } from '../../governance.ts';
import type { PolicyProblem } from '../document.ts';
import { rejectPolicies } from '../load-policies.ts';
import { parseScope } from '../parse-scope.ts';
import { putInForce } from '../put-in-force.ts';
import { problemsWith } from './policy-library.ts';
import type { PolicyVersion } from './policy-version.ts';

/**
 * Takes over what another gateway on the same store has made durable of a stored document. Its entry is there already.
 * Where it cannot be in force together with the files of this gateway, what was in force here stays so.
 */
export async function followPolicy(gov: Governance, version: PolicyVersion): Promise<void> {
  if (gov.library.reader !== undefined) await gov.library.prepare([version], null);
  const problems = followPolicies(gov, [version]);
  if (problems.length > 0) await rejectPolicies(gov, problems);
  await gov.journal.committed();
  gov.library.changed(problems);
}

/** The same of several, as far as they are news; returns what keeps them from being in force. */
export function followPolicies(gov: Governance, versions: readonly PolicyVersion[]): readonly PolicyProblem[] {
  const { library } = gov;
  const news = versions.filter(({ name, version }) => version > (library.newest(name)?.version ?? 0));
  if (news.length === 0) return [];
  const names = new Set(news.map(({ name }) => name));
  const waiting = library.waiting.filter(({ name }) => !names.has(name));
  const sources = { ...library.sources, stored: library.with([...waiting, ...news]) };
  const problems = problemsWith(sources);
  if (problems.length > 0) {
    library.waiting = [...waiting, ...news];
    return problems;
  }
  putInForce(gov, sources);
  for (const { name, version, scope, savedAt, source } of news) {
    const document = {
      name,
      version,
      scope: parseScope(scope) ?? { tier: 'global' as const },
      change: changeOf(source),
    };
    gov.journal.publish({ type: 'policy', at: savedAt, version: gov.policies.version, error: null, document });
  }
  return [];
}

function changeOf(source: string | null): 'put' | 'deleted' {
  return source === null ? 'deleted' : 'put';
}
