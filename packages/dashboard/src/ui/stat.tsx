import type { ReactNode } from 'react';
import { classes } from './classes.ts';
import type { Tone } from './tone.ts';
import { inkTone } from './tone.ts';
import { Unknown } from './unknown.tsx';

interface StatProps {
  readonly label: ReactNode;
  /** Undefined or null if unknown: shown as such, never as 0. */
  readonly value: ReactNode;
  readonly note?: ReactNode;
  readonly tone?: Tone;
}

export function Stat({ label, value, note, tone }: StatProps) {
  return (
    <div className="min-w-0">
      <p className="text-sm text-muted">{label}</p>
      <p className={classes('text-2xl font-semibold', tone !== undefined && tone !== 'neutral' && inkTone[tone])}>
        {value ?? <Unknown />}
      </p>
      {note === undefined ? null : <p className="text-sm text-muted">{note}</p>}
    </div>
  );
}
