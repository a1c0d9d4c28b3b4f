import { useEffect, useEffectEvent } from 'react';
import { Observable } from '../api/observable.ts';
import type { IconName } from '../ui/icon.tsx';

export interface Command {
  readonly label: string;
  readonly group: string;
  readonly icon?: IconName;
  /** Shown at the end, such as the keys that do the same. */
  readonly keys?: string;
  readonly run: () => void;
}

export const commands = new Observable<readonly Command[]>([]);

/** While the component is mounted, the palette offers this. */
export function useCommand(label: string, run: () => void, options: { group?: string; icon?: IconName } = {}): void {
  const act = useEffectEvent(run);
  const { group = 'This page', icon } = options;
  useEffect(() => {
    const command: Command = { label, group, run: () => act(), ...(icon === undefined ? {} : { icon }) };
    commands.set([...commands.value, command]);
    return () => commands.set(commands.value.filter((each) => each !== command));
  }, [label, group, icon]);
}
