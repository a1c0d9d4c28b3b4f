import type { CheckRequest } from '../action/index.ts';
import { tiersOf } from '../budget/index.ts';
import type { Glob, Micros } from '../kernel/index.ts';
import { compileGlob, minus, plus, usdOfMicros } from '../kernel/index.ts';
import { noDelegators } from '../ops/index.ts';
import type { Evaluation, Verdict } from '../policy/index.ts';
import { jointly, strength } from '../policy/index.ts';
import type { Agent, Link } from '../tenancy/index.ts';
import { linksOf, unreadBehind, usedBy, usedUp } from '../tenancy/index.ts';
import type { Decisions } from './decisions.ts';

/** The rule of a check that the limits of a delegation refuse. */
export const delegationRule = 'delegation';

/** The ids of those on whose behalf an agent acts, the nearest first. */
export function delegatorsIn(links: readonly Link[]): readonly string[] {
  return links.length === 0 ? noDelegators : links.map(({ delegation }) => delegation.by);
}

/** Those above an agent, the nearest first. Whoever is identified has them all. */
export function agentsAbove(links: readonly Link[]): readonly Agent[] {
  return links.length === 0 ? nobody : links.flatMap(({ delegator }) => (delegator === undefined ? [] : [delegator]));
}

const nobody: readonly Agent[] = [];

/** All whose rules and controls count for an agent: its own, and those of everybody above it. */
export function agentAndAbove(agent: Agent, links: readonly Link[]): readonly Agent[] {
  return [agent, ...agentsAbove(links)];
}

/** One check more of each delegation above. */
export function countCheck({ journal }: Pick<Decisions, 'journal'>, links: readonly Link[]): void {
  for (const { delegation } of links) {
    journal.apply({ kind: 'delegation_used', delegation: usedBy(delegation, { checks: 1, settledMicros: 0 }) });
  }
}

/**
 * A check that is refused before policy counts as well, once the delegate has proven who it is. Where none is left, it
 * counts nowhere; nor where somebody above could not be read in full, because this gateway does not know how many there
 * were. Returns what its entry says of that.
 */
export function countRefused(
  gov: Pick<Decisions, 'journal' | 'directory'>,
  agent: Agent,
): { readonly delegators?: readonly string[] } {
  const links = linksOf(gov.directory, agent);
  if (links.length === 0 || unreadBehind(gov.directory, agent) !== undefined) return {};
  if (usedUp(links) === undefined) countCheck(gov, links);
  return { delegators: delegatorsIn(links) };
}

/** Why a delegation refuses a check. */
export interface DelegationRefusal {
  readonly reason: string;
  /** It has no checks left. What does not fit counts nowhere, as a charge that does not. */
  readonly isUncounted?: true;
}

/** Holds a check against the lists and the number of checks of every delegation above. */
export function refuseByDelegation(
  links: readonly Link[],
  { action, floor }: Pick<CheckRequest, 'action' | 'floor'>,
  evaluation: Evaluation,
): DelegationRefusal | undefined {
  const reason = usedUp(links);
  if (reason !== undefined) return { reason, isUncounted: true };
  const [nearest] = links;
  if (floor && nearest !== undefined) return { reason: `${nameOf(nearest)} does not cover a floor` };
  for (const link of links) {
    const { actions, tools } = link.delegation;
    if (actions.length > 0 && !actions.includes(action.type)) {
      return { reason: `${nameOf(link)} does not cover ${action.type}` };
    }
    if (action.type === 'tool_call' && tools.length > 0 && !matches(tools, action.tool, evaluation)) {
      return { reason: `${nameOf(link)} does not cover this tool` };
    }
  }
  return undefined;
}

/** Whether some delegation above covers no call of a tool. */
export function coversNot(links: readonly Link[], tool: string, evaluation: Evaluation): boolean {
  return links.some(({ delegation: { actions, tools } }) => {
    if (actions.length > 0 && !actions.includes('tool_call')) return true;
    return tools.length > 0 && !matches(tools, tool, evaluation);
  });
}

/** Holds a charge against what every delegation above may cost. What is in flight is reserved in the agent's tier. */
export function refuseCost({ ledger }: Decisions, links: readonly Link[], cost: Micros): string | undefined {
  if (cost === 0) return undefined;
  for (const link of links) {
    const { maxCostMicros, settledMicros } = link.delegation;
    if (maxCostMicros === null) continue;
    const tier = tiersOf(link.delegate.record.id).at(-1);
    const used = plus(settledMicros, tier === undefined ? 0 : ledger.read(tier).reserved);
    if (plus(used, cost) <= maxCostMicros) continue;
    const left = used < maxCostMicros ? minus(maxCostMicros, used) : 0;
    const [most, rest] = [usdOfMicros(maxCostMicros), usdOfMicros(left)];
    return `${usdOfMicros(cost)} USD would pass the ${most} USD that ${nameOf(link)} allows; ${rest} USD are left`;
  }
  return undefined;
}

/** The strictest of several verdicts: the agent's own, then those on each delegator. Their terms of approval add up. */
export function strictestOf(
  own: Verdict,
  above: readonly { readonly agent: Pick<Agent, 'record'>; readonly verdict: Verdict }[],
): Verdict {
  let strictest = own;
  for (const { agent, verdict } of above) {
    if (strength[verdict.effect] <= strength[strictest.effect]) continue;
    const reason = `on behalf of "${agent.record.id.agentId}": ${verdict.reason}`;
    strictest = { ...verdict, reason };
  }
  if (strictest.effect !== 'require_approval') return strictest;
  const asking = [own, ...above.map(({ verdict }) => verdict)].flatMap((verdict) => verdict.asking ?? []);
  return { ...strictest, asking: jointly(asking) };
}

function nameOf({ delegation: { id, by } }: Link): string {
  return `the delegation of "${id.agentId}" by "${by}"`;
}

/** Terms never change, so their globs are compiled once. */
const compiled = new WeakMap<readonly string[], readonly Glob[]>();

function matches(tools: readonly string[], tool: string, evaluation: Evaluation): boolean {
  const globs = compiled.get(tools) ?? tools.map((glob) => compileGlob(glob));
  compiled.set(tools, globs);
  try {
    return globs.some((glob) => glob.matches(tool, evaluation.charge));
  } catch {
    // They cost more than one decision may.
    return false;
  }
}
