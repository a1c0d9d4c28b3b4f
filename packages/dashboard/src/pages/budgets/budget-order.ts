import { usdToMicros } from '../../api/format.ts';
import type { Budget } from './budget-model.ts';
import { budgetKey, usageOf } from './budget-model.ts';
import type { BudgetFilter, BudgetLine, BudgetNode } from './budget-tree.ts';
import { filterTree } from './budget-tree.ts';

export const budgetSorts = ['used', 'spent', 'reserved', 'cap'] as const;
export type BudgetSort = (typeof budgetSorts)[number];
/** A leading `-` puts the greatest first. */
export type BudgetOrder = BudgetSort | `-${BudgetSort}`;

/** The order after a click on a header: the greatest first, the least first, and back to the tree. */
export function nextOrder(current: BudgetOrder | undefined, sort: BudgetSort): BudgetOrder | undefined {
  return current === `-${sort}` ? sort : current === sort ? undefined : `-${sort}`;
}

/** The agents in order, in place of the tree: who spends most is seen at once. What has no cap comes last. */
export function orderedAgents(rows: readonly Budget[], order: BudgetOrder, filter: BudgetFilter): BudgetLine[] {
  const isDown = order.startsWith('-');
  const sort = (isDown ? order.slice(1) : order) as BudgetSort;
  return rows
    .filter(({ tier }) => tier === 'agent')
    .map(nodeOf)
    .filter((node) => filterTree([node], filter).length > 0)
    .map((node) => ({ node, value: valueOf(node.budget, sort) }))
    .sort((a, b) => {
      if (a.value === undefined || b.value === undefined) {
        return Number(a.value === undefined) - Number(b.value === undefined) || (a.node.key < b.node.key ? -1 : 1);
      }
      if (a.value === b.value) return a.node.key < b.node.key ? -1 : 1;
      return a.value < b.value === isDown ? 1 : -1;
    })
    .map(({ node }) => ({ kind: 'budget', key: node.key, node, level: 0, isOpen: undefined }));
}

function nodeOf(budget: Budget): BudgetNode & { readonly budget: Budget } {
  const key = budgetKey(budget);
  return { key, tier: 'agent', name: key, budget, children: [] };
}

function valueOf(budget: Budget, sort: BudgetSort): bigint | number | undefined {
  if (sort === 'used') return usageOf(budget).percent;
  if (sort === 'cap') return budget.limit_usd === null ? undefined : usdToMicros(budget.limit_usd);
  return usdToMicros(sort === 'spent' ? budget.spent_usd : budget.reserved_usd);
}
