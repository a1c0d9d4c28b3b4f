import { availableParallelism } from 'node:os';
import type {
  Candidate,
  ConsiderAgain,
  Governance,
  JudgedAgain,
  ParsedSource,
  PolicyProblem,
  PolicySource,
  Principal,
  RawCheckRequest,
  Simulation,
  StoredEntry,
} from '@reeve/core';
import { agentsOf, longestStretch, parseSource, reviveSource, tiersOf } from '@reeve/core';
import type { BroughtFacts, EvaluationJobs, JobKind } from './evaluation-jobs.ts';
import { EvaluationThreads } from './evaluation-threads.ts';
import type { JudgedCases, PolicyEvaluator } from '../../evaluation/policy-evaluator.ts';
import { TenantSlots, tenantOf } from '../../evaluation/tenant-slots.ts';

export interface EvaluatorOptions {
  readonly deadlineMs: number;
  readonly onEnded: (why: string) => void;
  readonly onFallback: (error: unknown) => void;
}

const slots = 2;
const system = 'system';
const nobody = { orgId: '', teamId: '', agentId: '' };

/** Whatever compiles or evaluates a text of a caller, aside from decisions. */
export class ThreadEvaluator implements PolicyEvaluator {
  readonly #gov: Governance;
  readonly #threads: EvaluationThreads;
  readonly #onFallback: (error: unknown) => void;
  readonly #slots = new TenantSlots({ slots, waitMs: 2000, waiting: 32, retryAfterSecs: 1 });

  constructor(gov: Governance, { deadlineMs, onEnded, onFallback }: EvaluatorOptions) {
    this.#gov = gov;
    this.#onFallback = onFallback;
    const threads = Math.max(1, Math.min(slots, availableParallelism() - 1));
    this.#threads = new EvaluationThreads(gov, { threads, deadlineMs, idleMs: 60_000, onEnded });
  }

  /**
   * Reads a source in a thread, and makes of it here what only code can be. A caller's text that takes too long is
   * refused. What the gateway itself has to follow, as it was accepted before, is read in any case.
   */
  async read(source: PolicySource, by: Principal | null): Promise<ParsedSource> {
    const { features } = this.#gov.library;
    if (by === null) {
      try {
        return await this.#revive(await this.#system('read', { source }));
      } catch (error) {
        this.#onFallback(error);
        return parseSource(source, features);
      }
    }
    return await this.#revive(await this.#run(by, 'read', () => ({ source })));
  }

  validate(
    by: Principal,
    asked: { readonly source: string; readonly name: string | undefined },
  ): Promise<readonly PolicyProblem[]> {
    return this.#run(by, 'validate', () => ({ by, ...asked }));
  }

  simulate(by: Principal, request: RawCheckRequest, candidate: Candidate | undefined): Promise<Simulation> {
    return this.#run(by, 'simulate', () => ({ by, request, candidate, facts: this.#factsOf(request) }));
  }

  async requireCandidate(by: Principal, candidate: Candidate): Promise<void> {
    await this.#run(by, 'requireCandidate', () => ({ by, candidate }));
  }

  judgeAgain(by: Principal, candidate: Candidate, entries: readonly StoredEntry[]): Promise<readonly JudgedAgain[]> {
    return this.#run(by, 'judgeAgain', () => {
      const agents = agentsOf(entries).flatMap((id) => this.#gov.directory.find(id)?.record ?? []);
      return { by, candidate, entries, agents };
    });
  }

  /** The sources of another time are brought along only where the thread does not know them. */
  readonly considerAgain: ConsiderAgain = async (by, recorded, agent) => {
    const known = await this.#run(by, 'consider', () => ({ by, recorded, agent, past: undefined }));
    if (known !== undefined) return known;
    const past = await this.#gov.library.shelf.find(recorded.policyVersion);
    return past === undefined ? undefined : await this.#run(by, 'consider', () => ({ by, recorded, agent, past }));
  };

  test(by: Principal, candidate: Candidate | undefined, cases: string): Promise<JudgedCases> {
    return this.#run(by, 'test', () => ({ by, candidate, cases }));
  }

  close(): Promise<void> {
    return this.#threads.close();
  }

  #run<Kind extends JobKind>(
    by: Principal,
    kind: Kind,
    input: () => EvaluationJobs[Kind]['in'],
  ): Promise<EvaluationJobs[Kind]['out']> {
    const tenant = tenantOf(by);
    return this.#slots.run(tenant, () => this.#threads.run({ tenant, kind, input, hasDeadline: true })) as Promise<
      EvaluationJobs[Kind]['out']
    >;
  }

  #system<Kind extends JobKind>(kind: Kind, input: EvaluationJobs[Kind]['in']): Promise<EvaluationJobs[Kind]['out']> {
    return this.#threads.run({ tenant: system, kind, input: () => input, hasDeadline: false }) as Promise<
      EvaluationJobs[Kind]['out']
    >;
  }

  /** In stretches, between which decisions have their say. */
  async #revive(plain: EvaluationJobs['read']['out']): Promise<ParsedSource> {
    const { clock, journal, library } = this.#gov;
    const steps = reviveSource(plain, library.features);
    let stretch = clock.elapsed();
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      if (clock.elapsed() - stretch < longestStretch) continue;
      await journal.nextTurn();
      stretch = clock.elapsed();
    }
  }

  #factsOf({ agentId = nobody, runId }: RawCheckRequest): BroughtFacts {
    const { clock, directory, ledger, runs } = this.#gov;
    const agent = directory.find(agentId);
    return {
      now: clock.now(),
      agent: agent === undefined ? undefined : { record: agent.record, lineage: agent.lineage },
      run: runs.of(agentId, runId),
      books: tiersOf(agentId).map((of) => ledger.read(of)),
      resetsAt: { day: ledger.resetsAt('day'), month: ledger.resetsAt('month') },
    };
  }
}
