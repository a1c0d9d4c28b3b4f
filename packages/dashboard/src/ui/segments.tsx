import { useId } from 'react';
import { classes } from './classes.ts';
import type { Choice } from './field.tsx';

interface SegmentsProps<Value extends string> {
  /** The subject of the choice. */
  readonly label: string;
  readonly value: Value;
  readonly choices: readonly Choice<Value>[];
  readonly onChange: (value: Value) => void;
}

/** A choice between a few options, all visible. */
export function Segments<Value extends string>({ label, value, choices, onChange }: SegmentsProps<Value>) {
  const name = useId();
  return (
    <fieldset className="relative flex h-8 rounded-md border border-edge/60 bg-surface p-0.5">
      <legend className="sr-only">{label}</legend>
      {choices.map((choice) => (
        <label
          key={choice.value}
          className={classes(
            'relative flex cursor-pointer items-center rounded-sm px-3 text-sm font-medium has-focus-visible:outline-2 has-focus-visible:outline-accent',
            choice.value === value ? 'bg-accent-soft text-accent' : 'text-muted hover:text-text',
          )}
        >
          <input
            type="radio"
            name={name}
            className="sr-only"
            checked={choice.value === value}
            onChange={() => onChange(choice.value)}
          />
          {choice.label}
        </label>
      ))}
    </fieldset>
  );
}
