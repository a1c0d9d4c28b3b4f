import { useCallback, useEffect, useRef, useState } from 'react';

interface Still {
  readonly keys: readonly string[];
  /** The filters that the frozen list was made for. */
  readonly filter: string;
  readonly by: 'person' | 'pointer';
}

export interface Freeze {
  /** The rows of the frozen list. Undefined while it moves. */
  readonly keys: readonly string[] | undefined;
  readonly isFrozen: boolean;
  readonly toggle: () => void;
  /** While the pointer is on the controls of a row, no other row slips under it. */
  readonly point: (isPointing: boolean) => void;
}

/** A resting pointer does not mean that a person is reading. */
const holdMs = 8000;

/** Freezes the list, by a person's choice or under the pointer. Other filters make another frozen list. */
export function useFreeze(filter: string, listNow: () => readonly string[]): Freeze {
  const [still, setStill] = useState<Still>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  if (still !== undefined && still.filter !== filter) setStill({ ...still, filter, keys: listNow() });
  const release = useCallback(() => setStill((now) => (now?.by === 'pointer' ? undefined : now)), []);
  const point = useCallback(
    (isPointing: boolean) => {
      clearTimeout(timer.current);
      if (!isPointing) release();
      else {
        setStill((now) => now ?? { keys: listNow(), filter, by: 'pointer' });
        timer.current = setTimeout(release, holdMs);
      }
    },
    [filter, listNow, release],
  );
  return {
    keys: still?.keys,
    isFrozen: still?.by === 'person',
    toggle: () =>
      setStill(still?.by === 'person' ? undefined : { keys: still?.keys ?? listNow(), filter, by: 'person' }),
    point,
  };
}
