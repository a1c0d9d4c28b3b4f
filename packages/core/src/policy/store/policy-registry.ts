import type { Principal } from '../../access/index.ts';
import type { ParsedDocument, ParsedSource, PolicySource } from '../parse-source.ts';
import type { PolicyFeatures } from '../condition.ts';
import { parseSource } from '../parse-source.ts';
import type { InForce, PolicySources, StoredPolicy } from './in-force.ts';
import { inForce, PreparedSources } from './in-force.ts';
import type { PolicyStore, PolicyVersion } from './policy-version.ts';

/** A document in force and where it comes from. */
export interface PlacedPolicy extends ParsedDocument {
  /** The file of the document; null if it is stored. */
  readonly file: string | null;
  /** Null if the document is in a file. */
  readonly saved: PolicyVersion | null;
}

/** Operator files up to this length are parsed at once, in place. */
const fewCharacters = 16_384;

/** Reads a text for a caller, or for the gateway itself. */
export type ReadSource = (source: PolicySource, by: Principal | null) => Promise<ParsedSource>;

/** What rules see of the sources. Only facts change them, and reloads of files. */
export type KnownPolicies = Readonly<Omit<PolicyRegistry, 'restore' | 'changed'>>;

/** The sources of policies: the files of the gateway, and the documents stored in it. */
export class PolicyRegistry {
  readonly store: PolicyStore;
  readonly features: PolicyFeatures;
  /** The sources in force. A change replaces them as a whole. */
  sources: PolicySources = { files: [], stored: new Map() };
  /** Parses texts elsewhere, if they are not to be parsed at once and here. */
  reader: ReadSource | undefined;
  readonly #prepared = new PreparedSources();
  #composed: { readonly of: PolicySources; readonly inForce: InForce } | undefined;
  readonly #listeners = new Set<() => void>();

  constructor(store: PolicyStore, features: PolicyFeatures) {
    this.store = store;
    this.features = features;
  }

  /** Which sources are in force, and which are set aside. */
  get inForce(): InForce {
    if (this.#composed?.of !== this.sources) this.#composed = { of: this.sources, inForce: inForce(this.sources) };
    return this.#composed.inForce;
  }

  /** Restores the stored documents. None is in force before policies are loaded. */
  restore(versions: readonly PolicyVersion[]): void {
    this.sources = { ...this.sources, stored: this.with(versions) };
  }

  /** The stored documents, with these versions in place of the earlier ones. Whoever stored them has judged them. */
  with(versions: readonly PolicyVersion[]): ReadonlyMap<string, StoredPolicy> {
    const stored = new Map(this.sources.stored);
    const accepted = acceptedBefore(this.features);
    for (const saved of versions) stored.set(saved.name, { saved, parsed: this.parse(saved, accepted) });
    return stored;
  }

  /** The newest known version of a stored document. */
  newest(name: string): PolicyVersion | undefined {
    return this.sources.stored.get(name)?.saved;
  }

  parse(version: WrittenVersion, features = this.features): ParsedSource | undefined {
    const source = sourceOf(version);
    return source === undefined ? undefined : (this.#prepared.find(source) ?? parseSource(source, features));
  }

  /** Parses versions ahead, so that `parse` takes no time later. Rejects if the reader gives up. */
  async prepare(versions: readonly WrittenVersion[], by: Principal | null): Promise<void> {
    await this.#prepare(
      versions.map(sourceOf).filter((source) => source !== undefined),
      by,
    );
  }

  /** The same for files, if there is much to read. Short ones are parsed in place. */
  async prepareFiles(files: readonly PolicySource[]): Promise<void> {
    const known = new Set(this.sources.files.map(({ source }) => source.text));
    const news = files.filter(({ text }) => !known.has(text));
    if (news.reduce((sum, { text }) => sum + text.length, 0) > fewCharacters) await this.#prepare(news, null);
  }

  async #prepare(sources: readonly PolicySource[], by: Principal | null): Promise<void> {
    const { reader } = this;
    if (reader === undefined) return;
    const read: ParsedSource[] = [];
    for (const source of sources) read.push(this.#prepared.find(source) ?? (await reader(source, by)));
    this.#prepared.keep(read);
  }

  /** Parses files. Those already in force are not parsed again. */
  parseFiles(files: readonly PolicySource[], features: PolicyFeatures = this.features): readonly ParsedSource[] {
    const known = new Map(this.sources.files.map((parsed) => [parsed.source.file, parsed]));
    return files.map((source) => {
      const parsed = known.get(source.file);
      if (parsed?.source.text === source.text) return parsed;
      return this.#prepared.find(source) ?? parseSource(source, features);
    });
  }

  /** The document in force with this name, if any. */
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

  /** Calls the listener after changes that did not come from files. */
  watch(listener: () => void): void {
    this.#listeners.add(listener);
  }

  changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Texts that were stored under looser limits stay in force: no stored text keeps a gateway from starting. */
export function acceptedBefore(features: PolicyFeatures): PolicyFeatures {
  return { ...features, mostRules: Number.POSITIVE_INFINITY, mostInstructions: Number.POSITIVE_INFINITY };
}

type WrittenVersion = Pick<PolicyVersion, 'name' | 'source' | 'width' | 'author'>;

function sourceOf({ name, source, width, author = width }: WrittenVersion): PolicySource | undefined {
  return source === null ? undefined : { file: name, name, author, text: source };
}
