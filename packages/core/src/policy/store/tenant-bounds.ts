import type { Principal } from '../../access/index.ts';
import type { Policies } from '../policies.ts';
import { bindingOfName } from '../document.ts';
import type { PolicyProblem } from '../document.ts';
import type { ParsedSource } from '../parse-source.ts';

/** What of a tenant's documents costs memory, in every gateway and in every thread that evaluates for it. */
export interface TenantUse {
  readonly documents: number;
  /** Of their texts. */
  readonly characters: number;
  /** That the patterns of their conditions have become. */
  readonly instructions: number;
}

/**
 * How much the credentials that are bound to one org, or to a team of it, may store together. One tenant takes up to 120
 * MB with this, whatever it writes, and its documents are read in seconds.
 */
export const tenantBounds: TenantUse = { documents: 500, characters: 1024 * 1024, instructions: 200_000 };

const measures = ['documents', 'characters', 'instructions'] as const;

const says: Readonly<Record<(typeof measures)[number], string>> = {
  documents: 'documents; delete some, or put rules together',
  characters: 'characters in their documents; delete some, or write less',
  instructions: 'instructions of patterns in their documents; count fewer repetitions in them, or delete some',
};

/**
 * What is too much of a source that is to be stored by a bound caller, in place of the documents of the same names. The
 * operator's documents count nowhere. A tenant that has more already, as from before there were bounds, may store what
 * makes it less.
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

/** Of sources with one document each, as stored ones are. */
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
