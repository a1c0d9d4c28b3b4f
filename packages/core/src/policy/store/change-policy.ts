import { widthOf, requireScope } from '../../access/index.ts';
import type { Principal } from '../../access/index.ts';
import type { Warrant } from '../../journal/index.ts';
import { ReeveError } from '../../kernel/index.ts';
import type { PolicyProblem } from '../document.ts';
import { parseScope, namespaceOf, mayReachScope } from '../document.ts';
import type { ParsedSource } from '../parse-source.ts';
import { problemsOf } from '../parse-policies.ts';
import { parseSource } from '../parse-source.ts';
import type { Policies } from '../policies.ts';
import {
  findPolicy,
  nameMeant,
  requireName,
  mayReachVersion,
  requireChange,
  findStored,
  whyTaken,
} from './find-policies.ts';
import type { PlacedPolicy } from './policy-registry.ts';
import { storeVersion, widthAfter, saveVersion, outsideTenant } from './store-version.ts';
import { tenantProblems } from './tenant-bounds.ts';

/**
 * Runs a change of stored documents on the newest state that gateways on the same store have made, and returns once it
 * is durable. The change itself never waits.
 */
export async function changePolicies<Result>(gov: Policies, by: Warrant, change: () => Result): Promise<Result> {
  return await gov.policyRegistry.store.alone(async () => {
    await gov.journal.catchUp();
    return await gov.journal.turn(by, change);
  });
}

export interface PutPolicy {
  readonly name: string;
  readonly source: string;
  readonly note: string;
  /** The version that was edited, 0 for none. If another one is in force, nothing changes. */
  readonly baseVersion?: number | undefined;
}

/** Stores a document as its next version and puts it in force at once. */
export async function putPolicy(gov: Policies, by: Principal, put: PutPolicy): Promise<PlacedPolicy> {
  requireScope(by, 'admin');
  const { source, note, baseVersion } = put;
  // Another gateway may have stored newer versions. Permission is checked once those are known.
  const meant = nameMeant(gov, by, put.name);
  await gov.policyRegistry.prepare([{ name: meant, source, width: widthAfter(gov, by, meant) }], by);
  return await changePolicies(gov, gov.callers.warrantOf(by), () => {
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

/** Takes a stored document out of force, even if a file of the same name has set it aside. Its versions stay. */
export async function deletePolicy(gov: Policies, by: Principal, given: string): Promise<void> {
  requireScope(by, 'admin');
  await changePolicies(gov, gov.callers.warrantOf(by), () => {
    const name = nameMeant(gov, by, given);
    const stored = gov.policyRegistry.newest(name);
    if (stored === undefined || stored.source === null || !mayReachVersion(by, stored)) {
      findPolicy(gov, by, name);
      requireName(gov, by, name);
      return;
    }
    requireChange(by, stored);
    const scope = parseScope(stored.scope) ?? { tier: 'global' };
    saveVersion(gov, by, { name, source: null, note: '' }, scope, 'deleted');
  });
}

export interface Rollback {
  readonly name: string;
  readonly version: number;
  readonly note: string;
}

/** Puts an earlier version in force again, as a new version. */
export async function rollbackPolicy(gov: Policies, by: Principal, rollback: Rollback): Promise<PlacedPolicy> {
  requireScope(by, 'admin');
  const { version, note } = rollback;
  const name = nameMeant(gov, by, rollback.name);
  const found = (await gov.policyRegistry.store.versions(name, [version]))[0];
  findStored(gov, by, name);
  if (found !== undefined && mayReachVersion(by, found)) {
    await gov.policyRegistry.prepare([{ ...found, width: widthAfter(gov, by, name) }], by);
  }
  return await changePolicies(gov, gov.callers.warrantOf(by), () => {
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

/** The name in problems for a text without one. */
const unnamed = 'source';

/**
 * The problems of a text, by itself and together with the documents in force. With a name, it is checked as if stored
 * under it. Without, its documents replace those of the same names.
 */
export function validatePolicy(
  gov: Pick<Policies, 'policyRegistry'>,
  by: Principal,
  { source, name }: { readonly source: string; readonly name?: string | undefined },
): readonly PolicyProblem[] {
  requireScope(by, 'read');
  const stored = name === undefined ? undefined : nameMeant(gov, by, name);
  const file = stored ?? unnamed;
  const taken = stored === undefined ? undefined : whyTaken(gov, by, stored);
  if (taken !== undefined) return [{ file, line: 1, column: 1, message: taken.message }];
  const author = widthOf(by);
  const named = stored === undefined ? { namespace: namespaceOf(by) } : { name: stored };
  const parsed = parseSource({ file, text: source, author, ...named }, gov.policyRegistry.features);
  const outside = parsed.documents.filter(({ document }) => !mayReachScope(by, document.scope));
  if (outside.length > 0) {
    return [...parsed.problems, ...outside.map(({ namedAt }) => ({ ...namedAt, message: outsideTenant(by) }))];
  }
  // Its own problems come first, as when it is put.
  if (parsed.problems.length > 0) return parsed.problems;
  return [
    ...problemsOf([...without(gov.policyRegistry.inForce.sources, parsed), parsed]),
    ...tenantProblems(gov, by, parsed),
  ];
}

/** The sources in force, without the documents that the candidate replaces. */
function without(sources: readonly ParsedSource[], candidate: ParsedSource): ParsedSource[] {
  const names = new Set(candidate.documents.map(({ document }) => document.name));
  return sources.map((source) => ({
    ...source,
    documents: source.documents.filter(({ document }) => !names.has(document.name)),
  }));
}
