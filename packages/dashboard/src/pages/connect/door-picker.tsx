import { useId } from 'react';
import { classes } from '../../ui/classes.ts';
import { doorChoices, doorGroups } from './connect-doors.ts';
import type { DoorId } from './door-ids.ts';

interface DoorPickerProps {
  readonly door: DoorId;
  readonly onChange: (door: DoorId) => void;
}

/** All doors, one of them chosen. The arrow keys move between them. */
export function DoorPicker({ door, onChange }: DoorPickerProps) {
  const name = useId();
  return (
    <fieldset className="grid gap-x-6 gap-y-4 sm:grid-cols-2">
      <legend className="sr-only">How the agent works</legend>
      {doorGroups.map(([group, doors]) => (
        <div key={group} className="space-y-1.5">
          <p className="text-sm font-medium text-muted">{group}</p>
          <div className="flex flex-wrap gap-2">
            {doors.map((id) => (
              <label
                key={id}
                title={doorChoices[id].fits}
                className={classes(
                  'relative flex min-h-8 cursor-pointer items-center rounded-md border px-3 font-medium has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent',
                  id === door ? 'border-accent bg-accent-soft text-accent' : 'border-edge/60 hover:bg-hover',
                )}
              >
                <input
                  type="radio"
                  name={name}
                  className="sr-only"
                  checked={id === door}
                  onChange={() => onChange(id)}
                />
                {doorChoices[id].label}
              </label>
            ))}
          </div>
        </div>
      ))}
      <p className="sm:col-span-2">{doorChoices[door].fits}</p>
    </fieldset>
  );
}
