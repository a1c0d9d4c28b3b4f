import { useCallback, useState } from 'react';
import type { ControlAction } from './op.ts';
import type { OpsBoard } from './ops-board.ts';
import type { Act } from './row-actions.tsx';
import type { Row } from './row-model.ts';
import { runControls } from './run-controls.ts';

interface Asking {
  readonly action: ControlAction;
  readonly rows: readonly Row[];
}

export interface Acting {
  /** What waits for a confirmation. */
  readonly asking: Asking | undefined;
  readonly ask: (asking: Asking | undefined) => void;
  readonly run: (asking: Asking, reason: string) => void;
  /** A pause or resume of one row happens at once, since it loses nothing. Anything else needs a confirmation. */
  readonly act: Act;
}

/** The controls of operations, with or without a confirmation. */
export function useActing(board: OpsBoard): Acting {
  const [asking, ask] = useState<Asking>();
  const run = useCallback(
    ({ action, rows }: Asking, reason: string) =>
      void runControls(
        board,
        rows.map(({ key }) => key),
        action,
        reason,
      ),
    [board],
  );
  const act = useCallback<Act>(
    (action, rows) => {
      if (action === 'terminate' || rows.length > 1) ask({ action, rows });
      else run({ action, rows }, '');
    },
    [run],
  );
  return { asking, ask, run, act };
}
