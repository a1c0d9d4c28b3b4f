import { formatCount } from '../../api/format.ts';
import { classes } from '../../ui/classes.ts';
import type { StateFilter } from './ops-search.ts';
import type { Counts } from './ops-view.ts';

const choices: readonly (readonly [state: StateFilter | undefined, label: string, count: keyof Counts])[] = [
  [undefined, 'In flight', 'in_flight'],
  ['pending', 'Pending', 'pending'],
  ['running', 'Running', 'running'],
  ['paused', 'Paused', 'paused'],
  ['ended', 'Just ended', 'ended'],
  ['all', 'All', 'all'],
];

interface StateTabsProps {
  readonly state: StateFilter | undefined;
  readonly counts: Counts;
  readonly onChange: (state: StateFilter | undefined) => void;
}

/** The state filters, each with its count. */
export function StateTabs({ state: asked, counts, onChange }: StateTabsProps) {
  const state = asked === 'in_flight' ? undefined : asked;
  return (
    <div role="group" aria-label="State" className="flex min-w-0 gap-1 overflow-x-auto p-0.5">
      {choices.map(([value, label, count]) => (
        <button
          key={label}
          type="button"
          aria-pressed={state === value}
          onClick={() => onChange(value)}
          className={classes(
            'inline-flex h-7 items-center gap-1.5 rounded-md px-2.5 text-sm whitespace-nowrap',
            state === value ? 'bg-accent-soft font-medium text-accent' : 'text-muted hover:bg-hover hover:text-text',
          )}
        >
          {label}
          <span className={state === value ? '' : 'text-text'}>{formatCount(counts[count])}</span>
        </button>
      ))}
    </div>
  );
}
