import type { Principal } from '../../access/index.ts';
import type { Policies } from '../policies.ts';
import { bindingOfName } from '../document.ts';
import type { PolicyProblem } from '../document.ts';
import type { ParsedSource } from '../parse-source.ts';

/** How much memory a tenant's documents take, in every gateway and every thread that evaluates them. */
export interface TenantUse {
  readonly documents: number;
  /** In their texts. */
  readonly characters: number;
  /** From the patterns of their conditions. */
  readonly instructions: number;
}

/**
 * How much all credentials of one org and its teams may store together. Within these bounds, one tenant takes up to 120
 * MB, whatever it writes, and its documents are read in seconds.
 */
export const tenantBounds: TenantUse = { documents: 500, characters: 1024 * 1024, instructions: 200_000 };

const measures = ['documents', 'characters', 'instructions'] as const;

const says: Readonly<Record<(typeof measures)[number], string>> = {
  documents: 'documents; delete some, or put rules together',
  characters: 'characters in their documents; delete some, or write less',
  instructions: 'instructions of patterns in their documents; count fewer repetitions in them, or delete some',
};

/**
 * What exceeds the bounds if a bound caller stores this source in place of the documents of the same names. The
 * operator's documents never count. A tenant that already exceeds the bounds, from before they existed, may store what
 * reduces its use.
 */
export function tenantProblems(
  { policyRegistry }: Pick<Policies, 'policyRegistry'>,
  { orgId }: Principal,
  candidate: ParsedSource,
  bounds: TenantUse = tenantBounds,
): PolicyProblem[] {
  const [first] = candidate.documents;
  if (orgId === null || first === undefined) return [];
  const names = new Set(candidate.documents.map(({ document }) => document.name));
  const stored = [...policyRegistry.sources.stored.values()].filter(
    ({ saved: { name, width } }) => width !== 'unbound' && bindingOfName(name)?.orgId === orgId,
  );
  const before = useOf(stored.map(({ parsed }) => parsed));
  const others = useOf(stored.map(({ saved, parsed }) => (names.has(saved.name) ? undefined : parsed)));
  const more = { ...useOf([candidate]), documents: candidate.documents.length };
  return measures
    .filter((measure) => {
      const after = others[measure] + more[measure];
      return after > bounds[measure] && after > before[measure];
    })
    .map((measure) => ({
      ...first.namedAt,
      message: `credentials of the org "${orgId}" store at most ${bounds[measure]} ${says[measure]}`,
    }));
}

/** For sources with one document each, as stored ones are. */
function useOf(sources: readonly (ParsedSource | undefined)[]): TenantUse {
  const use = { documents: 0, characters: 0, instructions: 0 };
  for (const parsed of sources) {
    if (parsed === undefined) continue;
    use.documents++;
    use.characters += parsed.source.text.length;
    use.instructions += parsed.instructions;
  }
  return use;
}
