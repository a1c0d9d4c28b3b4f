import type { ApproverTerms } from './document.ts';
import type { CompiledRule } from './rule-index.ts';

/** The terms of all rules together that ask people about an action: the strictest of each. */
export interface Asking {
  /** `<document>/<rule>`, in order, the reported one first. A long list is cut off. */
  readonly rules: readonly string[];
  /** How many different people must approve. */
  readonly count: number;
  /** The shortest time that a rule names; undefined if none does. */
  readonly ttlSecs: number | undefined;
  /** A rule leaves the time to the gateway, so the gateway's own time counts as well. */
  readonly leavesTime: boolean;
  /** A standing grant may be given. */
  readonly grants: boolean;
  /** An unbound admin may decide about an agent of its own. */
  readonly self: boolean;
  /** Whose verdicts count. All of them must be met; absent if no rule says. */
  readonly by?: readonly ApproverTerms[];
  /** The person for whom the agent acts does not decide. Absent if no rule says so. */
  readonly notUser?: true;
}

/** A grant covers the rules that it knows. If more rules ask than are remembered, no grant is given. */
export const mostRulesRemembered = 64;

/** The strictest terms of all asking rules: the highest count, the shortest time, a grant or an own verdict only if none forbids it. */
export function strictest(rules: readonly CompiledRule[]): Asking {
  let count = 1;
  let ttlSecs: number | undefined;
  let leavesTime = false;
  let grants = rules.length <= mostRulesRemembered;
  let self = true;
  let notUser = false;
  for (const { rule } of rules) {
    const terms = rule.approvals;
    count = Math.max(count, terms?.count ?? 1);
    grants &&= terms?.grants !== false;
    self &&= terms?.self !== false;
    notUser ||= terms?.notUser === true;
    if (terms?.ttlSecs === undefined) leavesTime = true;
    else ttlSecs = Math.min(ttlSecs ?? terms.ttlSecs, terms.ttlSecs);
  }
  const told = rules.slice(0, mostRulesRemembered);
  const by = allOf(rules.flatMap(({ rule }) => rule.approvals?.by ?? []));
  return {
    rules: told.map(({ id }) => id),
    count,
    ttlSecs,
    leavesTime,
    grants,
    self,
    ...(by.length === 0 ? {} : { by }),
    ...(notUser ? { notUser } : {}),
  };
}

/** Nobody meets these. */
const nobody: ApproverTerms = { roles: [] };

/** Each set of terms once. If there are more than are remembered, nobody can meet all of them. */
function allOf(terms: readonly ApproverTerms[]): readonly ApproverTerms[] {
  const all = [...new Map(terms.map((by) => [approverKey(by), by])).values()];
  return all.length <= mostRulesRemembered ? all : [...all.slice(0, mostRulesRemembered), nobody];
}

/** Equal for terms that say the same. */
export function approverKey({ roles, emails }: ApproverTerms): string {
  return JSON.stringify([roles?.toSorted(), emails?.toSorted()]);
}

/** The terms of several that must all be met: the strictest of each. */
export function jointly(all: readonly Asking[]): Asking {
  const rules = [...new Set(all.flatMap((asking) => asking.rules))];
  const times = all.flatMap(({ ttlSecs }) => ttlSecs ?? []);
  const by = allOf(all.flatMap((asking) => asking.by ?? []));
  return {
    rules: rules.slice(0, mostRulesRemembered),
    count: Math.max(1, ...all.map(({ count }) => count)),
    ttlSecs: times.length === 0 ? undefined : Math.min(...times),
    leavesTime: all.some(({ leavesTime }) => leavesTime),
    grants: rules.length <= mostRulesRemembered && all.every(({ grants }) => grants),
    self: all.every(({ self }) => self),
    ...(by.length === 0 ? {} : { by }),
    ...(all.some(({ notUser }) => notUser) ? { notUser: true } : {}),
  };
}

/** The terms if a budget asks as well: its time is the gateway's own, and each excess needs its own approval. */
export function alsoOfBudget(asking: Asking | undefined): Asking | undefined {
  return asking === undefined ? undefined : { ...asking, leavesTime: true, grants: false };
}

/** How long to wait for people. `usual` is the gateway's own time. */
export function waitOf(asking: Pick<Asking, 'ttlSecs' | 'leavesTime'> | undefined, usual: number): number {
  if (asking?.ttlSecs === undefined) return usual;
  const named = asking.ttlSecs * 1000;
  return asking.leavesTime ? Math.min(named, usual) : named;
}

const mostNamed = 5;

/** Why people are asked, naming all rules that ask. */
export function askingReason(rules: readonly CompiledRule[]): string {
  const [first, ...others] = rules;
  if (first === undefined || others.length === 0) return first?.reason ?? '';
  const named = others.slice(0, mostNamed).map(({ id }) => id);
  const more = others.length - named.length;
  return `${first.reason}, and by ${named.join(', ')}${more === 0 ? '' : ` (${more} more)`}`;
}
