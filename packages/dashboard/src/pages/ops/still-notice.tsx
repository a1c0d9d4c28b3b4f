import { formatCount } from '../../api/format.ts';
import { Button } from '../../ui/button.tsx';
import type { Freeze } from './use-freeze.ts';

interface StillNoticeProps {
  readonly freeze: Freeze;
  readonly fresh: number;
  /** Scrolls to the new rows. */
  readonly onMove: () => void;
}

/** Says that the list is frozen, and how many rows wait. */
export function StillNotice({ freeze, fresh, onMove }: StillNoticeProps) {
  const { keys, isFrozen, toggle } = freeze;
  if (keys === undefined) return null;
  if (!isFrozen)
    return fresh === 0 ? null : <span className="ml-auto px-2 text-sm text-muted">Held, {formatCount(fresh)} new</span>;
  return (
    <span className="ml-auto flex items-center gap-2">
      <span role="status" className="text-sm text-info max-sm:hidden">
        Frozen
      </span>
      <Button
        size="small"
        look={fresh > 0 ? 'primary' : 'plain'}
        onClick={() => {
          toggle();
          onMove();
        }}
      >
        {formatCount(fresh)} new
      </Button>
    </span>
  );
}
