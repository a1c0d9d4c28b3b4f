import { useCallback, useEffect, useRef, useState } from 'react';

interface Still {
  readonly keys: readonly string[];
  /** Which filters it was made for. */
  readonly filter: string;
  readonly by: 'person' | 'pointer';
}

export interface Freeze {
  /** The rows of the list that stands still; undefined while it moves. */
  readonly keys: readonly string[] | undefined;
  readonly isFrozen: boolean;
  readonly toggle: () => void;
  /** While the pointer is at the controls of a row, no other row slips under it. */
  readonly point: (isPointing: boolean) => void;
}

/** A pointer that rests is not a person who reads. */
const holdMs = 8000;

/** Lets the list stand still, by a person's wish or under the pointer. Other filters make another still list. */
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
