import { mayChangeDocument } from '../../access/authority.ts';
import type { Principal } from '../../access/principal.ts';
import { redactText } from '../../audit/redact.ts';
import type { Policies } from '../policies.ts';
import { invalid, ReeveError } from '../../kernel/errors.ts';
import { bindingOfName, namespaceOf } from '../document-name.ts';
import { parseScope, mayReachScope } from '../policy-scope.ts';
import type { PlacedPolicy } from './policy-registry.ts';
import type { PolicyVersion } from './policy-version.ts';

/**
 * The whole name of the document that a caller means. A bound one may leave out its namespace: then its own document is
 * meant, else one without a namespace that it may see, as the operator's for its org, else one that is its own to make.
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

/** The newest version of a stored document that the caller may see, whether it is in force or was taken away. */
export function findStored(gov: Pick<Policies, 'policyRegistry'>, by: Principal, given: string): PolicyVersion {
  const stored = gov.policyRegistry.newest(nameMeant(gov, by, given));
  if (stored !== undefined && mayReachVersion(by, stored)) return stored;
  throw policyNotFound(given);
}

export function mayReachVersion(by: Principal, { scope }: Pick<PolicyVersion, 'scope'>): boolean {
  const parsed = parseScope(scope);
  return parsed !== undefined && mayReachScope(by, parsed);
}

/** Refuses a whole name that the caller cannot store a document under. */
export function requireName(gov: Pick<Policies, 'policyRegistry'>, by: Principal, name: string): void {
  const refusal = whyTaken(gov, by, name);
  if (refusal !== undefined) throw refusal;
}

/** Why no document can be stored under this name; undefined where one can. */
export function whyTaken(gov: Pick<Policies, 'policyRegistry'>, by: Principal, name: string): ReeveError | undefined {
  const binding = bindingOfName(name);
  if (binding === undefined) {
    return invalid('name', 'must be 1 to 128 letters, digits, ".", "_" or "-", starting with a letter or digit');
  }
  const placed = gov.policyRegistry.find(name);
  const stored = gov.policyRegistry.newest(name);
  if (placed === undefined && stored === undefined) {
    return namespaceOf(binding) === namespaceOf(by) ? undefined : elsewhere(by);
  }
  if (stored !== undefined && !mayReachVersion(by, stored)) return elsewhere(by);
  if (placed === undefined || placed.file === null) return stored === undefined ? undefined : whyImposed(by, stored);
  const why = `the document "${name}" stands in a file of the gateway, where alone it can be changed`;
  return new ReeveError('policy_in_file', why);
}

/** Documents are made in the namespace of their author. A wider credential changes those of narrower ones, by the whole name. */
function elsewhere(by: Principal): ReeveError {
  if (by.orgId === null)
    return invalid('name', 'must have no "/", which stands in names of documents that tenants made');
  return new ReeveError(
    'tenant_bound',
    `this credential makes documents whose names begin with "${namespaceOf(by)}" only`,
  );
}

/** What a wider credential has written, also once and long ago, a narrower one does not change. */
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
