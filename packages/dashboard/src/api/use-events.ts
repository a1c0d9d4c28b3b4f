import type { EventType, ReeveEvent } from '@reeve/contract/events';
import { useEffect, useEffectEvent } from 'react';
import type { Connection } from './event-stream.ts';
import { eventStream } from './event-stream.ts';
import { useObservable } from './observable.ts';

type EventOf<Type extends EventType> = Extract<ReeveEvent, { readonly event_type: Type }>;

/**
 * Calls the handler with the events of these types as they come, those of a moment together. After a gap, queries that are
 * on the page are fetched again by themselves; a page that keeps rows of its own takes `onResync`.
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

/** Whether what the page shows is live, and since when it has been so or not. */
export function useConnection(): Connection {
  return useObservable(eventStream.connection);
}
