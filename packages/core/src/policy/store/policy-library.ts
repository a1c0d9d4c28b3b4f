import type { ParsedDocument, ParsedSource, PolicySource } from '../parse-policy.ts';
import type { PolicyFeatures } from '../parse-rule.ts';
import { parseSource } from '../parse-source.ts';
import type { InForce } from './in-force.ts';
import { inForce } from './in-force.ts';
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
  #composed: { readonly of: PolicySources; readonly inForce: InForce } | undefined;
  readonly #listeners = new Set<() => void>();

  constructor(shelf: PolicyShelf, features: PolicyFeatures) {
    this.shelf = shelf;
    this.features = features;
  }

  /** What of the sources is in force, and what is set aside. */
  get inForce(): InForce {
    if (this.#composed?.of !== this.sources) this.#composed = { of: this.sources, inForce: inForce(this.sources) };
    return this.#composed.inForce;
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
    return this.sources.stored.get(name)?.saved;
  }

  parse({ name, source, width: author }: Pick<PolicyVersion, 'name' | 'source' | 'width'>): ParsedSource | undefined {
    return source === null ? undefined : parseSource({ file: name, name, author, text: source }, this.features);
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
    for (const { source, documents } of this.inForce.sources) {
      const found = documents.find(({ document }) => document.name === name);
      if (found !== undefined) return this.#placed(source, found);
    }
    return undefined;
  }

  /** Every document in force, by name. */
  all(): readonly PlacedPolicy[] {
    return this.inForce.sources
      .flatMap(({ source, documents }) => documents.map((document) => this.#placed(source, document)))
      .sort((a, b) => (a.document.name < b.document.name ? -1 : 1));
  }

  #placed({ file, name }: PolicySource, document: ParsedDocument): PlacedPolicy {
    if (name === undefined) return { ...document, file, saved: null };
    return { ...document, file: null, saved: this.newest(name) ?? null };
  }

  /** Asks to be told of changes that did not come from the files. */
  watch(listener: () => void): void {
    this.#listeners.add(listener);
  }

  changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
