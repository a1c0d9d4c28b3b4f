import type { ParsedSource, PolicySource } from '../policy/parse-source.ts';
import type { PolicyHistory } from '../policy/store/policy-version.ts';
import { PolicySet } from '../policy/policy-set.ts';

/** How many sets are kept ready: who asks about one decision often asks about others of its time. */
const mostReady = 4;

/** Policies that were in force, by the version that decisions name. */
export class PastPolicies {
  readonly #history: PolicyHistory;
  readonly #parse: (source: PolicySource) => ParsedSource;
  /** The one that was asked for last is the last. */
  readonly #ready = new Map<string, PolicySet>();

  constructor(history: PolicyHistory, parse: (source: PolicySource) => ParsedSource) {
    this.#history = history;
    this.#parse = parse;
  }

  /** Undefined where the set is not remembered any more, or cannot be read by this version of Reeve. */
  async find(version: string): Promise<PolicySet | undefined> {
    const set = this.#ready.get(version) ?? (await this.#read(version));
    if (set === undefined) return undefined;
    this.#ready.delete(version);
    this.#ready.set(version, set);
    const [oldest] = this.#ready.keys();
    if (this.#ready.size > mostReady && oldest !== undefined) this.#ready.delete(oldest);
    return set;
  }

  async #read(version: string): Promise<PolicySet | undefined> {
    const sources = await this.#history.find(version);
    if (sources === undefined) return undefined;
    // How they went together was settled when they came in force.
    const parsed = sources.map((source) => this.#parse(source));
    if (parsed.some(({ problems }) => problems.length > 0)) return undefined;
    return new PolicySet(
      parsed.flatMap(({ documents }) => documents.map(({ document }) => document)),
      version,
    );
  }
}
