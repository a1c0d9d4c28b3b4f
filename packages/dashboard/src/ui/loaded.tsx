import type { ReactNode } from 'react';
import { ErrorNotice } from './error-notice.tsx';
import { Skeleton } from './skeleton.tsx';

interface LoadedProps<Data> {
  /** What `useRoute` or `useQuery` returned. */
  readonly query: {
    readonly data: Data | undefined;
    readonly error: unknown;
    readonly isPending: boolean;
    readonly refetch: () => unknown;
  };
  /** The name of the data, as in "The operations could not be loaded". */
  readonly what: string;
  readonly lines?: number;
  readonly children: (data: Data) => ReactNode;
}

/** Loading, failed or loaded: the states of all data from the gateway. Old data stays while a refresh fails. */
export function Loaded<Data>({ query, what, lines = 4, children }: LoadedProps<Data>) {
  const { data, error, refetch } = query;
  const failure =
    error === null || error === undefined ? null : (
      <ErrorNotice error={error} title={`${what} could not be loaded`} onRetry={() => void refetch()} />
    );
  if (data === undefined)
    return failure === null ? (
      <Skeleton lines={lines} label={`Loading: ${what}`} />
    ) : (
      <div className="p-4">{failure}</div>
    );
  return (
    <>
      {failure === null ? null : <div className="p-4">{failure}</div>}
      {children(data)}
    </>
  );
}
