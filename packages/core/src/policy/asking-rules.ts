import type { CompiledRule } from './rule-index.ts';

/** What all rules together say that have people asked about an action: of each term the strictest. */
export interface Asking {
  /** `<document>/<rule>`, in order, the reported one first. Of very many, the first. */
  readonly rules: readonly string[];
  /** How many different people must approve. */
  readonly count: number;
  /** The shortest time that one of them names; undefined where none does. */
  readonly ttlSecs: number | undefined;
  /** One of them leaves the time to the gateway, whose own then counts as well. */
  readonly leavesTime: boolean;
  /** A standing grant may be given. */
  readonly grants: boolean;
}

/** A grant covers the rules that it knows. Where more ask than are remembered, none is given. */
export const mostRulesRemembered = 64;

/** The strictest terms of all that ask: the highest count, the shortest time, a grant only if none forbids it. */
export function strictest(rules: readonly CompiledRule[]): Asking {
  let count = 1;
  let ttlSecs: number | undefined;
  let leavesTime = false;
  let grants = rules.length <= mostRulesRemembered;
  for (const { rule } of rules) {
    const terms = rule.approvals;
    count = Math.max(count, terms?.count ?? 1);
    grants &&= terms?.grants !== false;
    if (terms?.ttlSecs === undefined) leavesTime = true;
    else ttlSecs = Math.min(ttlSecs ?? terms.ttlSecs, terms.ttlSecs);
  }
  const told = rules.slice(0, mostRulesRemembered);
  return { rules: told.map(({ id }) => id), count, ttlSecs, leavesTime, grants };
}

/** The same where a budget asks besides: its time is the gateway's own, and what passes a cap is approved once. */
export function alsoOfBudget(asking: Asking | undefined): Asking | undefined {
  return asking === undefined ? undefined : { ...asking, leavesTime: true, grants: false };
}

/** For how long people may be waited for. `usual` is the gateway's own time. */
export function waitOf(asking: Pick<Asking, 'ttlSecs' | 'leavesTime'> | undefined, usual: number): number {
  if (asking?.ttlSecs === undefined) return usual;
  const named = asking.ttlSecs * 1000;
  return asking.leavesTime ? Math.min(named, usual) : named;
}

const mostNamed = 5;

/** Why people are asked, by all rules that do. */
export function askingReason(rules: readonly CompiledRule[]): string {
  const [first, ...others] = rules;
  if (first === undefined || others.length === 0) return first?.reason ?? '';
  const named = others.slice(0, mostNamed).map(({ id }) => id);
  const more = others.length - named.length;
  return `${first.reason}, and by ${named.join(', ')}${more === 0 ? '' : ` (${more} more)`}`;
}
