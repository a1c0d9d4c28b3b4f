import { useQuery } from '@tanstack/react-query';
import { plural } from '../../api/format.ts';
import { routeQuery } from '../../api/use-route.ts';
import type { Answer } from '../../api/send.ts';
import { IconButton } from '../../ui/button.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Time } from '../../ui/time.tsx';
import type { Control } from './op.ts';
import { nameOf } from './receipt.ts';

const order = [
  'requested',
  'delivered',
  'acked',
  'unconfirmed',
  'failed',
  'effective',
] as const satisfies Control['status'][];
const words: Readonly<Record<Control['status'], string>> = {
  requested: 'not reached yet',
  delivered: 'delivered',
  acked: 'heard, not effective yet',
  unconfirmed: 'without an answer',
  failed: 'failed at the agent',
  effective: 'effective',
};

interface BulkProgressProps {
  readonly controlId: string;
  readonly onClose: () => void;
}

/** The progress of a scoped control. It is done only when every agent has confirmed. */
export function BulkProgress({ controlId, onClose }: BulkProgressProps) {
  const query = useQuery({
    ...routeQuery('getControl', { params: { id: controlId }, query: { per_page: 1 } }),
    refetchInterval: ({ state }) => againMs(state.data),
  });
  const { data, error } = query;
  if (error !== null) return <ErrorNotice error={error} title="The control could not be read" />;
  if (data === undefined || data.kind !== 'bulk') return null;
  const { effective } = data.counts;
  const isDone = data.done && effective === data.changed;
  return (
    <div
      role="status"
      aria-label="Progress of the scoped control"
      className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1 rounded-lg border bg-surface py-1.5 pr-1.5 pl-4"
    >
      {isDone ? <Icon name="check" className="text-ok" /> : <Icon name="refresh" className="text-muted" />}
      <span className="font-medium">
        {nameOf(data.action)} of {plural(data.changed, 'operation')}
      </span>
      <span className="text-muted">
        by {data.actor.label}, <Time at={data.requested_at} />
      </span>
      <span className="flex flex-wrap gap-x-3">
        {order.map((status) => {
          const count = data.counts[status];
          return count === 0 ? null : <span key={status}>{`${count} ${words[status]}`}</span>;
        })}
        {data.skipped === 0 ? null : <span className="text-muted">{data.skipped} left as they were</span>}
      </span>
      <span className="ml-auto">
        <IconButton icon="close" size="small" label="Hide the progress" onClick={onClose} />
      </span>
    </div>
  );
}

/** No event reports receipts. Once all are effective, nothing changes any more. Failed ones rarely change. */
function againMs(data: Answer<'getControl'> | undefined): number | false {
  if (data?.kind !== 'bulk') return data === undefined ? 1500 : false;
  const { effective, failed, unconfirmed } = data.counts;
  if (!data.done) return 1500;
  if (effective >= data.changed) return false;
  return effective + failed + unconfirmed >= data.changed ? 10_000 : 1500;
}
