import { formatCount } from '../../api/format.ts';
import { useConnection } from '../../api/use-events.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Time } from '../../ui/time.tsx';
import type { Loading } from './use-ops-board.ts';

interface OpsNoticeProps {
  readonly loading: Loading;
  readonly onRetry: () => void;
}

/** Why the list may be incomplete at the moment. */
export function OpsNotice({ loading, onRetry }: OpsNoticeProps) {
  const { state, since } = useConnection();
  const isAway = state === 'reconnecting' || state === 'offline';
  if (loading.status === 'failed') {
    return (
      <div className="p-3">
        <ErrorNotice error={loading.error} title="The operations could not be loaded" onRetry={onRetry} />
      </div>
    );
  }
  if (isAway) {
    return (
      <p role="status" className="border-b bg-warn-soft px-4 py-1.5 text-sm text-warn">
        Not live: this is how it was at <Time at={new Date(since).toISOString()} form="clock" />. The list catches up by
        itself.
      </p>
    );
  }
  if (loading.status === 'loading' && loading.read > 0 && loading.total !== undefined && loading.read < loading.total) {
    return (
      <p role="status" className="border-b bg-sunken px-4 py-1.5 text-sm text-muted">
        Loading: {formatCount(loading.read)} of {formatCount(loading.total)}
      </p>
    );
  }
  return null;
}
