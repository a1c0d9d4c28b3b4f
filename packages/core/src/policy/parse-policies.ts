import type { PolicyFeatures } from './condition.ts';
import type { PolicyDocument, PolicyProblem } from './document.ts';
import type { ParsedDocument, ParsedSource, PolicySource } from './parse-source.ts';
import { parseSource } from './parse-source.ts';

export interface ParsedPolicies {
  readonly documents: readonly PolicyDocument[];
  readonly problems: readonly PolicyProblem[];
}

/** Reads all sources together. Names are unique across them. */
export function parsePolicies(sources: readonly PolicySource[], features: PolicyFeatures = {}): ParsedPolicies {
  const parsed = sources.map((source) => parseSource(source, features));
  return {
    documents: parsed.flatMap(({ documents }) => documents.map(({ document }) => document)),
    problems: problemsOf(parsed),
  };
}

/**
 * The problems of sources that shall be in force together: of each by itself, and between them. If two conflict, the
 * later one is reported.
 */
export function problemsOf(sources: readonly ParsedSource[]): readonly PolicyProblem[] {
  const names = new Set<string>();
  const taken = new Set<string>();
  return sources.flatMap(({ documents, problems }) => [
    ...problems,
    ...documents.flatMap((document) => clashesOf(document, names, taken)),
  ]);
}

function clashesOf(
  { document, namedAt, exclusive }: ParsedDocument,
  names: Set<string>,
  taken: Set<string>,
): PolicyProblem[] {
  const problems: PolicyProblem[] = [];
  if (names.has(document.name)) {
    problems.push({ ...namedAt, message: `a document named "${document.name}" exists already` });
  }
  names.add(document.name);
  for (const { key, at } of exclusive) {
    if (taken.has(key)) problems.push({ ...at, message: `another global document has a "${key}"` });
    taken.add(key);
  }
  return problems;
}
