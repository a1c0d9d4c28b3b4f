import type { Width, Principal } from '../access/index.ts';
import { mayChangeDocument, widthOf } from '../access/index.ts';
import type { Decisions } from '../decision/index.ts';
import { ReeveError } from '../kernel/index.ts';
import type { AgentId } from '../kernel/index.ts';
import type { PolicyDocument, PolicyProblem, ParsedSource, PolicySource, PolicyHistory } from '../policy/index.ts';
import {
  namespaceOf,
  describeProblem,
  mayReachScope,
  problemsOf,
  parseSource,
  PolicySet,
  policyVersion,
} from '../policy/index.ts';
import type { Agent } from '../tenancy/index.ts';

/** Policies that somebody thinks of putting in force. */
export interface Candidate {
  /** YAML, one or many documents. */
  readonly text: string;
  /** Whether it joins what is in force, in place of the documents of the same names, or stands alone. */
  readonly merge: boolean;
}

/**
 * The set that would be in force with a candidate. Whoever is bound to a tenant can change the documents of that tenant
 * only, so for them the candidate stands beside all others that are in force.
 */
export function candidateSet(
  gov: Pick<EvaluationWorld, 'policies' | 'policyRegistry' | 'sha256'>,
  by: Principal,
  candidate: Candidate,
): PolicySet {
  const source = { file: 'candidate', text: candidate.text, author: widthOf(by), namespace: namespaceOf(by) };
  const parsed = parseSource(source, gov.policyRegistry.features);
  const documents = parsed.documents.map(({ document }) => document);
  if (documents.some(({ scope }) => !mayReachScope(by, scope))) {
    throw new ReeveError('tenant_bound', 'a credential that is bound to a tenant tries documents of this tenant only');
  }
  const writers = widestWriters(gov.policyRegistry);
  const beside = gov.policies.documents.filter((document) =>
    stays(document, writers.get(document.name) ?? 'unbound', by, candidate.merge, documents),
  );
  const problems = [...problemsOf([parsed]), ...clashes(parsed, beside)];
  const [first] = problems;
  if (first !== undefined) {
    throw new ReeveError('policy_invalid', `the candidate has errors, as ${describeProblem(first)}`, {
      errors: problems,
    });
  }
  const names = documents.map(({ name }) => name);
  const base = beside.length === 0 ? [] : [gov.policies.version];
  return new PolicySet(
    [...beside, ...documents],
    policyVersion(gov.sha256, [...base, candidate.text, ...names]),
    gov.policies,
  );
}

/** Of the documents in force that are stored, the widest credential that has written each. */
function widestWriters(policyRegistry: EvaluationWorld['policyRegistry']): ReadonlyMap<string, Width> {
  const stored = policyRegistry.inForce.sources.flatMap(({ source: { name } }) => (name === undefined ? [] : [name]));
  return new Map(stored.map((name) => [name, policyRegistry.newest(name)?.width ?? 'unbound']));
}

/** Whether a document stays in force beside the candidate. */
function stays(
  { scope, name }: PolicyDocument,
  widestWriter: Width,
  by: Principal,
  merge: boolean,
  candidates: readonly PolicyDocument[],
): boolean {
  // What the caller could not change stays: another tenant's, and what a wider credential has written for this one.
  if (!mayReachScope(by, scope) || !mayChangeDocument(by, widestWriter)) return true;
  return merge && !candidates.some((candidate) => candidate.name === name);
}

function clashes({ documents }: ParsedSource, beside: readonly PolicyDocument[]): PolicyProblem[] {
  const taken = (key: 'budget' | 'pricing') =>
    beside.some((document) => document.scope.tier === 'global' && document[key] !== undefined);
  return documents.flatMap(({ exclusive }) =>
    exclusive
      .filter(({ key }) => taken(key))
      .map(({ key, at }) => ({ ...at, message: `another global document has a "${key}"` })),
  );
}

/**
 * What evaluating policies for somebody looks at: a part of the governance, or as much of it as was brought to where
 * the evaluation happens.
 */
export interface EvaluationWorld
  extends Pick<Decisions, 'policies' | 'policyRegistry' | 'sha256' | 'mostActionMicros'> {
  readonly approvals: { readonly settings: Pick<Decisions['approvals']['settings'], 'ttlMs'> };
  readonly clock: Pick<Decisions['clock'], 'now'>;
  readonly directory: { find(id: AgentId): Pick<Agent, 'record' | 'lineage'> | undefined };
  readonly ledger: Pick<Decisions['ledger'], 'read' | 'resetsAt'>;
  readonly runs: Pick<Decisions['runs'], 'of'>;
}

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
