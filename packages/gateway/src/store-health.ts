import type { Store } from '@reeve/core';
import { messageOf } from '@reeve/core';
import type { Health } from './telemetry/health.ts';
import type { Logger } from './telemetry/logger.ts';

const probeEveryMs = 250;

/**
 * Follows whether the store takes what it is given. While it does not, calls fail closed and the store is tried again
 * and again, so that the gateway comes back by itself when the disk does.
 */
export function watchStore(
  store: Store,
  health: Health,
  logger: Logger,
): { onCommit: (error: unknown) => void; stop: () => void } {
  let probing: NodeJS.Timeout | undefined;
  let stopped = false;
  const recovered = () => {
    clearInterval(probing);
    probing = undefined;
    health.ok('store');
    logger.info('the store takes writes again');
  };
  let asked = false;
  const probe = async () => {
    if (asked || stopped) return;
    asked = true;
    try {
      await store.probe();
      if (probing !== undefined && !stopped) recovered();
    } catch {
      // Still failing; the next turn tries again.
    } finally {
      asked = false;
    }
  };
  return {
    onCommit: (error) => {
      if (error === undefined) {
        if (probing !== undefined) recovered();
        return;
      }
      // The store is about to be closed, or is: nothing is left that could want it back.
      if (probing !== undefined || stopped) return;
      const detail = messageOf(error);
      health.set('store', { status: 'failing', detail });
      logger.error({ err: error }, 'the store does not take writes; calls fail until it does');
      probing = setInterval(() => void probe(), probeEveryMs);
    },
    stop: () => {
      stopped = true;
      clearInterval(probing);
    },
  };
}
