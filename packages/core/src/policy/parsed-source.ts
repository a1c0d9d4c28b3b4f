import type { Width } from '../access/authority.ts';
import type { PolicyDocument, PolicyPlace, PolicyProblem } from './document.ts';

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
