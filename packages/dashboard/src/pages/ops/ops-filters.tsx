import { entrances } from '@reeve/contract/names';
import type { RefObject } from 'react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { entranceName } from '../../api/entrance-name.ts';
import { FilterBar } from '../../ui/filter-bar.tsx';
import { useIsWide } from '../../ui/use-is-wide.ts';
import type { OpsFilter, OpsSearch } from './ops-search.ts';
import { filterOf } from './ops-search.ts';
import { choicesOf } from './ops-view.ts';
import type { Row } from './row-model.ts';

interface OpsFiltersProps {
  readonly search: OpsSearch;
  readonly rows: ReadonlyMap<string, Row>;
  readonly onChange: (changed: Partial<OpsSearch>) => void;
  readonly boxRef: RefObject<HTMLDivElement | null>;
}

const tiers = [
  ['org_id', 'Org', 'no org'],
  ['team_id', 'Team', 'no team'],
  ['agent_id', 'Agent', ''],
  ['run_id', 'Run', ''],
] as const;

const mostChoices = 500;

const doorFilter = {
  name: 'door',
  label: 'Door',
  choices: entrances.map((value) => ({ value, label: entranceName(value) })),
};

/** Filters by words and by owner. On a phone they open on demand. */
export function OpsFilters({ search, rows, onChange, boxRef }: OpsFiltersProps) {
  const isWide = useIsWide();
  const filterKey = JSON.stringify(filterOf(search));
  const now = useThrottled(rows, 1000);
  const choices = useMemo(() => {
    const filter = JSON.parse(filterKey) as OpsFilter;
    return tiers.map(([name, label, none]) => ({
      name,
      label,
      choices: choicesOf(now.values(), filter, name)
        .slice(0, mostChoices)
        .map((value) => ({ value, label: value === '-' ? none : value })),
    }));
  }, [now, filterKey]);
  const { q, org_id, team_id, agent_id, run_id, door } = search;
  const set = [q, org_id, team_id, agent_id, run_id, door].filter((value) => value !== undefined);
  const bar = (
    <FilterBar
      values={search as Readonly<Record<string, unknown>>}
      onChange={onChange}
      filters={[{ name: 'q', label: 'Search', placeholder: 'Summary, resource, id' }, ...choices, doorFilter]}
    />
  );
  return (
    <div ref={boxRef}>
      {isWide ? (
        bar
      ) : (
        <details>
          <summary className="min-h-8 py-1 font-medium">
            {set.length === 0 ? 'Filters' : `Filters (${set.length} set)`}
          </summary>
          {bar}
        </details>
      )}
    </div>
  );
}

/** Samples a value that changes many times a second. */
function useThrottled<Value>(value: Value, everyMs: number): Value {
  const [taken, setTaken] = useState(value);
  const latest = useRef(value);
  useEffect(() => {
    latest.current = value;
  }, [value]);
  useEffect(() => {
    const timer = setInterval(() => setTaken(latest.current), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return taken;
}
