import type { Width } from '../access/authority.ts';
import type { PolicyDocument, PolicyPlace, PolicyProblem } from './document.ts';
import type { PolicyFeatures } from './parse-rule.ts';
import { parseSource } from './parse-source.ts';

/** One YAML source, which may hold several documents. */
export interface PolicySource {
  /** How problems name it: a file's path, or the name of a stored document. */
  readonly file: string;
  readonly text: string;
  /** Of a stored document: it is the only one of its source, and this is what it is called. */
  readonly name?: string;
  /** How wide the credential of its author is; where nothing is said, it is the operator's. See `authorOf`. */
  readonly author?: Width;
  /** What its names begin with, where a bound author may write the short ones: `acme/` or `acme/search/`. */
  readonly namespace?: string;
}

/** A document, the text that it was read from, and where problems with other documents are told. */
export interface ParsedDocument {
  readonly document: PolicyDocument;
  readonly text: string;
  readonly namedAt: PolicyPlace;
  /** What of it one global document only may have, and where it stands. */
  readonly exclusive: readonly { readonly key: 'budget' | 'pricing'; readonly at: PolicyPlace }[];
}

/** A source that was read by itself. */
export interface ParsedSource {
  readonly source: PolicySource;
  readonly documents: readonly ParsedDocument[];
  readonly problems: readonly PolicyProblem[];
  /** How many instructions the patterns of its conditions have become. */
  readonly instructions: number;
}

export interface ParsedPolicies {
  readonly documents: readonly PolicyDocument[];
  readonly problems: readonly PolicyProblem[];
}

/** Reads all sources together: names are unique over all of them. */
export function parsePolicies(sources: readonly PolicySource[], features: PolicyFeatures = {}): ParsedPolicies {
  const parsed = sources.map((source) => parseSource(source, features));
  return {
    documents: parsed.flatMap(({ documents }) => documents.map(({ document }) => document)),
    problems: problemsOf(parsed),
  };
}

/**
 * What is wrong with sources that are to be in force together, each by itself and one with another. Where two cannot
 * both be, the later one is told.
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
