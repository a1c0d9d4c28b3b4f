import { QueryClient } from '@tanstack/react-query';
import { ApiError } from './api-error.ts';
import { eventStream } from './event-stream.ts';

/** Retries only what may pass by itself: no answer, or a fault of the gateway. */
function mayPass(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 500);
}

export function createQueryClient(): QueryClient {
  const client = new QueryClient({
    defaultOptions: {
      queries: {
        retry: (failures, error) => failures < 2 && mayPass(error),
        retryDelay: (failures) => 400 * 2 ** failures,
        // The event stream announces changes.
        staleTime: 30_000,
        refetchOnWindowFocus: false,
        networkMode: 'always',
      },
      mutations: { retry: false, networkMode: 'always' },
    },
  });
  eventStream.onResync(() => void client.invalidateQueries());
  return client;
}
