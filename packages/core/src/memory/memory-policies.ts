import type { Change, Snapshot } from '../store.ts';
import type { PolicySource } from '../policy/parse-source.ts';
import type { PolicySetRecord, PolicyStore, PolicyVersion } from '../policy/store/policy-version.ts';
import { setsKept, versionsKept } from '../policy/store/policy-version.ts';

type PolicySaved = Extract<Change, { readonly kind: 'policy_saved' | 'policy_set_saved' }>;

/** What the store in memory keeps of policies. */
export class MemoryPolicies implements PolicyStore {
  /** By name, the newest first. */
  readonly #versions = new Map<string, PolicyVersion[]>();
  /** The one that came in force last is the last. */
  readonly #sets = new Map<string, PolicySetRecord>();

  load(): Pick<Snapshot, 'policies'> {
    return { policies: [...this.#versions.values()].flatMap((versions) => versions.slice(0, 1)) };
  }

  apply(change: PolicySaved): void {
    if (change.kind === 'policy_saved') this.#save(change.saved);
    else this.#remember(change.set);
  }

  find(version: string): Promise<readonly PolicySource[] | undefined> {
    const sources = this.#sets.get(version)?.sources;
    return Promise.resolve(
      sources?.map(({ file, name, author, text }) => ({
        file,
        ...(name === undefined ? {} : { name }),
        ...(author === undefined ? {} : { author }),
        text,
      })),
    );
  }

  outline(name: string): Promise<readonly Pick<PolicyVersion, 'version' | 'scope'>[]> {
    return Promise.resolve(this.#of(name).map(({ version, scope }) => ({ version, scope })));
  }

  versions(name: string, wanted: readonly number[]): Promise<readonly PolicyVersion[]> {
    return Promise.resolve(this.#of(name).filter(({ version }) => wanted.includes(version)));
  }

  /** Nobody else has this store. */
  alone<Result>(work: (newest: readonly PolicyVersion[]) => Promise<Result>): Promise<Result> {
    return work([]);
  }

  #of(name: string): readonly PolicyVersion[] {
    return this.#versions.get(name) ?? [];
  }

  #save(saved: PolicyVersion): void {
    const others = this.#of(saved.name).filter(({ version }) => version !== saved.version);
    const versions = [...others, saved].sort((a, b) => b.version - a.version);
    const newest = versions[0]?.version ?? 0;
    this.#versions.set(
      saved.name,
      versions.filter(({ version }) => version > newest - versionsKept),
    );
  }

  #remember(set: PolicySetRecord): void {
    this.#sets.delete(set.version);
    this.#sets.set(set.version, set);
    for (const version of [...this.#sets.keys()].slice(0, -setsKept)) this.#sets.delete(version);
  }
}
