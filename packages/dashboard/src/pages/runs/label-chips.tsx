import { Badge } from '../../ui/badge.tsx';
import { classes } from '../../ui/classes.ts';

interface LabelChipsProps {
  readonly names: readonly string[];
  /** Shows this many on one line, and how many others there are. */
  readonly most?: number;
}

/** Labels by their names. */
export function LabelChips({ names, most }: LabelChipsProps) {
  if (names.length === 0) return null;
  const hidden = most === undefined ? 0 : names.length - most;
  return (
    <span
      title={names.join(', ')}
      className={classes('flex min-w-0 items-center gap-1', most === undefined && 'flex-wrap')}
    >
      <span className="sr-only">Labels:</span>
      {names.slice(0, most).map((name) => (
        <Badge key={name} tone="accent">
          <span className="max-w-40 truncate">{name}</span>
        </Badge>
      ))}
      {hidden > 0 ? <span className="text-sm text-muted">{`+${hidden}`}</span> : null}
    </span>
  );
}
