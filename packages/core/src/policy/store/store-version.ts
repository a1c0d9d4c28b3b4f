import type { Width, Principal } from '../../access/index.ts';
import { widest, widthOf } from '../../access/index.ts';
import { canonicalJson, draftOf, noLineage, redactText } from '../../audit/index.ts';
import { ReeveError } from '../../kernel/index.ts';
import type { PolicyProblem, PolicyScope } from '../document.ts';
import { describeProblem, bindingOfName, describeScope, mayReachScope } from '../document.ts';
import { rememberSet } from '../load-policies.ts';
import { problemsOf } from '../parse-policies.ts';
import type { Policies } from '../policies.ts';
import type { PolicyChange } from '../policy-slice.ts';
import { requireName } from './find-policies.ts';
import { inForce } from './in-force.ts';
import type { PolicyVersion, StoredVersion } from './policy-version.ts';
import { tenantProblems } from './tenant-bounds.ts';
import { withWriter } from './writers-from-before.ts';

export interface NewVersion {
  readonly name: string;
  readonly source: string;
  readonly note: string;
  readonly change: PolicyChange;
}

/** Stores a text as the next version of a document and puts it in force, or throws why it cannot. */
export function storeVersion(gov: Policies, by: Principal, { name, source, note, change }: NewVersion): void {
  requireName(gov, by, name);
  const { policyRegistry } = gov;
  const parsed = policyRegistry.parse({ name, source, width: widthAfter(gov, by, name) });
  const document = parsed?.documents[0];
  if (parsed === undefined || document === undefined || parsed.problems.length > 0) {
    throw invalidPolicy(parsed?.problems);
  }
  const { scope } = document.document;
  requireOwnScope(by, scope);
  if (!mayReachScope(bindingOfName(name) ?? by, scope)) {
    throw invalidPolicy([{ ...document.namedAt, message: `"${name}" is a name for documents of that tenant` }]);
  }
  const stored = new Map(policyRegistry.sources.stored);
  stored.delete(name);
  const problems = [
    ...problemsOf([...inForce({ ...policyRegistry.sources, stored }).sources, parsed]),
    ...tenantProblems(gov, by, parsed),
  ];
  if (problems.length > 0) throw invalidPolicy(problems);
  saveVersion(gov, by, { name, source, note: redactText(note) }, scope, change);
}

/** Makes the next version of a document, puts the result in force and records who did it. */
export function saveVersion(
  gov: Policies,
  by: Principal,
  saving: Pick<PolicyVersion, 'name' | 'source' | 'note'>,
  scope: PolicyScope,
  change: PolicyChange,
): void {
  const at = gov.clock.now();
  const { policyRegistry } = gov;
  // The newest version may be one that this gateway could not read, and would write over.
  gov.directory.outOfService.refuseOrg(bindingOfName(saving.name)?.orgId ?? null);
  const version = (policyRegistry.newest(saving.name)?.version ?? 0) + 1;
  const saved: PolicyVersion = {
    ...saving,
    version,
    scope: describeScope(scope),
    savedAt: at,
    savedBy: by.actor,
    width: widthAfter(gov, by, saving.name),
  };
  const before = gov.policies.version;
  gov.journal.apply({ kind: 'policy_saved', saved });
  rememberSet(gov, before);
  const { name, note } = saved;
  const request = by.requestId === undefined ? {} : { request_id: by.requestId };
  gov.journal.record(
    draftOf({
      at,
      eventType: 'PolicyReloaded',
      actor: by.actor,
      lineage: { ...noLineage, ...ownerOf(scope) },
      policyVersion: gov.policies.version,
      payload: canonicalJson({
        ...request,
        ...(note === '' ? {} : { note }),
        change,
        name,
        previous_version: before,
        scope: saved.scope,
        version,
      }),
    }),
  );
  const document = { name, version, scope, change };
  gov.journal.apply({ type: 'policy', at, version: gov.policies.version, error: null, document });
}

/** The widest credential among the document's writers, including this caller. */
export function widthAfter({ policyRegistry }: Pick<Policies, 'policyRegistry'>, by: Principal, name: string): Width {
  const own = widthOf(by);
  return widest(policyRegistry.newest(name)?.width ?? own, own);
}

/** The tenant that the change is recorded under: an agent's document is its team's business. */
function ownerOf(scope: PolicyScope): { readonly org_id: string | null; readonly team_id: string } {
  if (scope.tier === 'global') return { org_id: null, team_id: '' };
  return { org_id: scope.orgId, team_id: scope.tier === 'org' ? '' : scope.teamId };
}

export function requireOwnScope(by: Principal, scope: PolicyScope): void {
  if (mayReachScope(by, scope)) return;
  throw new ReeveError('tenant_bound', outsideTenant(by));
}

/** What a bound credential may put, for messages. */
export function outsideTenant({ orgId, teamId }: Principal): string {
  const own = teamId === null ? `org:${orgId}` : `team:${orgId}/${teamId}`;
  return `this credential puts documents of its own tenant only: their scope is "${own}" or lies within it`;
}

const mostProblems = 100;

function invalidPolicy(problems: readonly PolicyProblem[] = []): ReeveError {
  const [first] = problems;
  const more = problems.length > 1 ? `, and ${problems.length - 1} more` : '';
  const message = first === undefined ? 'the policy has errors' : `${describeProblem(first)}${more}`;
  const errors = problems.slice(0, mostProblems).map(({ file, line, column, message: said }) => ({
    file,
    line,
    column,
    message: said,
  }));
  return new ReeveError('policy_invalid', message, { errors });
}

/** Parses a version of another gateway ahead, so that following it takes no time. Undefined if there is nothing to do. */
export function preparePolicies(gov: Policies, versions: readonly StoredVersion[]): Promise<void> | undefined {
  const { policyRegistry } = gov;
  if (policyRegistry.reader === undefined || versions.length === 0) return undefined;
  const stored = versions.map((each) => withWriter(gov, each));
  // If that takes too long, following takes the time.
  return policyRegistry.prepare(stored, null).catch(() => undefined);
}
