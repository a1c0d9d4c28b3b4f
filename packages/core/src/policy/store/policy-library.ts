import type { PolicyProblem } from '../document.ts';
import type { ParsedDocument, ParsedSource, PolicySource } from '../parse-policy.ts';
import { problemsOf } from '../parse-policy.ts';
import type { PolicyFeatures } from '../parse-rule.ts';
import { parseSource } from '../parse-source.ts';
import type { PolicyShelf, PolicyVersion } from './policy-version.ts';

/** The newest version of a stored document, and what it says; nothing where it was taken away. */
export interface StoredPolicy {
  readonly saved: PolicyVersion;
  readonly parsed: ParsedSource | undefined;
}

/** What the policies in force are made of. */
export interface PolicySources {
  readonly files: readonly ParsedSource[];
  readonly stored: ReadonlyMap<string, StoredPolicy>;
}

/** A document in force and where it comes from. */
export interface PlacedPolicy extends ParsedDocument {
  /** The file that it stands in; null where it is stored. */
  readonly file: string | null;
  /** Null where it stands in a file. */
  readonly saved: PolicyVersion | null;
}

/** Where policies come from: the files of the gateway, and the documents that were stored in it. */
export class PolicyLibrary {
  readonly shelf: PolicyShelf;
  readonly features: PolicyFeatures;
  /** What is in force; a change puts another here, whole. */
  sources: PolicySources = { files: [], stored: new Map() };
  /** What others have stored and cannot be in force together with the files here. */
  waiting: readonly PolicyVersion[] = [];
  readonly #listeners = new Set<(problems: readonly PolicyProblem[]) => void>();

  constructor(shelf: PolicyShelf, features: PolicyFeatures) {
    this.shelf = shelf;
    this.features = features;
  }

  /** What is stored, as the store remembers it. Nothing of it is in force before policies are loaded. */
  restore(versions: readonly PolicyVersion[]): void {
    this.sources = { ...this.sources, stored: this.with(versions) };
  }

  /** The stored documents with these versions in place of what they were. */
  with(versions: readonly PolicyVersion[]): ReadonlyMap<string, StoredPolicy> {
    const stored = new Map(this.sources.stored);
    for (const saved of versions) stored.set(saved.name, { saved, parsed: this.parse(saved) });
    return stored;
  }

  /** The newest version that is known of a stored document. */
  newest(name: string): PolicyVersion | undefined {
    return this.waiting.find((version) => version.name === name) ?? this.sources.stored.get(name)?.saved;
  }

  parse({ name, source }: Pick<PolicyVersion, 'name' | 'source'>): ParsedSource | undefined {
    return source === null ? undefined : parseSource({ file: name, name, text: source }, this.features);
  }

  /** Reads files; those that are in force already are not read again. */
  parseFiles(files: readonly PolicySource[], features: PolicyFeatures = this.features): readonly ParsedSource[] {
    const known = new Map(this.sources.files.map((parsed) => [parsed.source.file, parsed]));
    return files.map((source) => {
      const parsed = known.get(source.file);
      return parsed?.source.text === source.text ? parsed : parseSource(source, features);
    });
  }

  /** The document of this name, where one is in force. */
  find(name: string): PlacedPolicy | undefined {
    const { files, stored } = this.sources;
    for (const { source, documents } of files) {
      const found = documents.find(({ document }) => document.name === name);
      if (found !== undefined) return { ...found, file: source.file, saved: null };
    }
    const kept = stored.get(name);
    return kept === undefined ? undefined : placedOf(kept)[0];
  }

  /** Every document in force, by name. */
  all(): readonly PlacedPolicy[] {
    const { files, stored } = this.sources;
    return [
      ...files.flatMap(({ source, documents }) =>
        documents.map((document) => ({ ...document, file: source.file, saved: null })),
      ),
      ...[...stored.values()].flatMap(placedOf),
    ].sort((a, b) => compare(a.document.name, b.document.name));
  }

  /** Asks to be told of changes that did not come from the files: what was wrong with them, if anything. */
  watch(listener: (problems: readonly PolicyProblem[]) => void): void {
    this.#listeners.add(listener);
  }

  changed(problems: readonly PolicyProblem[]): void {
    for (const listener of this.#listeners) listener(problems);
  }
}

function placedOf({ saved, parsed }: StoredPolicy): readonly PlacedPolicy[] {
  return parsed === undefined ? [] : parsed.documents.map((document) => ({ ...document, file: null, saved }));
}

/** The sources in the order in which rules are considered: files first, then what is stored, by name. */
export function inOrder({ files, stored }: PolicySources): readonly ParsedSource[] {
  return [...files, ...storedSources(stored)];
}

/** What keeps sources from being in force together. Where a file and a stored document clash, it is the file's problem. */
export function problemsWith({ files, stored }: PolicySources): readonly PolicyProblem[] {
  return problemsOf([...storedSources(stored), ...files]);
}

export function storedSources(stored: PolicySources['stored']): readonly ParsedSource[] {
  return [...stored]
    .sort(([a], [b]) => compare(a, b))
    .map(([, { parsed }]) => parsed)
    .filter((parsed) => parsed !== undefined);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
