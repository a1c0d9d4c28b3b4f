import { useConnection } from '../api/use-events.ts';
import { classes } from '../ui/classes.ts';
import { Time } from '../ui/time.tsx';
import type { Tone } from '../ui/tone.ts';
import { inkTone } from '../ui/tone.ts';

const shown: Readonly<Record<string, readonly [label: string, tone: Tone]>> = {
  idle: ['Connecting', 'neutral'],
  connecting: ['Connecting', 'neutral'],
  live: ['Live', 'ok'],
  reconnecting: ['Reconnecting', 'warn'],
  offline: ['Offline', 'danger'],
};

/** Whether the page is up to date and, if not, since when. */
export function ConnectionState() {
  const { state, since } = useConnection();
  const [label, tone] = shown[state] ?? ['Connecting', 'neutral'];
  const isAway = state === 'reconnecting' || state === 'offline';
  return (
    <div role="status" aria-label="Connection" className="flex items-center gap-2 px-1 text-sm whitespace-nowrap">
      <span
        aria-hidden="true"
        className={classes(
          'size-2 rounded-full border border-current',
          inkTone[tone],
          state === 'live' && 'bg-current',
        )}
      />
      <span className={inkTone[tone]}>{label}</span>
      {isAway ? (
        <span className="text-muted max-sm:hidden">
          not up to date since <Time at={new Date(since).toISOString()} form="clock" />
        </span>
      ) : null}
    </div>
  );
}
