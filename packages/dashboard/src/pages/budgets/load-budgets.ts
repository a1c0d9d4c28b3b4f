import { callRoute } from '../../api/call.ts';
import type { RequestOf } from '../../api/send.ts';
import type { Budget, Owner } from './budget-model.ts';

interface Some {
  readonly items: readonly Budget[];
  readonly total: number;
}

type Query = NonNullable<RequestOf<'listBudgets'>['query']>;

const perPage = 1000;

/** Reads pages until there are enough rows, or no more. */
export async function loadBudgets(query: Query, atMost: number, signal: AbortSignal): Promise<Some> {
  const items: Budget[] = [];
  let cursor: string | undefined;
  for (;;) {
    const page = await callRoute(
      'listBudgets',
      {
        query: {
          ...query,
          per_page: Math.min(perPage, atMost - items.length),
          ...(cursor === undefined ? {} : { cursor }),
        },
      },
      { signal },
    );
    items.push(...page.items);
    if (page.next_cursor === null || items.length >= atMost) return { items, total: page.total };
    cursor = page.next_cursor;
  }
}

/** The ids that a tier has. An empty org or team counts, too. */
export function ownerQuery({ tier, org_id, team_id, agent_id }: Owner) {
  if (tier === 'global') return {};
  const org = { org_id: org_id ?? '' };
  if (tier === 'org') return org;
  const team = { ...org, team_id: team_id ?? '' };
  return tier === 'team' ? team : { ...team, agent_id: agent_id ?? '' };
}
