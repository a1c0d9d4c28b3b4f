import type { Principal } from '../../access/principal.ts';
import { requireScope } from '../../access/principal.ts';
import type { Governance } from '../../governance.ts';
import { isId } from '../../tenancy/agent-id.ts';
import type { PolicyProblem } from '../document.ts';
import type { ParsedSource } from '../parse-policy.ts';
import { problemsOf } from '../parse-policy.ts';
import { parseSource } from '../parse-source.ts';
import { mayReachScope } from '../scope-reach.ts';
import { whyTaken } from './find-policy.ts';
import { inOrder } from './policy-library.ts';
import { outsideTenant } from './store-version.ts';

/** How problems name a text that is not to be stored under a name. */
const unnamed = 'source';

/**
 * What is wrong with a text, by itself and together with the documents in force. With a name it is looked at as if it
 * was put under it; without, as if its documents took the place of those of the same names.
 */
export function validatePolicy(
  gov: Pick<Governance, 'library'>,
  by: Principal,
  { source, name }: { readonly source: string; readonly name?: string | undefined },
): readonly PolicyProblem[] {
  requireScope(by, 'read');
  const file = name ?? unnamed;
  const start = { file, line: 1, column: 1 };
  if (name !== undefined && !isId(name)) {
    return [{ ...start, message: 'a name is 1 to 128 letters, digits, ".", "_" or "-"' }];
  }
  const taken = name === undefined ? undefined : whyTaken(gov, by, name);
  if (taken !== undefined) return [{ ...start, message: taken }];
  const parsed = parseSource({ file, text: source, ...(name === undefined ? {} : { name }) }, gov.library.features);
  const outside = parsed.documents.filter(({ document }) => !mayReachScope(by, document.scope));
  if (outside.length > 0) {
    return [...parsed.problems, ...outside.map(({ namedAt }) => ({ ...namedAt, message: outsideTenant(by) }))];
  }
  // What is wrong with it by itself comes first, as at a put.
  if (parsed.problems.length > 0) return parsed.problems;
  return problemsOf([...without(inOrder(gov.library.sources), parsed), parsed]);
}

/** What is in force but for the documents that the candidate has, too. */
function without(sources: readonly ParsedSource[], candidate: ParsedSource): ParsedSource[] {
  const names = new Set(candidate.documents.map(({ document }) => document.name));
  return sources.map((source) => ({
    ...source,
    documents: source.documents.filter(({ document }) => !names.has(document.name)),
  }));
}
