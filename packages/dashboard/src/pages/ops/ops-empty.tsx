import { Link } from '@tanstack/react-router';
import { Button, buttonClasses } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import type { Loading } from './use-ops-board.ts';

interface OpsEmptyProps {
  readonly loading: Loading;
  /** There are operations, but the filters hide them. */
  readonly isFiltered: boolean;
  /** The run that is looked for, if nothing of it is in flight. The log knows what it did before. */
  readonly runId: string | undefined;
  readonly onClear: () => void;
}

/** Shown in place of rows. */
export function OpsEmpty({ loading, isFiltered, runId, onClear }: OpsEmptyProps) {
  if (loading.status === 'loading') return <Skeleton lines={8} label="Loading the operations" />;
  if (loading.status === 'failed') return null;
  if (runId !== undefined) {
    return (
      <EmptyState
        icon="ops"
        title={`Nothing of run ${runId} is in flight`}
        actions={
          <>
            <Link to="/audit" search={{ q: runId }} className={buttonClasses('primary')}>
              What it did, in the audit log
            </Link>
            <Button onClick={onClear}>Show all</Button>
          </>
        }
      >
        An operation leaves this list soon after it has ended.
      </EmptyState>
    );
  }
  if (isFiltered) {
    return (
      <EmptyState
        icon="filter"
        title="No operation fits these filters"
        actions={<Button onClick={onClear}>Show all</Button>}
      >
        As soon as one does, it appears here.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon="ops"
      title="Nothing is in flight"
      command="reeve ops watch"
      actions={
        <Link to="/connect" className={buttonClasses()}>
          Connect an agent
        </Link>
      }
    >
      An operation appears here as soon as an agent asks for leave to act. The same on a terminal:
    </EmptyState>
  );
}
