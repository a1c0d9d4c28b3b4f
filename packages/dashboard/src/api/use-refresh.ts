import type { EventType } from '@reeve/contract/events';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useEvents } from './use-events.ts';

/**
 * Fetches queries again after events, for numbers that an event announces but does not carry. However many
 * events come, not more often than this.
 */
export function useRefreshOn(types: readonly EventType[], keys: readonly string[], everyMs = 3000): void {
  const client = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEvents(types, () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      for (const name of keys) {
        void client.invalidateQueries({ queryKey: [name] });
      }
    }, everyMs);
  });
}
