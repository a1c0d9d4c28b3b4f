import type { ActionType } from '../action/index.ts';
import type { BudgetTier, Rate } from '../budget/index.ts';
import type { AgentId } from '../kernel/index.ts';
import type { Evaluation } from './condition.ts';
import type { PolicyDocument, PolicyRate, PolicyScope } from './document.ts';
import { describeScope } from './document.ts';
import { scopesAbove } from './scopes-above.ts';
import { rateName } from './parse-rates.ts';
import { priceOfGlob, priceOfRule } from './rule-matching.ts';
import { textsOf } from './subject.ts';

/** How many rates may count one check. It is denied if there are more. */
export const mostRatesOfCheck = 100;

/** A rate in force, with what it counts. */
export interface RateInForce extends Rate {
  readonly rate: PolicyRate;
  readonly scope: PolicyScope;
  readonly document: string;
}

/** The rates of all enforced documents, by scope. */
export class RatesInForce {
  readonly all: readonly RateInForce[];
  readonly #byScope: ReadonlyMap<string, readonly RateInForce[]>;

  constructor(documents: readonly PolicyDocument[]) {
    this.all = documents.flatMap(ratesOf);
    this.#byScope = Map.groupBy(this.all, ({ scope }) => describeScope(scope));
  }

  /** Those that count an action, the widest scope first. One that costs too much to judge counts it. */
  of(scopes: readonly string[], type: ActionType, evaluation: Evaluation): readonly RateInForce[] {
    if (this.all.length === 0) return none;
    const found: RateInForce[] = [];
    for (const scope of scopes) {
      for (const rate of this.#byScope.get(scope) ?? none) {
        if (!counts(rate.rate, type, evaluation)) continue;
        found.push(rate);
        if (found.length > mostRatesOfCheck) return found;
      }
    }
    return found;
  }

  /** Those that may count actions of an agent, as many as may count one. */
  ofAgent(agent: AgentId): readonly RateInForce[] {
    if (this.all.length === 0) return none;
    return scopesAbove(agent)
      .flatMap((scope) => this.ofScope(scope))
      .slice(0, mostRatesOfCheck);
  }

  /** Those of the documents of one scope. */
  ofScope(scope: string): readonly RateInForce[] {
    return this.#byScope.get(scope) ?? none;
  }
}

const none: readonly RateInForce[] = [];

/** Documents never change, so each gets its rates once. */
const known = new WeakMap<PolicyDocument, readonly RateInForce[]>();

function ratesOf(document: PolicyDocument): readonly RateInForce[] {
  const { name, scope, rates } = document;
  if (rates === undefined) return none;
  const made =
    known.get(document) ??
    rates.map((rate, index): RateInForce => {
      const tier = narrower(rate.per, scope.tier);
      const { windowSecs, max, actions, tools } = rate;
      const counted = [
        actions === undefined ? null : [...actions].toSorted(),
        tools?.map(({ source }) => source) ?? null,
      ];
      return {
        id: `${name}/${rateName(index)}`,
        tier,
        windowSecs,
        max,
        counts: JSON.stringify([name, ...counted]),
        rate,
        scope,
        document: name,
      };
    });
  known.set(document, made);
  return made;
}

const widestFirst: readonly BudgetTier[] = ['global', 'org', 'team', 'agent'];

/** A document counts nothing outside its scope: all of an org together is at most the team that it is for. */
function narrower(per: BudgetTier, scope: BudgetTier): BudgetTier {
  return widestFirst.indexOf(per) > widestFirst.indexOf(scope) ? per : scope;
}

function counts({ actions, tools }: PolicyRate, type: ActionType, evaluation: Evaluation): boolean {
  const { subject, charge } = evaluation;
  try {
    charge(priceOfRule);
    if (actions !== undefined && !actions.has(type)) return false;
    if (tools === undefined) return true;
    return textsOf(subject, 'tools').some((text) =>
      tools.some((glob) => {
        charge(priceOfGlob);
        return glob.matches(text, charge);
      }),
    );
  } catch {
    return true;
  }
}
