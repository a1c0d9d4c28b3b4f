import type {
  Candidate,
  ConsiderAgain,
  Decisions,
  JudgedAgain,
  Label,
  ParsedSource,
  PolicyProblem,
  PolicySource,
  Principal,
  RawCheckRequest,
  Simulation,
  StoredEntry,
  UnboundPrincipal,
} from '@reeve/core';
import {
  acceptedBefore,
  agentsOf,
  bindingOfName,
  findRegistered,
  longestStretch,
  parseSource,
  reviveSource,
  runOfAgent,
  tiersOf,
} from '@reeve/core';
import type { BroughtFacts, EvaluationJobs, JobKind } from './evaluation-jobs.ts';
import { EvaluationThreads } from './evaluation-threads.ts';
import type { JudgedCases, PolicyEvaluator, Supposed } from '../../evaluation/policy-evaluator.ts';
import { TenantSlots, tenantOf } from '../../evaluation/tenant-slots.ts';

export interface EvaluatorOptions {
  readonly deadlineMs: number;
  readonly onEnded: (why: string) => void;
  readonly onFallback: (error: unknown) => void;
}

/** How many evaluations of a tenant go on at a time. */
const slots = 2;
/** One is left for others, even where threads are more than processors: they share these, and nobody waits in line. */
const threads = slots + 1;
const nobody = { orgId: '', teamId: '', agentId: '' };

/** Compiles and evaluates the texts of callers, apart from decisions. */
export class ThreadEvaluator implements PolicyEvaluator {
  readonly #gov: Decisions;
  readonly #threads: EvaluationThreads;
  readonly #onFallback: (error: unknown) => void;
  readonly #slots = new TenantSlots({ slots, waitMs: 2000, waiting: 32, retryAfterSecs: 1 });

  constructor(gov: Decisions, { deadlineMs, onEnded, onFallback }: EvaluatorOptions) {
    this.#gov = gov;
    this.#onFallback = onFallback;
    this.#threads = new EvaluationThreads(gov, { threads, deadlineMs, idleMs: 60_000, onEnded });
  }

  /**
   * Reads a source in a thread, then revives here the parts that are code. It refuses a caller's text that takes too
   * long. A text that was accepted before is read in any case, because the gateway must follow it.
   */
  async read(source: PolicySource, by: Principal | null): Promise<ParsedSource> {
    const { features } = this.#gov.policyRegistry;
    if (by === null) {
      try {
        return await this.#revive(await this.#readAccepted(source));
      } catch (error) {
        this.#onFallback(error);
        return parseSource(source, source.name === undefined ? features : acceptedBefore(features));
      }
    }
    return await this.#revive(await this.#run(by, 'read', null, () => ({ source, accepted: false })));
  }

  validate(
    by: Principal,
    asked: { readonly source: string; readonly name: string | undefined },
  ): Promise<readonly PolicyProblem[]> {
    return this.#run(by, 'validate', orgsOf(by, orgOfName(asked.name)), () => ({ by, ...asked }));
  }

  simulate(
    by: Principal,
    request: RawCheckRequest,
    candidate: Candidate | undefined,
    { labels, result: brought }: Supposed,
  ): Promise<Simulation> {
    const orgs = orgsOf(by, request.agentId?.orgId);
    const input = () => ({ by, request, candidate, brought, facts: this.#factsOf(request, labels) });
    return this.#run(by, 'simulate', orgs, input);
  }

  async requireCandidate(by: Principal, candidate: Candidate): Promise<void> {
    await this.#run(by, 'requireCandidate', orgsOf(by, null), () => ({ by, candidate }));
  }

  judgeAgain(by: Principal, candidate: Candidate, entries: readonly StoredEntry[]): Promise<readonly JudgedAgain[]> {
    const ids = agentsOf(entries);
    const orgs = [...new Set(ids.map(({ orgId }) => orgId))];
    return this.#run(by, 'judgeAgain', orgs, () => {
      const agents = ids.flatMap((id) => findRegistered(this.#gov.directory, id)?.record ?? []);
      return { by, candidate, entries, agents };
    });
  }

  /** Sends the sources of another time only if the thread does not have them. */
  readonly considerAgain: ConsiderAgain = async (by, recorded, agent) => {
    const { orgId } = recorded.agent;
    const known = await this.#run(by, 'consider', [orgId], () => ({ by, recorded, agent, past: undefined }));
    if (known !== undefined) return known;
    const all = await this.#gov.policyRegistry.store.find(recorded.policyVersion);
    const past = all?.filter(({ name }) => [null, orgId].includes(orgOfName(name)));
    if (past === undefined) return undefined;
    return await this.#run(by, 'consider', [orgId], () => ({ by, recorded, agent, past }));
  };

  async test(by: UnboundPrincipal, candidate: Candidate | undefined, cases: string): Promise<JudgedCases> {
    const orgs = await this.#run(by, 'orgsOfCases', null, () => ({ cases }));
    return await this.#run(by, 'test', orgs, () => ({ by, candidate, cases }));
  }

  close(): Promise<void> {
    return this.#threads.close();
  }

  #run<Kind extends JobKind>(
    by: Principal,
    kind: Kind,
    orgs: readonly string[] | null,
    input: () => EvaluationJobs[Kind]['in'],
  ): Promise<EvaluationJobs[Kind]['out']> {
    const job = { tenant: by.orgId, orgs, kind, input, hasDeadline: true };
    return this.#slots.run(tenantOf(by), () => this.#threads.run(job)) as Promise<EvaluationJobs[Kind]['out']>;
  }

  /** Files are not stored, so the bounds apply to them each time. */
  #readAccepted(source: PolicySource): Promise<EvaluationJobs['read']['out']> {
    const input = () => ({ source, accepted: source.name !== undefined });
    return this.#threads.run({ tenant: null, orgs: null, kind: 'read', input, hasDeadline: false }) as Promise<
      EvaluationJobs['read']['out']
    >;
  }

  /** Works in slices, so that decisions run in between. */
  async #revive(plain: EvaluationJobs['read']['out']): Promise<ParsedSource> {
    const { clock, journal, policyRegistry } = this.#gov;
    const steps = reviveSource(plain, policyRegistry.features);
    let stretch = clock.elapsed();
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      if (clock.elapsed() - stretch < longestStretch) continue;
      await journal.nextTurn();
      stretch = clock.elapsed();
    }
  }

  #factsOf({ agentId = nobody, runId }: RawCheckRequest, labels?: readonly string[]): BroughtFacts {
    const { clock, directory, ledger, rates, runs, policies, sha256 } = this.#gov;
    const agent = findRegistered(directory, agentId);
    const run = runOfAgent(this.#gov, agentId, runId);
    return {
      now: clock.now(),
      agent: agent === undefined ? undefined : { record: agent.record, lineage: agent.lineage },
      run: runs.of(run),
      labels: labels?.map(supposed) ?? runs.labels.in(run),
      balances: tiersOf(agentId).map((tier) => {
        const { of, reserved, spent, noticed } = ledger.read(tier);
        return { of, reserved, spent, noticed };
      }),
      rates: rates.ofAgent(agentId, policies.rates.ofAgent(agentId), sha256),
      resetsAt: { day: ledger.resetsAt('day'), month: ledger.resetsAt('month') },
    };
  }
}

/** A label that somebody supposes: nothing gave it. */
function supposed(name: string): Label {
  return { name, since: 0, opId: '', policyRule: '' };
}

/** The orgs whose documents an evaluation reads: a bound caller's own org, else the org that it is about. */
function orgsOf(by: Principal, about: string | null | undefined): readonly string[] {
  const org = by.orgId ?? about ?? null;
  return org === null ? [] : [org];
}

/** The org whose namespace holds a document; null for the operator's, which may be about any org. */
function orgOfName(name: string | undefined): string | null {
  return name === undefined ? null : (bindingOfName(name)?.orgId ?? null);
}
