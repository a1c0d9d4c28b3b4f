import type { Store } from '@reeve/core';
import { messageOf } from '@reeve/core';
import type { Health } from '../telemetry/health.ts';
import type { Logger } from '../telemetry/logger.ts';

const probeEveryMs = 250;

export interface StoreWatch {
  readonly onCommit: (error: unknown) => void;
  /** Called at the end of the start. Until then, the start itself reports failures. */
  readonly started: () => void;
  readonly stop: () => void;
}

/**
 * Watches whether the store takes writes. While it does not, calls fail closed and the store is probed repeatedly, so
 * that the gateway recovers by itself when the disk does.
 */
export function watchStore(store: Store, health: Health, logger: Logger): StoreWatch {
  let probing: NodeJS.Timeout | undefined;
  let stopped = false;
  let isUp = false;
  let failedStart: unknown;
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
  const onCommit = (error: unknown) => {
    if (!isUp) {
      failedStart = error;
      return;
    }
    if (error === undefined) {
      if (probing !== undefined) recovered();
      return;
    }
    // The store is being closed, so nothing needs it back.
    if (probing !== undefined || stopped) return;
    const detail = messageOf(error);
    health.set('store', { status: 'failing', detail });
    logger.error({ err: error }, 'the store does not take writes; calls fail until it does');
    probing = setInterval(() => void probe(), probeEveryMs);
  };
  return {
    onCommit,
    started: () => {
      isUp = true;
      if (failedStart !== undefined) onCommit(failedStart);
    },
    stop: () => {
      stopped = true;
      clearInterval(probing);
    },
  };
}
