import type { TopologyAgent } from './topology-model.ts';

type Delegation = NonNullable<TopologyAgent['delegation']>;

/** What a delegate may do at most, and what is used of it. */
export function limitWords({ actions, tools, max_checks, checks, max_cost_usd, spent_usd }: Delegation): string {
  const words = [
    max_checks === null ? [] : [`${checks} of ${max_checks} checks`],
    max_cost_usd === null ? [] : [`$${spent_usd} of $${max_cost_usd}`],
    actions.length === 0 ? [] : [actions.join(', ')],
    tools.length === 0 ? [] : [`tools: ${tools.join(', ')}`],
  ].flat();
  return words.length === 0 ? 'whatever its delegator may do' : words.join(' · ');
}

/** The same for the edge of a graph, where there is little room. */
export function edgeWords({ max_checks, checks, max_cost_usd, spent_usd }: Delegation): string {
  const words = [
    max_checks === null ? [] : [`${checks}/${max_checks}`],
    max_cost_usd === null ? [] : [`$${spent_usd}/$${max_cost_usd}`],
  ].flat();
  return words.length === 0 ? 'acts for' : words.join(' · ');
}
