import { auditEventTypes } from '@reeve/contract/audit';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { FilterBar } from '../../ui/filter-bar.tsx';
import type { AuditSearch } from './audit-search.ts';
import { localOf, moment } from './audit-search.ts';

const decisions = [
  { value: 'allow', label: 'Allowed' },
  { value: 'deny', label: 'Denied' },
  { value: 'pending', label: 'Pending' },
];

/** Filters that always show. */
const common = [
  { name: 'q', label: 'Search', placeholder: 'Any text of an entry' },
  { name: 'event_type', label: 'Event', choices: auditEventTypes.map((value) => ({ value, label: value })) },
  { name: 'decision', label: 'Decision', choices: decisions },
  { name: 'org_id', label: 'Org' },
];

const further = [
  { name: 'team_id', label: 'Team' },
  { name: 'agent_id', label: 'Agent' },
  { name: 'op_id', label: 'Operation', placeholder: 'trace:span' },
  { name: 'user', label: 'User', placeholder: 'email or sub' },
  { name: 'from', label: 'From', type: 'datetime-local' as const },
  { name: 'to', label: 'To', type: 'datetime-local' as const },
];

interface AuditFiltersProps {
  readonly search: AuditSearch;
  readonly onChange: (changed: Partial<AuditSearch>) => void;
}

export function AuditFilters({ search, onChange }: AuditFiltersProps) {
  const isSet = further.some(({ name }) => search[name as keyof AuditSearch] !== undefined);
  const [isOpen, setMore] = useState(false);
  // Filters that are set always show.
  const isMore = isOpen || isSet;
  const values = { ...search, from: localOf(search.from), to: localOf(search.to) };
  const change = (changed: Readonly<Record<string, string | undefined>>) =>
    onChange({ ...changed, ...timesOf(changed) });
  return (
    <div className="space-y-2">
      <FilterBar filters={common} values={values} onChange={change}>
        <Button look="quiet" icon={isMore ? 'up' : 'down'} aria-expanded={isMore} onClick={() => setMore(!isMore)}>
          More filters
        </Button>
      </FilterBar>
      {isMore ? <FilterBar label="More filters" filters={further} values={values} onChange={change} /> : null}
    </div>
  );
}

/** The time fields use the viewer's zone. The URL does not. */
function timesOf(changed: Readonly<Record<string, string | undefined>>): Partial<AuditSearch> {
  const times = Object.entries(changed).filter(([name]) => name === 'from' || name === 'to');
  return Object.fromEntries(times.map(([name, value]) => [name, moment(value)]));
}
