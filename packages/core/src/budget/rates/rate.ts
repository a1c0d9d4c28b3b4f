import type { AgentId, EpochMs, Sha256 } from '../../kernel/index.ts';
import type { BudgetTier, TierOf } from '../tier.ts';
import { tierKey, tiersOf } from '../tier.ts';

/** How many checks each subject may make in a window, as a document says it. */
export interface Rate {
  /** `<document>/rate-<index>` */
  readonly id: string;
  /** Whose checks are counted together: the tier that the rate names, within the scope of its document. */
  readonly tier: BudgetTier;
  readonly windowSecs: number;
  readonly max: number;
  /** What distinguishes the checks that it counts from those of other rates. Its place and its maximum do not. */
  readonly counts: string;
}

/** Names what is counted, as facts and the log do: `<tier>.<seconds>.<digest>`. It does not say for whom. */
export type RateKey = string;

/** Each rate gets its key once. */
const keys = new WeakMap<Rate, RateKey>();

export function rateKey(rate: Rate, sha256: Sha256): RateKey {
  const known = keys.get(rate) ?? `${rate.tier}.${rate.windowSecs}.${sha256(rate.counts).slice(0, 24)}`;
  keys.set(rate, known);
  return known;
}

const keyForm = /^(global|org|team|agent)\.([1-9]\d{0,5})\.[0-9a-f]{24}$/;

/** What a key says; undefined if it is none. */
export function readRateKey(key: RateKey): { readonly tier: BudgetTier; readonly windowMs: number } | undefined {
  const [, tier, secs] = keyForm.exec(key) ?? [];
  return tier === undefined ? undefined : { tier: tier as BudgetTier, windowMs: Number(secs) * 1000 };
}

/** Whose counter it is for an agent. Undefined if the agent has no such tier: without an org there is no org's. */
export function subjectOf(agent: AgentId, tier: BudgetTier): TierOf | undefined {
  return tiersOf(agent).find((of) => of.tier === tier);
}

/** The name of a counter: the tenant, and what is counted. */
export function counterName(of: TierOf, key: RateKey): string {
  return `${tierKey(of)}#${key}`;
}

/** A rate that leaves no room. */
export interface RateExceeded {
  readonly rate: Rate;
  readonly of: TierOf;
  readonly count: number;
  /** When the next check fits, if no other comes first. */
  readonly roomAt: EpochMs;
}

/** A share of a rate that is used up, and that nobody was told of in this window. */
export interface RateApproached {
  readonly rate: Rate;
  readonly key: RateKey;
  readonly of: TierOf;
  readonly percent: number;
  readonly count: number;
}
