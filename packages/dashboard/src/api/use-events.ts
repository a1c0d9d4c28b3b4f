import type { EventType, ReeveEvent } from '@reeve/contract/events';
import { useEffect, useEffectEvent } from 'react';
import type { Connection } from './event-stream.ts';
import { eventStream } from './event-stream.ts';
import { useObservable } from './observable.ts';

type EventOf<Type extends EventType> = Extract<ReeveEvent, { readonly event_type: Type }>;

/**
 * Calls the handler with events of these types, batched by moment. After a gap, queries on the page refetch by
 * themselves. A page with its own rows uses `onResync`.
 */
export function useEvents<Type extends EventType>(
  types: readonly Type[],
  onEvents: (events: readonly EventOf<Type>[]) => void,
  onResync?: () => void,
): void {
  const handle = useEffectEvent((events: readonly ReeveEvent[]) => onEvents(events as readonly EventOf<Type>[]));
  const resync = useEffectEvent(() => onResync?.());
  const key = types.join(',');
  useEffect(() => {
    const wanted = key.split(',') as EventType[];
    const unsubscribe = eventStream.subscribe({ types: wanted, onEvents: (events) => handle(events) });
    const forget = eventStream.onResync(() => resync());
    return () => {
      unsubscribe();
      forget();
    };
  }, [key]);
}

/** Whether the page is live, and since when. */
export function useConnection(): Connection {
  return useObservable(eventStream.connection);
}
