import { mayChangeDocument, requireScope } from '../../access/index.ts';
import type { Principal } from '../../access/index.ts';
import { redactText } from '../../audit/index.ts';
import { invalid, ReeveError } from '../../kernel/index.ts';
import { bindingOfName, namespaceOf, parseScope, mayReachScope } from '../document.ts';
import type { Policies } from '../policies.ts';
import type { PlacedPolicy } from './policy-registry.ts';
import type { PolicyVersion, StoredVersion } from './policy-version.ts';

/**
 * The whole name of the document that a caller means. A bound caller may leave out its namespace. Then the name means
 * its own document, or else a visible one without a namespace, such as the operator's for its org, or else a new one of
 * its own.
 */
export function nameMeant(gov: Pick<Policies, 'policyRegistry'>, by: Principal, given: string): string {
  if (given.includes('/')) return given;
  const own = `${namespaceOf(by)}${given}`;
  const placed = gov.policyRegistry.find(given);
  const stored = gov.policyRegistry.newest(given);
  if (gov.policyRegistry.newest(own) !== undefined || (placed === undefined && stored === undefined)) return own;
  const isVisible =
    (placed === undefined || mayReachScope(by, placed.document.scope)) &&
    (stored === undefined || mayReachVersion(by, stored));
  return isVisible ? given : own;
}

/** A document in force that the caller may see. */
export function findPolicy(gov: Pick<Policies, 'policyRegistry'>, by: Principal, given: string): PlacedPolicy {
  const found = gov.policyRegistry.find(nameMeant(gov, by, given));
  if (found !== undefined && mayReachScope(by, found.document.scope)) return found;
  throw policyNotFound(given);
}

/** The newest version of a stored document that the caller may see, whether it is in force or was deleted. */
export function findStored(gov: Pick<Policies, 'policyRegistry'>, by: Principal, given: string): PolicyVersion {
  const stored = gov.policyRegistry.newest(nameMeant(gov, by, given));
  if (stored !== undefined && mayReachVersion(by, stored)) return stored;
  throw policyNotFound(given);
}

export function mayReachVersion(by: Principal, { scope }: Pick<PolicyVersion, 'scope'>): boolean {
  const parsed = parseScope(scope);
  return parsed !== undefined && mayReachScope(by, parsed);
}

/** Refuses a whole name under which the caller cannot store a document. */
export function requireName(gov: Pick<Policies, 'policyRegistry'>, by: Principal, name: string): void {
  const refusal = whyTaken(gov, by, name);
  if (refusal !== undefined) throw refusal;
}

/** Why no document can be stored under this name; undefined if one can. */
export function whyTaken(gov: Pick<Policies, 'policyRegistry'>, by: Principal, name: string): ReeveError | undefined {
  const binding = bindingOfName(name);
  if (binding === undefined) {
    return invalid('name', 'must be 1 to 128 letters, digits, ".", "_" or "-", starting with a letter or digit');
  }
  const placed = gov.policyRegistry.find(name);
  const stored = gov.policyRegistry.newest(name);
  if (placed === undefined && stored === undefined) {
    return namespaceOf(binding) === namespaceOf(by) ? undefined : elsewhere(by, name);
  }
  if (stored !== undefined && !mayReachVersion(by, stored)) return elsewhere(by, name);
  if (placed === undefined || placed.file === null) return stored === undefined ? undefined : whyImposed(by, stored);
  const why = `the document "${name}" stands in a file of the gateway, where alone it can be changed`;
  return new ReeveError('policy_in_file', why);
}

/**
 * Authors create documents in their own namespace. A wider credential changes those of narrower ones by the whole name.
 */
function elsewhere(by: Principal, name: string): ReeveError {
  if (by.orgId === null) {
    const why = `there is no document "${redactText(name)}" of a tenant; a new one without a tenant has no "/" in its name`;
    return new ReeveError('policy_not_found', why);
  }
  return new ReeveError(
    'tenant_bound',
    `this credential makes documents whose names begin with "${namespaceOf(by)}" only`,
  );
}

/** A narrower credential cannot change what a wider one has ever written. */
export function requireChange(by: Principal, stored: PolicyVersion): void {
  const refusal = whyImposed(by, stored);
  if (refusal !== undefined) throw refusal;
}

function whyImposed(by: Principal, { name, width }: PolicyVersion): ReeveError | undefined {
  if (mayChangeDocument(by, width)) return undefined;
  const writer = width === 'unbound' ? 'the operator' : 'an admin of the whole org';
  return new ReeveError('imposed_by_wider', `${writer} has written "${name}", and this credential reaches less far`);
}

function policyNotFound(name: string): ReeveError {
  return new ReeveError('policy_not_found', `there is no policy document "${redactText(name)}"`);
}

/** The documents in force that the caller may see, by name; of one org, if given. */
export function listPolicies(gov: Policies, by: Principal, orgId?: string): readonly PlacedPolicy[] {
  requireScope(by, 'read');
  return gov.policyRegistry.all().filter(({ document: { scope } }) => {
    if (orgId !== undefined && (scope.tier === 'global' || scope.orgId !== orgId)) return false;
    return mayReachScope(by, scope);
  });
}

export interface VersionPage {
  /** Newest first. */
  readonly versions: readonly StoredVersion[];
  /** The oldest version of this page, if there are older ones. */
  readonly next: number | null;
  readonly total: number;
  /** The version in force; null if the document was deleted. */
  readonly current: number | null;
}

/** A page ends early at this length: texts may be large. */
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
