import type { Entry } from './log.ts';
import { agentOf, isDecision, opOf } from './log.ts';

/** The most that may be settled and reserved, in micro-dollars, for each budget of a tier. */
export interface Caps {
  readonly global: number;
  readonly org: number;
  readonly team: number;
  readonly agent: number;
}

type Tier = keyof Caps;

interface Sum {
  settled: number;
  reserved: number;
}

/** What the log adds up to. */
export interface Books {
  readonly faults: readonly string[];
  /** By the name of the budget, as `team acme/red`. */
  readonly sums: ReadonlyMap<string, Readonly<Sum>>;
  /** How near any budget of a tier came to its cap: 1 is the cap itself. */
  readonly peaks: Readonly<Record<Tier, number>>;
  /** How many charges were refused for a cap. */
  readonly refusals: number;
}

/** The budgets that a charge of an agent goes to. */
function budgetsOf(agent: string): [Tier, string][] {
  const [org, team] = agent.split('/');
  return [
    ['global', 'global'],
    ['org', `org ${org}`],
    ['team', `team ${org}/${team}`],
    ['agent', `agent ${agent}`],
  ];
}

/** Adds up the log, entry by entry. No sum may pass its cap, and no charge may be refused that would have fitted. */
export function addUp(entries: readonly Entry[], caps: Caps): Books {
  const faults: string[] = [];
  const sums = new Map<string, Sum>();
  const held = new Map<string, number>();
  const peaks = { global: 0, org: 0, team: 0, agent: 0 };
  let refusals = 0;
  const sumOf = (name: string): Sum => {
    const known = sums.get(name) ?? { settled: 0, reserved: 0 };
    sums.set(name, known);
    return known;
  };
  const change = (entry: Entry, reserved: number, settled: number) => {
    for (const [tier, name] of budgetsOf(agentOf(entry))) {
      const sum = sumOf(name);
      sum.reserved += reserved;
      sum.settled += settled;
      const total = sum.reserved + sum.settled;
      peaks[tier] = Math.max(peaks[tier], total / caps[tier]);
      if (total > caps[tier]) faults.push(`entry ${entry.seq}: ${name} is at ${total} of ${caps[tier]}`);
      if (sum.reserved < 0) faults.push(`entry ${entry.seq}: ${name} has released more than it had reserved`);
    }
  };
  for (const entry of entries) {
    const op = opOf(entry);
    const cost = Number(entry.payload['cost_micros'] ?? 0);
    if (isDecision(entry)) {
      if (entry.policy_rule?.startsWith('budget/') === true) {
        refusals++;
        const fits = ([tier, name]: [Tier, string]) => total(sumOf(name)) + cost <= caps[tier];
        if (budgetsOf(agentOf(entry)).every(fits)) faults.push(`entry ${entry.seq}: ${op} was refused, and it fits`);
      }
      if (entry.decision === 'deny' || held.has(op)) continue;
      held.set(op, cost);
      change(entry, cost, 0);
    } else if (entry.event_type === 'OpStateChanged') {
      const { to, reserved_micros } = entry.payload;
      const reserved = held.get(op) ?? 0;
      if (to !== 'completing' && to !== 'terminated') continue;
      held.delete(op);
      if (to === 'completing' && reserved_micros !== reserved) {
        faults.push(`entry ${entry.seq}: ${op} had reserved ${reserved}, and completes ${String(reserved_micros)}`);
      }
      change(entry, -reserved, to === 'completing' ? cost : 0);
    }
  }
  return { faults, sums, peaks, refusals };
}

function total({ settled, reserved }: Sum): number {
  return settled + reserved;
}
