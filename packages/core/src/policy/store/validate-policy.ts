import { widthOf } from '../../access/authority.ts';
import type { Principal } from '../../access/principal.ts';
import { requireScope } from '../../access/principal.ts';
import type { Policies } from '../policies.ts';
import { namespaceOf, mayReachScope } from '../document.ts';
import type { PolicyProblem } from '../document.ts';
import type { ParsedSource } from '../parse-source.ts';
import { problemsOf } from '../parse-policy.ts';
import { parseSource } from '../parse-source.ts';
import { nameMeant, whyTaken } from './find-policies.ts';
import { outsideTenant } from './store-version.ts';
import { tenantProblems } from './tenant-bounds.ts';

/** How problems name a text that is not to be stored under a name. */
const unnamed = 'source';

/**
 * What is wrong with a text, by itself and together with the documents in force. With a name it is looked at as if it
 * was put under it; without, as if its documents took the place of those of the same names.
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
  // What is wrong with it by itself comes first, as at a put.
  if (parsed.problems.length > 0) return parsed.problems;
  return [
    ...problemsOf([...without(gov.policyRegistry.inForce.sources, parsed), parsed]),
    ...tenantProblems(gov, by, parsed),
  ];
}

/** What is in force but for the documents that the candidate has, too. */
function without(sources: readonly ParsedSource[], candidate: ParsedSource): ParsedSource[] {
  const names = new Set(candidate.documents.map(({ document }) => document.name));
  return sources.map((source) => ({
    ...source,
    documents: source.documents.filter(({ document }) => !names.has(document.name)),
  }));
}
