import type { PolicyDocument, PolicyProblem } from '../document.ts';
import { describeProblem, parseScope, authorOf } from '../document.ts';
import type { ParsedDocument, ParsedSource, PolicySource } from '../parse-source.ts';
import type { PolicyVersion } from './policy-version.ts';

/** The sources of the policies in force. */
export interface PolicySources {
  readonly files: readonly ParsedSource[];
  readonly stored: ReadonlyMap<string, StoredPolicy>;
}

/** The newest version of a stored document, parsed. Undefined if the document was deleted. */
export interface StoredPolicy {
  readonly saved: PolicyVersion;
  readonly parsed: ParsedSource | undefined;
}

/** A stored document that is not in force as written, and why. */
export interface SetAside {
  readonly name: string;
  /** With the document's name, for the operator. */
  readonly problem: PolicyProblem;
  /** For everybody: without the name, which a tenant may have chosen. */
  readonly message: string;
}

export interface InForce {
  /** In the order in which rules are considered: files first, then stored documents by name. */
  readonly sources: readonly ParsedSource[];
  readonly setAside: readonly SetAside[];
}

/**
 * Which files and stored documents are in force together. Files without problems always are: no stored document holds
 * them back or stops a start.
 *
 * - A stored document with the name of a file's document does not count while the file is there.
 * - If a file or an earlier stored document has the global `budget` or `pricing`, a stored document loses its own, but
 *   keeps its rules.
 * - A stored document that cannot be read denies everything in its scope: dropping its deny rules would open what they
 *   close.
 */
export function inForce({ files, stored }: PolicySources): InForce {
  const named = new Map(files.flatMap(({ documents }) => documents.map((each) => [each.document.name, each] as const)));
  const taken = new Set(files.flatMap(({ documents }) => documents.flatMap(({ exclusive }) => exclusive.map(keyOf))));
  const sources = [...files];
  const setAside: SetAside[] = [];
  for (const [name, kept] of [...stored].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (kept.parsed === undefined) continue;
    const file = named.get(name);
    if (file !== undefined) {
      setAside.push(shadowed(name, file));
      continue;
    }
    const [document] = kept.parsed.documents;
    if (document === undefined || kept.parsed.problems.length > 0) {
      setAside.push(unreadable(name, kept.parsed));
      sources.push(deniedInstead(kept, kept.parsed));
      continue;
    }
    const clashes = document.exclusive.filter(({ key }) => taken.has(key));
    setAside.push(...clashes.map(({ key, at }) => overruled(name, { ...at, message: '' }, key)));
    sources.push(clashes.length === 0 ? kept.parsed : { ...kept.parsed, documents: [without(document, clashes)] });
    for (const { key } of document.exclusive) taken.add(key);
  }
  return { sources, setAside };
}

type Exclusive = ParsedDocument['exclusive'][number];

function keyOf({ key }: Exclusive): Exclusive['key'] {
  return key;
}

function shadowed(name: string, { namedAt }: ParsedDocument): SetAside {
  const message = `this file counts, and the stored document "${name}" does not; delete that one or choose another name`;
  const problem = { ...namedAt, message };
  return { name, problem, message: describeProblem(problem) };
}

function overruled(name: string, at: PolicyProblem, key: Exclusive['key']): SetAside {
  const message = `another global document has a "${key}", which counts; that of the stored document "${name}" does not`;
  return {
    name,
    problem: { ...at, message },
    message: `two global documents have a "${key}"; that of the stored one does not count`,
  };
}

function unreadable(name: string, { problems }: ParsedSource): SetAside {
  const [first] = problems;
  const message = `cannot be read, so everything in its scope is denied: ${first?.message ?? 'it is empty'}`;
  return {
    name,
    problem: { file: name, line: first?.line ?? 1, column: first?.column ?? 1, message },
    message: 'a stored document cannot be read, so everything in its scope is denied; the log of the gateway names it',
  };
}

function without(parsed: ParsedDocument, clashes: readonly Exclusive[]): ParsedDocument {
  const { budget, pricing, ...rest } = parsed.document;
  const clashing = new Set(clashes.map(keyOf));
  const document: PolicyDocument = {
    ...rest,
    ...(budget === undefined || clashing.has('budget') ? {} : { budget }),
    ...(pricing === undefined || clashing.has('pricing') ? {} : { pricing }),
  };
  return { ...parsed, document, exclusive: parsed.exclusive.filter(({ key }) => !clashing.has(key)) };
}

/** The text stays, so that somebody can read and correct it. */
function deniedInstead({ saved }: StoredPolicy, { source }: ParsedSource): ParsedSource {
  const document: PolicyDocument = {
    name: saved.name,
    scope: parseScope(saved.scope) ?? { tier: 'global' },
    hints: false,
    rules: [{ name: 'unreadable', effect: 'deny', matchers: {} }],
  };
  const namedAt = { file: source.file, line: 1, column: 1 };
  return {
    source,
    documents: [{ document, text: source.text, namedAt, exclusive: [] }],
    problems: [],
    instructions: 0,
  };
}

/** How many characters of texts are kept. Those read last always stay. */
const mostCharacters = 1024 * 1024;

/** Texts that were parsed aside and are about to be put in force. */
export class PreparedSources {
  /** Most recently read last. */
  readonly #sources = new Map<string, ParsedSource>();

  find(source: PolicySource): ParsedSource | undefined {
    return this.#sources.get(sourceKey(source));
  }

  keep(read: readonly ParsedSource[]): void {
    for (const parsed of read) {
      const key = sourceKey(parsed.source);
      this.#sources.delete(key);
      this.#sources.set(key, parsed);
    }
    const keys = [...this.#sources.keys()];
    let characters = keys.reduce((sum, key) => sum + key.length, 0);
    for (const key of keys.slice(0, keys.length - read.length)) {
      if (characters <= mostCharacters) return;
      this.#sources.delete(key);
      characters -= key.length;
    }
  }
}

/** What an author may write depends on the width of its credential, so the same text by another author is read anew. */
function sourceKey(source: PolicySource): string {
  const { file, name = '', namespace = '', text } = source;
  return [file, name, authorOf(source), namespace, text].join('\n');
}
