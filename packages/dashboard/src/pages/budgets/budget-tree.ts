import type { Budget, Tier } from './budget-model.ts';
import { budgetKey, budgetName, usageOf } from './budget-model.ts';

export interface BudgetFilter {
  readonly q?: string | undefined;
  readonly org_id?: string | undefined;
  readonly team_id?: string | undefined;
  /** Only budgets that have used at least 80 percent of their cap. */
  readonly near?: boolean | undefined;
}

export interface BudgetNode {
  readonly key: string;
  readonly tier: Tier;
  readonly name: string;
  /** Undefined for a mere group: agents without an org or team have no such tier. */
  readonly budget: Budget | undefined;
  readonly children: readonly BudgetNode[];
}

/** The content of a line of the tree. */
export type BudgetLine =
  | {
      readonly kind: 'budget';
      readonly key: string;
      readonly node: BudgetNode;
      readonly level: number;
      /** Undefined if there is nothing to open. */
      readonly isOpen: boolean | undefined;
    }
  | {
      readonly kind: 'more';
      readonly key: string;
      readonly team: string;
      readonly level: number;
      readonly left: number;
    }
  | { readonly kind: 'loading'; readonly key: string; readonly team: string; readonly level: number };

/** The tree of everybody, orgs, teams and agents, from the loaded rows. Groups without a row are filled in. */
export function budgetTree(loaded: readonly Budget[]): readonly BudgetNode[] {
  const known = new Map(loaded.map((row) => [budgetKey(row), row]));
  const rows = [...known.values()];
  const agents = Map.groupBy(ofTier(rows, 'agent'), (row) => parentOf(budgetKey(row)));
  const teamKeys = new Set([...ofTier(rows, 'team').map(budgetKey), ...agents.keys()]);
  const teams = Map.groupBy(teamKeys, parentOf);
  const orgKeys = new Set([...ofTier(rows, 'org').map(budgetKey), ...teams.keys()]);
  const node = (tier: Tier, key: string, children: readonly BudgetNode[]): BudgetNode => {
    const budget = known.get(key);
    const [name = ''] = key.split('/').slice(-1);
    return {
      key,
      tier,
      name: budget === undefined ? (name === '-' ? `No ${tier}` : name) : budgetName(budget),
      budget,
      children,
    };
  };
  const orgs = sorted(orgKeys).map((org) =>
    node(
      'org',
      org,
      sorted(teams.get(org) ?? []).map((team) =>
        node(
          'team',
          team,
          sorted((agents.get(team) ?? []).map(budgetKey)).map((agent) => node('agent', agent, [])),
        ),
      ),
    ),
  );
  return known.has('*') ? [node('global', '*', orgs)] : orgs;
}

/** The part of the tree that a filter leaves: matches, and the path to them. */
export function filterTree(nodes: readonly BudgetNode[], filter: BudgetFilter): readonly BudgetNode[] {
  const words = (filter.q ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (node: BudgetNode) => {
    if (filter.near === true && !isNear(node)) return false;
    return node.tier === 'global' ? words.length === 0 : words.every((word) => node.key.toLowerCase().includes(word));
  };
  const visit = (node: BudgetNode): readonly BudgetNode[] => {
    const [org, team] = node.tier === 'global' ? [] : node.key.split('/');
    if (filter.org_id !== undefined && org !== undefined && org !== filter.org_id) return [];
    if (filter.team_id !== undefined && team !== undefined && team !== filter.team_id) return [];
    const children = node.children.flatMap(visit);
    const isWithin = filter.team_id === undefined || team !== undefined;
    return (fits(node) && isWithin) || children.length > 0 ? [{ ...node, children }] : [];
  };
  return nodes.flatMap(visit);
}

function isNear({ budget }: BudgetNode): boolean {
  return budget !== undefined && !['uncapped', 'fine'].includes(usageOf(budget).level);
}

interface Openness {
  readonly isOpen: (key: string) => boolean;
  /** The total number of agents of a team. Undefined while unknown. */
  readonly totalOf: (team: string) => number | undefined;
}

/** The visible lines: everything whose parents are open, and a line for the unloaded agents of a team. */
export function linesOf(nodes: readonly BudgetNode[], { isOpen, totalOf }: Openness): BudgetLine[] {
  const lines: BudgetLine[] = [];
  const visit = (node: BudgetNode, level: number) => {
    const open = node.tier === 'agent' ? undefined : node.tier === 'global' || isOpen(node.key);
    lines.push({ kind: 'budget', key: node.key, node, level, isOpen: node.tier === 'global' ? undefined : open });
    if (open !== true) return;
    for (const child of node.children) visit(child, level + 1);
    if (node.tier !== 'team') return;
    const total = totalOf(node.key);
    if (total === undefined)
      lines.push({ kind: 'loading', key: `${node.key} loading`, team: node.key, level: level + 1 });
    else if (total > node.children.length) {
      const left = total - node.children.length;
      lines.push({ kind: 'more', key: `${node.key} more`, team: node.key, level: level + 1, left });
    }
  };
  for (const node of nodes) visit(node, 0);
  return lines;
}

function ofTier(rows: readonly Budget[], tier: Tier): Budget[] {
  return rows.filter((row) => row.tier === tier);
}

function parentOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/'));
}

const names = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

function sorted(keys: Iterable<string>): string[] {
  // Groups without an org or team come last.
  const isNone = (key: string) => Number(key === '-' || key.endsWith('/-'));
  return [...keys].sort((a, b) => isNone(a) - isNone(b) || names.compare(a, b));
}
