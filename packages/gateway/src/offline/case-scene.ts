import type { CheckRequest, Facts, PolicySet, SpendFacts, Total } from '@reeve/core';
import type { Charge, LabelsGiven, Micros, OwedLabel, RewrittenCall, Verdict } from '@reeve/core';
import {
  approximateUsd,
  asLogged,
  chargeOf,
  considerCall,
  Evaluation,
  giveLabels,
  judgeCall,
  judgeSupposed,
  labelsOfCall,
  limitTold,
  Ledger,
  microsOfUsd,
  notingGroups,
  plus,
  RateCounters,
  rateKey,
  resultDutyOf,
  RunRegistry,
  subjectOf,
  tiersOf,
  weighBudgets,
  weighRates,
  restoring,
} from '@reeve/core';
import { sha256 } from '../adapters/crypto/node-crypto.ts';
import type { CaseAnswer, Judged, Weighed } from './case-answer.ts';
import { auditedAs, limitJson, namesOf, resultJson, termsOf } from './case-answer.ts';
import type { CaseAgent, CaseRequest, EarlierRequest, PolicyCase } from './policy-case.ts';
import { checkRequestOf } from './read-cases.ts';

/** What a scene knows of a call once it is judged. */
interface MadeCall {
  readonly request: CheckRequest;
  readonly facts: Facts;
  /** The groups of the user, if a condition has asked for them. */
  readonly groups: readonly string[] | undefined;
  readonly costMicros: number;
  readonly rewritten: RewrittenCall | undefined;
  readonly labels: readonly OwedLabel[];
}

/** Monday at noon: a case without a time is decided alike on every day. */
const ordinaryTime = Date.UTC(2026, 0, 5, 12);
const nobody: CaseAgent = { name: '', framework: '', depth: 0, metadata: {} };

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
    let groups: readonly string[] | undefined;
    const user = notingGroups(asked.user, (read) => (groups = read));
    const facts = this.#facts({ ...asked, user }, request, charge.micros ?? 0, asked === this.#case);
    const evaluation = new Evaluation(subjectOf(asked.action, facts.user()));
    const judged = judgeCall(this.#set, request, { agent: { record: facts.agent }, facts }, [], evaluation);
    const { own, strictest, rewritten, parties } = judged;
    const observed = this.#set.observe(asked.agent, asked.action, facts, evaluation, strictest.effect);
    const weighed = this.#weigh(asked, { ...strictest, rates: own.rates ?? [], observed: observed ?? [] }, charge);
    const isDenied = weighed.decision === 'deny';
    if (!isDenied) this.#count(asked, own);
    const asRewritten = parties.map((party) => party.facts).find((each) => each !== facts);
    const rules = considerCall(this.#set, asked.agent, facts, asRewritten);
    if (weighed.reserved_micros > 0) this.#ledger.balances.reserve(tiersOf(asked.agent), weighed.reserved_micros);
    this.#countRun(asked, weighed);
    const labels = isDenied ? [] : labelsOfCall({ policies: this.#set }, parties, evaluation);
    // What is held for people gives its labels when they approve, which no case does.
    if (weighed.decision === 'allow') this.#give(asked, labels);
    const costMicros = charge.micros ?? 0;
    const found = isDenied
      ? undefined
      : this.#bringBack(asked, { request, facts, groups, costMicros, rewritten, labels });
    return {
      answer: {
        ...weighed,
        rewritten_args: rewritten?.request.args ?? null,
        labels: namesOf(labels),
        judge_result: found?.duty != null,
        on_result: found?.result === undefined ? null : resultJson(found.result),
      },
      rules: [...rules, ...(found?.result?.rules ?? [])],
    };
  }

  /** Judges what the call brings back, if the case says that somebody asks. Otherwise rules on results are unjudged at its end. */
  #bringBack(asked: CaseRequest, { request, facts, groups, costMicros, rewritten, labels }: MadeCall) {
    const duty = resultDutyOf(this.#set, [{ record: facts.agent }], asked.action, asked.user);
    if (asked.result === undefined) {
      if ('settledMicros' in asked && asked.settledMicros !== undefined) this.#give(asked, duty?.unjudged ?? []);
      return { duty, result: undefined };
    }
    const depth = facts.depth;
    const made = { at: this.#now, depth, costMicros, asked: groups === undefined ? {} : { groups }, rewritten, sha256 };
    const run = () => ({ ...facts.run(), ...supposedLabels(facts.run().labels, labels) });
    const result = judgeSupposed(
      { policies: this.#set, sha256 },
      {
        text: asked.result,
        call: asLogged(request, made),
        party: { record: facts.agent, depth },
        moment: { now: this.#now, run, spendOf: () => facts.spend() },
      },
    );
    this.#give(asked, result.labels);
    return { duty, result };
  }

  #weigh(asked: CaseRequest, verdict: Verdict, charge: Charge): Weighed {
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

  #countRun({ agent, runId }: CaseRequest, { decision, reserved_micros: reservedMicros }: Weighed): void {
    const state = decision === 'deny' ? 'terminated' : 'running';
    const run = { agent, runId, delegators: [], updatedAt: this.#now };
    this.#runs.count({ op: { ...run, state, digest: 'any', costMicros: 0, reservedMicros }, checked: true }, restoring);
  }

  #give(asked: CaseRequest, owed: readonly OwedLabel[]): void {
    const journal = { apply: (fact: LabelsGiven) => this.#runs.give(fact) };
    giveLabels({ journal, runs: this.#runs }, { ...runOf(asked), opId: 'case:case' }, owed, this.#now);
  }

  #facts(
    asked: CaseRequest,
    request: Pick<CheckRequest, 'args' | 'annotations'>,
    chargeMicros: number,
    isCase: boolean,
  ): Facts {
    const { name, framework, depth, metadata } = isCase ? this.#case.registered : nobody;
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
        const said = isCase ? this.#case.run : {};
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

/** What a case says of its run stands in place of what its run bears, so what the call gives is added. */
function supposedLabels(borne: readonly string[], given: readonly OwedLabel[]): { readonly labels: readonly string[] } {
  return { labels: [...new Set([...borne, ...namesOf(given)])].toSorted() };
}

function runOf({ agent, runId }: CaseRequest) {
  return { agent, runId, delegators: [] };
}
