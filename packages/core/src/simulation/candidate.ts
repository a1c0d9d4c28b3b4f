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

/** Policies that somebody considers putting in force. */
export interface Candidate {
  /** YAML, one or many documents. */
  readonly text: string;
  /** True: the candidate joins the documents in force and replaces those of the same names. False: it stands alone. */
  readonly merge: boolean;
}

/**
 * The set that would be in force with a candidate. A caller bound to a tenant can change that tenant's documents only,
 * so the candidate stands beside all others in force.
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

/** For each stored document in force, the widest credential that has written it. */
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
  // What the caller cannot change stays: documents of other tenants, and those that a wider credential wrote for this
  // one.
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

/** What a policy evaluation reads: a part of the governance, or the copy of it where the evaluation runs. */
export interface EvaluationWorld
  extends Pick<Decisions, 'policies' | 'policyRegistry' | 'sha256' | 'mostActionMicros'> {
  readonly approvals: { readonly settings: Pick<Decisions['approvals']['settings'], 'ttlMs'> };
  readonly clock: Pick<Decisions['clock'], 'now'>;
  readonly directory: { find(id: AgentId): Pick<Agent, 'record' | 'lineage'> | undefined };
  readonly ledger: Pick<Decisions['ledger'], 'read' | 'resetsAt'>;
  readonly runs: Pick<Decisions['runs'], 'of'> & { readonly labels: Pick<Decisions['runs']['labels'], 'in'> };
  readonly rates: Pick<Decisions['rates'], 'exceededBy'>;
}

/** How many sets are kept ready. A caller who asks about one decision often asks about others of its time. */
const mostReady = 4;

/** Policies that were in force, by the version that decisions name. */
export class PastPolicies {
  readonly #history: PolicyHistory;
  readonly #parse: (source: PolicySource) => ParsedSource;
  /** Least recently used first. */
  readonly #ready = new Map<string, PolicySet>();

  constructor(history: PolicyHistory, parse: (source: PolicySource) => ParsedSource) {
    this.#history = history;
    this.#parse = parse;
  }

  /** Undefined if the set is no longer known, or this version of Reeve cannot read it. */
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
    // The sources fitted together when they came in force.
    const parsed = sources.map((source) => this.#parse(source));
    if (parsed.some(({ problems }) => problems.length > 0)) return undefined;
    return new PolicySet(
      parsed.flatMap(({ documents }) => documents.map(({ document }) => document)),
      version,
    );
  }
}
