import { usdToMicros } from '../../api/format.ts';
import type { Answer } from '../../api/send.ts';

export type Budget = Answer<'listBudgets'>['items'][number];
export type Tier = Budget['tier'];
export type Period = Budget['period'];

/** How near a cap is, reservations included. From 80 and 95 percent on it is announced. At 100 nothing more passes. */
export type Level = 'uncapped' | 'fine' | 'near' | 'close' | 'reached';

export interface Usage {
  readonly level: Level;
  /** Whole percent of the cap, rounded down so that 100 means reached. Undefined without a cap. */
  readonly percent: number | undefined;
  /** Parts of the bar's width in percent. Their sum never exceeds 100. */
  readonly spentWidth: number;
  readonly reservedWidth: number;
}

/** How much of a cap is used, computed in micro-dollars. */
export function usageOf({
  spent_usd,
  reserved_usd,
  limit_usd,
}: Pick<Budget, 'spent_usd' | 'reserved_usd' | 'limit_usd'>): Usage {
  const limit = limit_usd === null ? undefined : usdToMicros(limit_usd);
  const spent = usdToMicros(spent_usd) ?? 0n;
  const reserved = usdToMicros(reserved_usd) ?? 0n;
  if (limit === undefined) return { level: 'uncapped', percent: undefined, spentWidth: 0, reservedWidth: 0 };
  // A cap of zero is reached from the start.
  if (limit === 0n) return { level: 'reached', percent: 100, spentWidth: 100, reservedWidth: 0 };
  const percent = Number(((spent + reserved) * 100n) / limit);
  const spentWidth = width(spent, limit);
  return {
    level: levelOf(percent),
    percent,
    spentWidth,
    reservedWidth: Math.min(width(reserved, limit), 100 - spentWidth),
  };
}

function levelOf(percent: number): Level {
  if (percent >= 100) return 'reached';
  if (percent >= 95) return 'close';
  return percent >= 80 ? 'near' : 'fine';
}

/** In hundredths of a percent, so that a small part still shows. */
function width(part: bigint, whole: bigint): number {
  return Math.min(100, Number((part * 10_000n) / whole) / 100);
}

export type Owner = Pick<Budget, 'tier' | 'org_id' | 'team_id' | 'agent_id'>;

/** The owner of a budget, in URL form: `*`, `acme`, `acme/core`, `acme/core/bot`, with `-` for an empty part. */
export function budgetKey({ tier, org_id, team_id, agent_id }: Owner): string {
  const parts = [org_id ?? '-', team_id ?? '-', agent_id ?? '-'];
  return tier === 'global' ? '*' : parts.slice(0, depthOf[tier]).join('/');
}

const depthOf: Readonly<Record<Tier, number>> = { global: 0, org: 1, team: 2, agent: 3 };

export function parseBudgetKey(key: string): Owner | undefined {
  if (key === '*') return { tier: 'global', org_id: null, team_id: null, agent_id: null };
  const parts = key.split('/');
  const tier = ([undefined, 'org', 'team', 'agent'] as const)[parts.length];
  if (tier === undefined || parts.includes('')) return undefined;
  const [org, team, agent] = parts.map((each) => (each === '-' ? null : each));
  return { tier, org_id: org ?? null, team_id: team ?? null, agent_id: agent ?? null };
}

/** The short name, since the place in the tree says the rest. */
export function budgetName({ tier, org_id, team_id, agent_id }: Owner): string {
  if (tier === 'global') return 'Everybody';
  return { org: org_id, team: team_id, agent: agent_id }[tier] ?? `No ${tier}`;
}

export const tierNames: Readonly<Record<Tier, string>> = {
  global: 'Gateway',
  org: 'Org',
  team: 'Team',
  agent: 'Agent',
};

/** A period of budgets, or the last seven days, for which there is no cap. */
export type Span = Period | 'week';

export const spanNames: Readonly<Record<Span, string>> = {
  day: 'Today',
  week: 'Last 7 days',
  month: 'This month',
};
