import type { Filter } from '../../ui/filter-bar.tsx';
import type { Budget } from './budget-model.ts';

/** The filters, with the existing orgs and teams. If an org is chosen, only its teams. */
export function budgetFilters(rows: readonly Budget[], org: string | undefined): readonly Filter[] {
  const owned = rows.filter((row) => row.tier !== 'global');
  const within = org === undefined ? owned : owned.filter((row) => (row.org_id ?? '-') === org);
  return [
    { name: 'q', label: 'Search', placeholder: 'Org, team or agent' },
    { name: 'org_id', label: 'Org', choices: choicesOf(owned, 'org_id', 'No org') },
    {
      name: 'team_id',
      label: 'Team',
      choices: choicesOf(
        within.filter((row) => row.tier !== 'org'),
        'team_id',
        'No team',
      ),
    },
  ];
}

const names = new Intl.Collator('en', { numeric: true });

function choicesOf(rows: readonly Budget[], member: 'org_id' | 'team_id', none: string) {
  return [...new Set(rows.map((row) => row[member] ?? '-'))]
    .sort((a, b) => names.compare(a, b))
    .map((value) => ({ value, label: value === '-' ? none : value }));
}
