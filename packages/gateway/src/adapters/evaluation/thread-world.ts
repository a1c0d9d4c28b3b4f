import type { Candidate, EvaluationWorld, ParsedSource, PolicySource, PolicyVersion, Principal } from '@reeve/core';
import {
  RateCounters,
  acceptedBefore,
  authorOf,
  candidateSet,
  parseSource,
  PastPolicies,
  PolicyRegistry,
  PolicySet,
} from '@reeve/core';
import { policyFeatures } from '../cel/policy-features.ts';
import { sha256 } from '../crypto/node-crypto.ts';
import type { BroughtFacts, PastSources } from './evaluation-jobs.ts';

/** What has changed in the policies in force since the last message. */
export interface PolicyNews {
  /** Absent if the files have not changed. */
  readonly files?: readonly PolicySource[];
  /** Names of stored documents that the job does not need. */
  readonly forgotten: readonly string[];
  readonly stored: readonly PolicyVersion[];
  /** The version of the set; absent if more messages follow. */
  readonly version?: string;
}

/** The settings that an evaluation reads. */
export interface EvaluationSettings {
  readonly mostActionMicros: number;
  /** How long an approval waits if its rule does not say. */
  readonly ttlMs: number;
}

const mostCandidates = 8;
const accepted = acceptedBefore(policyFeatures);

/** The policies in force as a thread knows them, and the other inputs of an evaluation. */
export class ThreadWorld {
  readonly #policyRegistry = new PolicyRegistry(nowhere, policyFeatures);
  #policies = new PolicySet([], 'none');
  readonly #candidates = new Map<string, PolicySet>();
  #past: PastPolicies;
  #brought: PastSources;
  #tenant = '';
  readonly #settings: EvaluationSettings;

  constructor(settings: EvaluationSettings) {
    this.#settings = settings;
    this.#past = this.#noPast();
  }

  /** Sets whose job comes next. It drops what was made for another tenant, because this one may need the memory. */
  serve(tenant: string): void {
    if (tenant === this.#tenant) return;
    this.#tenant = tenant;
    this.#candidates.clear();
    this.#past = this.#noPast();
  }

  /** Forgets first, to make room for what is new. */
  learn({ files, forgotten, stored, version }: PolicyNews): void {
    if (forgotten.length > 0) {
      const kept = new Map(this.#policyRegistry.sources.stored);
      for (const name of forgotten) kept.delete(name);
      this.#policyRegistry.sources = { ...this.#policyRegistry.sources, stored: kept };
      this.#compose(this.#policies.version);
    }
    const { sources } = this.#policyRegistry;
    this.#policyRegistry.sources = {
      files: files === undefined ? sources.files : this.#policyRegistry.parseFiles(files),
      stored: stored.length === 0 ? sources.stored : this.#policyRegistry.with(stored),
    };
    if (version !== undefined) this.#compose(version);
  }

  #compose(version: string): void {
    const documents = this.#policyRegistry.inForce.sources.flatMap((source) =>
      source.documents.map(({ document }) => document),
    );
    this.#policies = new PolicySet(documents, version, this.#policies);
    this.#candidates.clear();
  }

  /** Without facts of the moment, unless the caller brings them. */
  world(facts?: BroughtFacts): EvaluationWorld {
    return {
      policies: this.#policies,
      policyRegistry: this.#policyRegistry,
      sha256,
      mostActionMicros: this.#settings.mostActionMicros,
      approvals: { settings: this.#settings },
      clock: { now: () => facts?.now ?? 0 },
      directory: { find: () => facts?.agent },
      rates: countersOf(facts),
      runs: { of: () => facts?.run ?? { checks: 0, spentMicros: 0 }, labels: { in: () => facts?.labels ?? [] } },
      ledger: {
        read: (of) => {
          const found = facts?.balances.find((balances) => balances.of.tier === of.tier);
          if (found === undefined) throw new Error(`the balances of the ${of.tier} were not brought along`);
          return found;
        },
        resetsAt: (period) => facts?.resetsAt[period] ?? 0,
      },
    };
  }

  /** The set with a candidate. It is cached, because callers often try the same candidate again. */
  candidate(by: Principal, candidate: Candidate): PolicySet {
    const { text, merge } = candidate;
    const key = `${by.orgId ?? ''}/${by.teamId ?? ''} ${by.orgId === null} ${merge} ${text}`;
    const set = this.#candidates.get(key) ?? candidateSet(this.world(), by, candidate);
    this.#candidates.delete(key);
    this.#candidates.set(key, set);
    const [oldest] = this.#candidates.keys();
    if (this.#candidates.size > mostCandidates && oldest !== undefined) this.#candidates.delete(oldest);
    return set;
  }

  /**
   * The part of a former set that concerns an org; undefined if the thread does not know the set and got no sources.
   */
  async past(version: string, org: string, brought: PastSources): Promise<PolicySet | undefined> {
    if (version === this.#policies.version) return this.#policies;
    this.#brought = brought;
    return await this.#past.find(`${version} ${org}`);
  }

  #noPast(): PastPolicies {
    return new PastPolicies({ find: () => Promise.resolve(this.#brought) }, (source) => this.#parse(source));
  }

  /** A source that is still in force need not be read again. */
  #parse(source: PolicySource): ParsedSource {
    const { files, stored } = this.#policyRegistry.sources;
    const known =
      source.name === undefined
        ? files.find((each) => each.source.file === source.file)
        : stored.get(source.name)?.parsed;
    const isSame = known?.source.text === source.text && authorOf(known.source) === authorOf(source);
    return isSame ? known : parseSource(source, accepted);
  }
}

/** A thread stores nothing. */
const nowhere = {
  find: () => Promise.resolve(undefined),
  outline: () => Promise.resolve([]),
  versions: () => Promise.resolve([]),
  alone: () => Promise.reject(new Error('nothing is stored here')),
};

function countersOf(facts: BroughtFacts | undefined): RateCounters {
  const counters = new RateCounters();
  for (const saved of facts?.rates ?? []) counters.restore(saved);
  return counters;
}
