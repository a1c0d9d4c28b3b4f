import type { Policies, PolicyVersion } from '@reeve/core';
import { parseScope } from '@reeve/core';
import type { PolicyNews } from './thread-world.ts';

/** The most text in one message: copying more would delay decisions. */
const mostCharacters = 256 * 1024;

type Sources = Policies['policyRegistry']['sources'];

/** The next message to a thread. */
export interface PolicyMessage {
  readonly news: PolicyNews;
  /** Whether it holds documents of an org; else it holds the operator's alone. */
  readonly ofOrgs: boolean;
}

/**
 * Sends one thread the policies in force that its job needs: the global ones, and those of the job's orgs. The thread
 * forgets documents of other orgs, so that no tenant pays for what another has stored.
 */
export class PolicyTransfer {
  readonly #gov: Pick<Policies, 'policyRegistry' | 'policies'>;
  readonly #sent = new Map<string, PolicyVersion>();
  #files: Sources['files'] = [];
  /** What the thread knows completely. */
  #known: { readonly sources: Sources; readonly orgs: string } | undefined;

  constructor(gov: Pick<Policies, 'policyRegistry' | 'policies'>) {
    this.#gov = gov;
  }

  /** The next message to the thread for a job about these orgs; undefined once it knows all it needs. */
  next(orgs: readonly string[]): PolicyMessage | undefined {
    const { policyRegistry, policies } = this.#gov;
    const { sources } = policyRegistry;
    const key = orgs.toSorted().join();
    if (this.#known?.sources === sources && this.#known.orgs === key) return undefined;
    const wanted = this.#wanted(sources, orgs);
    const forgotten = [...this.#sent.keys()].filter((name) => !wanted.has(name));
    for (const name of forgotten) this.#sent.delete(name);
    const hasOtherFiles = this.#files !== sources.files;
    this.#files = sources.files;
    const files = hasOtherFiles ? { files: sources.files.map(({ source }) => source) } : {};
    const stored: PolicyVersion[] = [];
    let ofOrgs = false;
    let left = mostCharacters;
    for (const [name, saved] of wanted) {
      if (this.#sent.get(name) === saved) continue;
      const isOfOrg = orgOf(saved) !== null;
      // The operator's documents go first and alone, because those of tenants have a deadline.
      const isAlone = ofOrgs || (stored.length === 0 && !hasOtherFiles);
      if (left <= 0 || (isOfOrg && !isAlone)) {
        this.#known = undefined;
        return { news: { ...files, forgotten, stored }, ofOrgs };
      }
      ofOrgs = isOfOrg;
      this.#sent.set(name, saved);
      stored.push(saved);
      left -= saved.source?.length ?? 0;
    }
    const isNew = this.#known?.sources !== sources || forgotten.length + stored.length > 0;
    this.#known = { sources, orgs: key };
    return isNew ? { news: { ...files, forgotten, stored, version: policies.version }, ofOrgs } : undefined;
  }

  /** The newest versions that the job needs, global ones before those of orgs. */
  #wanted({ stored }: Sources, orgs: readonly string[]): ReadonlyMap<string, PolicyVersion> {
    const global: [string, PolicyVersion][] = [];
    const own: [string, PolicyVersion][] = [];
    for (const [name, { saved }] of stored) {
      const org = orgOf(saved);
      if (org === null) global.push([name, saved]);
      else if (orgs.includes(org)) own.push([name, saved]);
    }
    return new Map([...global, ...own]);
  }
}

const orgsKnown = new WeakMap<PolicyVersion, string | null>();

/** The org that a document is about; null if it is about all. */
function orgOf(saved: PolicyVersion): string | null {
  const known = orgsKnown.get(saved);
  if (known !== undefined) return known;
  const scope = parseScope(saved.scope);
  const org = scope === undefined || scope.tier === 'global' ? null : scope.orgId;
  orgsKnown.set(saved, org);
  return org;
}
