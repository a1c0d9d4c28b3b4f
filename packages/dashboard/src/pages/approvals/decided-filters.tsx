import { Button } from '../../ui/button.tsx';
import { FilterBar } from '../../ui/filter-bar.tsx';
import { localOf, moment } from '../audit/audit-search.ts';
import type { ApprovalsSearch } from './approvals-search.ts';
import { verdictStates } from './approvals-search.ts';
import type { Days } from './days.ts';
import { spanOf } from './days.ts';

const labels = {
  decided: 'Approved or rejected',
  approved: 'Approved',
  rejected: 'Rejected',
  expired: 'Expired',
  cancelled: 'Cancelled',
} as const;

const filters = [
  { name: 'verdict', label: 'Verdict', choices: verdictStates.map((value) => ({ value, label: labels[value] })) },
  { name: 'decided_by', label: 'By', placeholder: 'Email or key' },
  { name: 'from', label: 'From', type: 'datetime-local' as const },
  { name: 'to', label: 'To', type: 'datetime-local' as const },
];

const dayNames: readonly (readonly [days: Days, label: string])[] = [
  ['today', 'Today'],
  ['yesterday', 'Yesterday'],
  ['week', 'Last 7 days'],
];

interface DecidedFiltersProps {
  readonly search: ApprovalsSearch;
  readonly onChange: (changed: Partial<ApprovalsSearch>) => void;
}

/** Who decided what, and when. The time fields use the viewer's zone; the URL does not. */
export function DecidedFilters({ search, onChange }: DecidedFiltersProps) {
  const values = { ...search, from: localOf(search.from), to: localOf(search.to) };
  return (
    <FilterBar
      filters={filters}
      values={values}
      onChange={(changed) => {
        const times = Object.entries(changed).filter(([name]) => name === 'from' || name === 'to');
        onChange({ ...changed, ...Object.fromEntries(times.map(([name, value]) => [name, moment(value)])) });
      }}
    >
      {dayNames.map(([days, label]) => (
        <Button key={label} size="small" onClick={() => onChange(spanOf(days, new Date()))}>
          {label}
        </Button>
      ))}
    </FilterBar>
  );
}
