import type { EventType } from '@reeve/contract/events';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useEvents } from './use-events.ts';

/**
 * Refetches queries after events, for numbers that an event announces but does not carry. Runs at most this often,
 * however many events come.
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
