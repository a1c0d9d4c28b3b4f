import type { Principal } from '../../access/principal.ts';
import { redactText } from '../../audit/redact.ts';
import type { Governance } from '../../governance.ts';
import { invalid, ReeveError } from '../../kernel/errors.ts';
import { isId } from '../../tenancy/agent-id.ts';
import { parseScope } from '../parse-scope.ts';
import { mayReachScope } from '../scope-reach.ts';
import type { PlacedPolicy } from './policy-library.ts';
import type { PolicyVersion } from './policy-version.ts';

/** A document in force that the caller may see. */
export function findPolicy(gov: Governance, by: Principal, name: string): PlacedPolicy {
  const found = gov.library.find(name);
  if (found !== undefined && mayReachScope(by, found.document.scope)) return found;
  throw policyNotFound(name);
}

/** The newest version of a stored document that the caller may see, whether it is in force or was taken away. */
export function findStored(gov: Governance, by: Principal, name: string): PolicyVersion {
  const stored = gov.library.sources.stored.get(name)?.saved;
  if (stored !== undefined && mayReachVersion(by, stored)) return stored;
  throw policyNotFound(name);
}

export function mayReachVersion(by: Principal, { scope }: Pick<PolicyVersion, 'scope'>): boolean {
  const parsed = parseScope(scope);
  return parsed !== undefined && mayReachScope(by, parsed);
}

/**
 * Refuses a name that the caller cannot store a document under. Of a document that the caller must not see it says no
 * more than that the name is not to be had.
 */
export function requireName(gov: Governance, by: Principal, name: string): void {
  if (!isId(name)) {
    throw invalid('name', 'must be 1 to 128 letters, digits, ".", "_" or "-", starting with a letter or digit');
  }
  const why = whyTaken(gov, by, name);
  if (why !== undefined) throw new ReeveError('policy_in_file', why);
}

/** Why no document can be stored under this name; undefined where one can. */
export function whyTaken(gov: Pick<Governance, 'library'>, by: Principal, name: string): string | undefined {
  const inForce = gov.library.find(name);
  const stored = gov.library.sources.stored.get(name)?.saved;
  const isVisible =
    (inForce === undefined || mayReachScope(by, inForce.document.scope)) &&
    (stored === undefined || mayReachVersion(by, stored));
  if (!isVisible) return `the name "${name}" is not to be had; choose another`;
  if (inForce?.file === null || inForce === undefined) return undefined;
  return `the document "${name}" stands in a file of the gateway, where alone it can be changed`;
}

function policyNotFound(name: string): ReeveError {
  return new ReeveError('policy_not_found', `there is no policy document "${redactText(name)}"`);
}
