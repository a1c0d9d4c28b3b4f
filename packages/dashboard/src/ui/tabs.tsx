import type { KeyboardEvent, ReactNode } from 'react';
import { useId } from 'react';
import { classes } from './classes.ts';

interface Tab<Value extends string> {
  readonly value: Value;
  readonly label: ReactNode;
}

interface TabsProps<Value extends string> {
  /** The subject of the tabs. */
  readonly label: string;
  readonly tabs: readonly Tab<Value>[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  /** The panel of the chosen tab. */
  readonly children: ReactNode;
}

export function Tabs<Value extends string>({ label, tabs, value, onChange, children }: TabsProps<Value>) {
  const id = useId();
  const move = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = tabs.findIndex((tab) => tab.value === value);
    const next = Number.isFinite(step) ? (at + step + tabs.length) % tabs.length : step < 0 ? 0 : tabs.length - 1;
    const chosen = tabs[next];
    if (chosen === undefined) return;
    onChange(chosen.value);
    document.getElementById(`${id}-${chosen.value}`)?.focus();
  };
  return (
    <div className="min-w-0">
      <div
        role="tablist"
        tabIndex={-1}
        aria-label={label}
        onKeyDown={move}
        className="flex gap-1 overflow-x-auto overflow-y-hidden border-b"
      >
        {tabs.map((tab) => (
          <button
            key={tab.value}
            id={`${id}-${tab.value}`}
            type="button"
            role="tab"
            aria-selected={tab.value === value}
            aria-controls={`${id}-panel`}
            tabIndex={tab.value === value ? 0 : -1}
            onClick={() => onChange(tab.value)}
            className={classes(
              '-mb-px border-b-2 px-3 py-2 font-medium whitespace-nowrap -outline-offset-2',
              tab.value === value ? 'border-accent text-text' : 'border-transparent text-muted hover:text-text',
            )}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${value}`} className="pt-4">
        {children}
      </div>
    </div>
  );
}
