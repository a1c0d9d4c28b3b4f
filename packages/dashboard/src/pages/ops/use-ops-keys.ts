import type { RefObject } from 'react';
import { useShortcut } from '../../shell/shortcuts.ts';
import type { ControlAction } from './op.ts';
import type { Row } from './row-model.ts';
import { canAsk } from './row-model.ts';

interface OpsKeys {
  readonly rows: readonly Row[];
  readonly at: string | undefined;
  readonly onAt: (key: string) => void;
  readonly box: RefObject<HTMLDivElement | null>;
  readonly onOpen: (row: Row) => void;
  readonly onToggle: (row: Row) => void;
  readonly onAct: (action: ControlAction, rows: readonly Row[]) => void;
  readonly onSearch: () => void;
  readonly onFreeze: () => void;
  readonly canControl: boolean;
}

/** The keyboard shortcuts of this page, wherever the focus is. */
export function useOpsKeys(keys: OpsKeys): void {
  const { rows, at, box } = keys;
  const index = rows.findIndex(({ key }) => key === at);
  const row = rows[index];
  const move = (step: number) => {
    const next = rows[index < 0 ? 0 : Math.min(Math.max(index + step, 0), rows.length - 1)];
    if (next === undefined) return;
    keys.onAt(next.key);
    box.current?.focus({ preventScroll: true });
  };
  const act = (action: ControlAction) => {
    if (keys.canControl && row !== undefined && canAsk(row, action)) keys.onAct(action, [row]);
  };
  useShortcut('j', 'Next operation', () => move(1));
  useShortcut('k', 'Previous operation', () => move(-1));
  useShortcut('Enter', 'Open the operation', () => row !== undefined && keys.onOpen(row));
  useShortcut('Space', 'Select the operation', () => row !== undefined && keys.canControl && keys.onToggle(row));
  useShortcut('p', 'Pause the operation', () => act('pause'));
  useShortcut('r', 'Resume the operation', () => act('resume'));
  useShortcut('t', 'Terminate the operation (asks first)', () => act('terminate'));
  useShortcut('f', 'Freeze the list, or let it move on', keys.onFreeze);
  useShortcut('/', 'Search', keys.onSearch);
}
