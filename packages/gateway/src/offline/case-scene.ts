import type { Asking, CheckRequest, ConsideredRule, Decision, Facts, PolicySet, SpendFacts, Total } from '@reeve/core';
import type { Charge, LabelsGiven, Micros, Verdict } from '@reeve/core';
import {
  approximateUsd,
  chargeOf,
  considerCall,
  Evaluation,
  giveLabels,
  judgeCall,
  limitTold,
  Ledger,
  microsOfUsd,
  plus,
  RateCounters,
  rateKey,
  RunRegistry,
  subjectOf,
  tiersOf,
  totalJson,
  waitOf,
  weighBudgets,
  weighRates,
  restoring,
} from '@reeve/core';
import { sha256 } from '../adapters/crypto/node-crypto.ts';
import type { CaseAgent, CaseRequest, EarlierRequest, PolicyCase } from './policy-case.ts';
import { checkRequestOf } from './read-cases.ts';

export interface CaseAnswer {
  readonly decision: Decision;
  readonly rule: string;
  readonly reason: string;
  readonly reserved_micros: number;
  readonly audited: string;
  /** The cap that refused the request. */
  readonly limit: Readonly<Record<string, unknown>> | null;
  readonly observed: readonly unknown[];
  /** The terms of the approval. */
  readonly approvals: Readonly<Record<string, unknown>> | null;
  /** What rules make of the arguments; null if nothing. */
  readonly rewritten_args: unknown;
}

export interface Judged {
  readonly answer: CaseAnswer;
  readonly rules: readonly ConsideredRule[];
}

/** Monday at noon: a case without a time is decided alike on every day. */
const ordinaryTime = Date.UTC(2026, 0, 5, 12);
const nobody: CaseAgent = { name: '', framework: '', depth: 0, metadata: {} };
/** A case has no settings. If rules leave the time open, the default of SVC_APPROVAL_TTL_SECS applies. */
const usualWait = 300_000;

/** The balances and runs that a gateway with these policies would have at the time of a case, and its answers. */
export class CaseScene {
  readonly #set: PolicySet;
  readonly #case: PolicyCase;
  /** The most that one action may cost. */
  readonly #mostMicros: number;
  readonly #runs = new RunRegistry(Number.POSITIVE_INFINITY);
  readonly #ledger: Ledger;
  readonly #rates = new RateCounters();
  #now: number;

  constructor(set: PolicySet, one: PolicyCase, mostMicros: number) {
    this.#set = set;
    this.#mostMicros = mostMicros;
    this.#case = one;
    this.#now = one.before[0]?.at ?? one.at ?? ordinaryTime;
    this.#ledger = new Ledger({ now: () => this.#now, elapsed: () => 0 }, set.budgets);
    for (const of of tiersOf(one.agent)) {
      const spent = one.spend[of.tier];
      if (spent === undefined) continue;
      this.#ledger.balances.put({
        of,
        spent: { day: microsOfUsd(spent.day_usd) ?? 0, month: microsOfUsd(spent.month_usd) ?? 0 },
        window: { day: this.#ledger.window('day').id, month: this.#ledger.window('month').id },
        noticed: { day: 0, month: 0 },
        seq: 0,
      });
    }
  }

  /** Replays what came before; returns the first answer that differs from the case. */
  goThrough(): string | undefined {
    for (const [at, earlier] of this.#case.before.entries()) {
      for (let time = 0; time < earlier.times; time++) {
        const { decision, reason } = this.#goThrough(earlier);
        if (decision === earlier.decision) continue;
        return `what came before (the ${at + 1}. of it) was answered ${decision}, not ${earlier.decision}: ${reason}`;
      }
    }
    return undefined;
  }

  #goThrough(earlier: EarlierRequest): CaseAnswer {
    const { answer } = this.ask(earlier);
    if (earlier.settledMicros !== undefined && answer.decision === 'allow') {
      this.#ledger.balances.reserve(tiersOf(earlier.agent), -answer.reserved_micros);
      this.#ledger.balances.settle(tiersOf(earlier.agent), earlier.settledMicros, this.#ledger.bookedTo);
    }
    return answer;
  }

  ask(asked: CaseRequest): Judged {
    this.#now = asked.at ?? this.#now;
    const request = checkRequestOf(asked, this.#mostMicros);
    const charge = chargeOf(this.#set, request);
    const facts = this.#facts(asked, request, charge.micros ?? 0);
    const evaluation = new Evaluation(subjectOf(asked.action, facts.user()));
    const judged = judgeCall(this.#set, request, { agent: { record: facts.agent }, facts }, [], evaluation);
    const { own, strictest, rewritten, parties } = judged;
    const observed = this.#set.observe(asked.agent, asked.action, facts, evaluation, strictest.effect);
    const weighed = this.#weigh(asked, { ...strictest, rates: own.rates ?? [], observed: observed ?? [] }, charge);
    const answer = { ...weighed, rewritten_args: rewritten?.request.args ?? null };
    if (answer.decision !== 'deny') this.#count(asked, own);
    const asRewritten = parties.map((party) => party.facts).find((each) => each !== facts);
    const rules = considerCall(this.#set, asked.agent, facts, asRewritten);
    if (answer.reserved_micros > 0) this.#ledger.balances.reserve(tiersOf(asked.agent), answer.reserved_micros);
    this.#countRun(asked, answer);
    if (answer.decision === 'allow') this.#label(asked, asRewritten ?? facts);
    return { answer, rules };
  }

  #weigh(asked: CaseRequest, verdict: Verdict, charge: Charge): Omit<CaseAnswer, 'rewritten_args'> {
    const world = { ledger: this.#ledger, mostActionMicros: this.#mostMicros };
    const request = { agentId: asked.agent, action: asked.action };
    const caps = {
      policy: this.#ledger.policy,
      exceededBy: (cost: Micros) => this.#ledger.exceededBy(tiersOf(asked.agent), cost),
    };
    const weighed = weighBudgets(world, caps, request, verdict, charge);
    const refusal = weighRates({ rates: this.#rates, sha256 }, asked.agent, verdict, this.#now);
    const none = { exceeded: undefined, asking: undefined };
    const { decision, reason, policyRule, exceeded, asking } =
      refusal === undefined ? weighed : { ...refusal, ...none, decision: 'deny' as const };
    const isRefusedByCap = decision === 'deny' && exceeded !== undefined;
    return {
      decision,
      rule: policyRule,
      reason,
      reserved_micros: decision === 'deny' ? 0 : (charge.micros ?? 0),
      audited: isRefusedByCap ? 'BudgetLimitExceeded' : auditedAs[decision],
      limit: isRefusedByCap ? limitJson(limitTold(exceeded, asked.agent)) : null,
      observed: (verdict.observed ?? []).map(({ rule, effect }) => ({ rule, effect })),
      approvals: decision === 'pending' ? termsOf(asking) : null,
    };
  }

  #count({ agent }: CaseRequest, { rates = [] }: Verdict): void {
    const counted = rates.map((rate) => rateKey(rate, sha256));
    this.#rates.apply({ kind: 'rates_counted', agent, at: this.#now, counted }, restoring);
  }

  #countRun({ agent, runId }: CaseRequest, { decision, reserved_micros: reservedMicros }: CaseAnswer): void {
    const state = decision === 'deny' ? 'terminated' : 'running';
    const run = { agent, runId, delegators: [], updatedAt: this.#now };
    this.#runs.count({ op: { ...run, state, digest: 'any', costMicros: 0, reservedMicros }, checked: true }, restoring);
  }

  /** What is held for people gives its labels when they approve, which no case does. */
  #label(asked: CaseRequest, facts: Facts): void {
    const evaluation = new Evaluation(subjectOf(asked.action, facts.user()));
    const owed = this.#set.labelsOf(asked.agent, facts.action, facts, evaluation);
    const journal = { apply: (fact: LabelsGiven) => this.#runs.give(fact) };
    giveLabels({ journal, runs: this.#runs }, { ...runOf(asked), opId: 'case:case' }, owed, this.#now);
  }

  #facts(asked: CaseRequest, request: Pick<CheckRequest, 'args' | 'annotations'>, chargeMicros: number): Facts {
    const { name, framework, depth, metadata } = asked === this.#case ? this.#case.registered : nobody;
    return {
      agent: {
        id: asked.agent,
        name,
        framework,
        metadata,
        tokenHash: null,
        version: '',
        parent: null,
        toolNames: [],
        registeredAt: this.#now,
        registeredWith: [],
        suspension: null,
        controlled: false,
      },
      depth,
      action: asked.action,
      now: this.#now,
      costUsd: approximateUsd(chargeMicros),
      args: () => request.args ?? {},
      annotations: () => request.annotations ?? {},
      run: () => {
        const run = runOf(asked);
        const { checks, spentMicros } = this.#runs.of(run);
        const labels = [...new Set(this.#runs.labels.in(run).map(({ name }) => name))].toSorted();
        const said = asked === this.#case ? this.#case.run : {};
        return { id: asked.runId, checks, spent_usd: approximateUsd(spentMicros), labels, ...said };
      },
      spend: () => this.#spend(asked),
      user: () => asked.user,
    };
  }

  #spend({ agent }: CaseRequest): SpendFacts {
    const nothing = { day_usd: 0, month_usd: 0 };
    const spend = { global: nothing, org: nothing, team: nothing, agent: nothing };
    for (const of of tiersOf(agent)) {
      const { spent, reserved } = this.#ledger.read(of);
      const usd = (total: Total) => approximateUsd(plus(total, reserved));
      spend[of.tier] = { day_usd: usd(spent.day), month_usd: usd(spent.month) };
    }
    return spend;
  }
}

function runOf({ agent, runId }: CaseRequest) {
  return { agent, runId, delegators: [] };
}

const auditedAs: Readonly<Record<Decision, string>> = {
  allow: 'ActionAllowed',
  deny: 'ActionDenied',
  pending: 'ActionPending',
};

function limitJson({ tier, period, limitMicros, totalMicros }: ReturnType<typeof limitTold>) {
  const spent = totalJson(totalMicros);
  return { tier, period, limit_micros: limitMicros, spent_micros: spent, status: 'LimitExceeded' };
}

function termsOf(asking: Asking | undefined): Readonly<Record<string, unknown>> {
  const { rules = [], count = 1, grants = false } = asking ?? {};
  return { rules: [...rules], count, ttl_secs: waitOf(asking, usualWait) / 1000, grants };
}
