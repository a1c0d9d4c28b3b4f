import { redactText } from '../audit/index.ts';
import { approximateUsd, plus } from '../kernel/index.ts';
import type { TierOf } from '../budget/index.ts';
import { tiersOf } from '../budget/index.ts';
import type { AgentId, Micros, EpochMs } from '../kernel/index.ts';
import type { InRun } from '../runs/index.ts';
import { namesOfLabels } from '../runs/index.ts';
import type { Decisions } from './decisions.ts';
import type { Facts, PeriodSpend, RunCounts, RunFacts, SpendFacts } from '../policy/index.ts';
import type { Agent, AgentRecord } from '../tenancy/index.ts';
import { linksOf } from '../tenancy/index.ts';
import { delegatorsIn } from './judge-delegation.ts';
import type { Action, CheckRequest, User } from '../action/index.ts';
import type { AskedFacts } from './answer.ts';
import { NotedUser, RunInParts } from './facts-in-parts.ts';
import { mostArgumentValues, userOf } from '../action/index.ts';

const nothing: PeriodSpend = { day_usd: 0, month_usd: 0 };

/** Knows what was spent and what happened in runs so far. */
interface Balance {
  readonly ledger: Pick<Decisions['ledger'], 'read'>;
  readonly runs: Pick<Decisions['runs'], 'of'> & { readonly labels: Pick<Decisions['runs']['labels'], 'in'> };
}

/** Operations show their runs with secrets replaced, and runs are counted by what operations show. */
export function runAsked(agent: AgentId, runId: string, delegators: readonly string[] = []): InRun {
  return { agent, runId: redactText(runId), delegators };
}

/** The run that a check of an agent would be in. */
export function runOfAgent({ directory }: Pick<Decisions, 'directory'>, id: AgentId, runId: string): InRun {
  const agent = directory.find(id);
  return runAsked(id, runId, agent === undefined ? [] : delegatorsIn(linksOf(directory, agent)));
}

/** What conditions may read in one check. Most read little of it, so costly facts are made on demand. */
export class CheckFacts implements Facts {
  readonly agent: AgentRecord;
  readonly depth: number;
  readonly action: Action;
  readonly now: EpochMs;
  readonly costUsd: number;
  /** What conditions asked about the run and the spend, if anything. */
  asked: AskedFacts | undefined;
  readonly #gov: Balance;
  readonly #request: CheckRequest;
  readonly #run: InRun;
  /** Hides what other orgs than the agent's have spent. */
  readonly #isAlone: boolean;

  constructor(
    gov: Balance,
    agent: Pick<Agent, 'record' | 'lineage'>,
    request: CheckRequest,
    run: InRun,
    now: EpochMs,
    charge: Micros,
    isAlone = false,
  ) {
    this.agent = agent.record;
    this.depth = agent.lineage.depth;
    this.action = request.action;
    this.now = now;
    this.costUsd = approximateUsd(charge);
    this.#gov = gov;
    this.#request = request;
    this.#run = run;
    this.#isAlone = isAlone;
  }

  args(): unknown {
    if ((this.#request.argumentValues ?? 0) > mostArgumentValues) {
      throw new Error(`conditions do not look at arguments with more than ${mostArgumentValues} values`);
    }
    return this.#request.args ?? {};
  }

  annotations(): unknown {
    return this.#request.annotations ?? {};
  }

  /** Each part is read when a condition asks for it: most that look at a run do not rest on what was counted in it. */
  run(): RunFacts {
    return new RunInParts(
      this.#run.runId,
      () => this.#readCounts(),
      () => this.#readLabels(),
    );
  }

  spend(): SpendFacts {
    this.asked ??= {};
    this.asked.spend ??= this.#readSpend();
    return this.asked.spend;
  }

  user(): User | null {
    return notingGroups(userOf(this.#request), (groups) => {
      this.asked ??= {};
      this.asked.groups = groups;
    });
  }

  #readCounts(): RunCounts {
    this.asked ??= {};
    this.asked.counts ??= countsOf(this.#gov, this.#run);
    return this.asked.counts;
  }

  #readLabels(): readonly string[] {
    this.asked ??= {};
    this.asked.labels ??= labelsOf(this.#gov, this.#run);
    return this.asked.labels;
  }

  #readSpend(): SpendFacts {
    const found = spendFacts(this.#gov, this.agent.id);
    return this.#isAlone ? { ...found, global: found.org } : found;
  }
}

/** The user, whose groups the log keeps only if a condition has asked for them. */
export function notingGroups(user: User | null, note: (groups: readonly string[]) => void): User | null {
  return user === null ? null : new NotedUser(user, note);
}

/** What was counted in a run so far. */
function countsOf({ runs }: Pick<Balance, 'runs'>, run: InRun): RunCounts {
  const { checks, spentMicros } = runs.of(run);
  return { checks, spent_usd: approximateUsd(spentMicros) };
}

/** The names of the labels that count in a run, in order. */
function labelsOf({ runs }: Pick<Balance, 'runs'>, run: InRun): readonly string[] {
  return namesOfLabels(runs.labels.in(run));
}

/** What happened in a run so far. Each part is read when it is asked for, so that nothing rests on the others. */
export function runFacts(gov: Pick<Balance, 'runs'>, run: InRun, id: string): RunFacts {
  return new RunInParts(
    id,
    () => countsOf(gov, run),
    () => labelsOf(gov, run),
  );
}

/** What an agent and all tiers above it have spent so far. */
export function spendFacts({ ledger }: Pick<Balance, 'ledger'>, agent: AgentId): SpendFacts {
  const found = { global: nothing, org: nothing, team: nothing, agent: nothing };
  for (const of of tiersOf(agent)) found[of.tier] = spendOf(ledger, of);
  return found;
}

function spendOf(ledger: Balance['ledger'], of: TierOf): PeriodSpend {
  const { spent, reserved } = ledger.read(of);
  return {
    day_usd: approximateUsd(plus(spent.day, reserved)),
    month_usd: approximateUsd(plus(spent.month, reserved)),
  };
}
